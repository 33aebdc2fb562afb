"""The page's languages: complete tables, no unused key, and no text outside the tables."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from merels.protocol import board

PAGE = Path(board.__file__).parent / "page"
TABLES = sorted((PAGE / "languages").glob("*.js"))
SCRIPTS = {
    path.relative_to(PAGE).as_posix(): path.read_text("utf-8")
    for path in sorted(PAGE.rglob("*.js")) if path not in TABLES
}
HTML = "".join((PAGE / name).read_text("utf-8") for name in ("index.html", "denied.html"))
SYMBOLS = {"merels", "?", "×", "«", "‹", "›", "»", "← →", "↑ ↓", "Enter", "Esc", "U R"}
"""Text of the page that is the same in all languages, besides single characters."""


def table(path: Path) -> dict[str, str]:
    """Return a language's table."""
    text = re.sub(r"^//.*\n", "", path.read_text("utf-8"), flags=re.M)
    text = re.sub(r'"\s*\+ "', "", text).strip().removeprefix("export default ").rstrip(";")
    entries: dict[str, str] = json.loads(re.sub(r",\s*}$", "}", text))
    return entries


ENGLISH = table(PAGE / "languages" / "en.js")


def placeholders(text: str) -> set[str]:
    """Return the names in braces."""
    return set(re.findall(r"{(\w+)}", text))


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_language_has_the_same_keys_and_placeholders(path: Path) -> None:
    entries = table(path)
    assert list(entries) == list(ENGLISH)
    assert {key for key in ENGLISH if placeholders(entries[key]) != placeholders(ENGLISH[key])} == (
        set()
    )
    assert all(entries.values())
    assert f'{path.stem} from "./languages/{path.name}"' in SCRIPTS["text.js"]


COUNTED = re.compile(r'countedText\("([\w.-]+)"')


def used_keys() -> tuple[set[str], set[str]]:
    """Return the keys that the page names, and the beginnings of keys that it builds."""
    used = set(re.findall(r'data-(?:text|label)="([^"]+)"', HTML))
    used |= {f"{key}.title" for key in used}
    starts = {"server."}
    for text in SCRIPTS.values():
        used |= set(re.findall(r'"([\w.-]+)"', text))
        starts |= set(re.findall(r"`([\w-]+\.[\w.-]*)\$\{", text))
        used |= {name + ".other" for name in COUNTED.findall(text)}
    return used, starts


def test_every_key_is_used_and_every_used_key_exists() -> None:
    used, starts = used_keys()
    unused = [
        key for key in ENGLISH if re.sub(r"\.one$", ".other", key) not in used
        and not any(key.startswith(start) for start in starts)
    ]
    assert unused == []
    missing = set(re.findall(r'data-(?:text|label)="([^"]+)"', HTML)) - set(ENGLISH)
    for text in SCRIPTS.values():
        missing |= set(re.findall(r'\bt\(\s*"([\w.-]+)"', text)) - set(ENGLISH)
        missing |= {name + ".other" for name in COUNTED.findall(text)} - set(ENGLISH)
    assert missing == set()


def python_strings() -> str:
    """Return all string constants of the engine and the protocol, one a line."""
    constants = []
    for layer in ("engine", "protocol"):
        for path in (PAGE.parents[2] / layer).rglob("*.py"):
            constants += [
                node.value for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
    return "\n".join(constants)


def test_each_translated_sentence_of_the_server_is_in_its_code() -> None:
    """A sentence that was reworded in the server only would be shown untranslated."""
    strings = python_strings()
    strings += strings.replace("expected ", "Expected ")  # The editor capitalizes faults.
    for key, text in ENGLISH.items():
        if key.startswith("server."):
            clauses = re.split(r"{\w+}|[.:;,] ", text.rstrip("."))
            # Shorter clauses may be composed of words at run time.
            missing = [clause for clause in clauses if len(clause) > 15 and clause not in strings]
            assert missing == [], key


def test_no_text_of_the_page_is_outside_the_tables() -> None:
    texts = {text.strip() for text in re.findall(r">([^<]+)<", HTML)} - {""}
    assert {text for text in texts if len(text) > 1} - SYMBOLS == set()
    assert re.findall(r'\s(?:aria-label|title|placeholder|alt)="', HTML) == []
    for name, text in SCRIPTS.items():
        code = re.sub(r"^\s*(//|/?\*).*$", "", text, flags=re.M)
        # A capitalized word and another word, with a space between them, begin a sentence.
        assert re.findall(r'"[A-Z][a-z]+ [a-z][^"]*"', code) == [], name
        assert re.findall(r"`[A-Z][a-z]+ [a-z][^`]*`", code) == [], name
        assert re.findall(r'textContent = "[^"]', code) == [], name
