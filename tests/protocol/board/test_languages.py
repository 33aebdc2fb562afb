"""The page's languages: complete tables, no unused key, and no text outside the tables."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from merels.protocol import board
from merels.protocol.review.review import GRADES

PAGE = Path(board.__file__).parent / "page"
TABLES = sorted((PAGE / "languages").glob("*.js"))
SCRIPTS = {
    path.relative_to(PAGE).as_posix(): path.read_text("utf-8")
    for path in sorted(PAGE.rglob("*.js")) if path not in TABLES
}
HTML = "".join((PAGE / name).read_text("utf-8") for name in ("index.html", "denied.html"))
SYMBOLS = {"merels", "?", "×", "«", "‹", "›", "»", "← →", "↑ ↓", "Enter", "Esc", "U R"}
"""Text of the page that is the same in all languages, besides single characters."""


def table(path: Path, name: str = "default") -> dict[str, str]:
    """Return a language's table, or with ``name`` another table that its file exports."""
    text = path.read_text("utf-8").partition(f"export {name} ")[2].removeprefix("= ")
    text = re.sub(r'"\s*\+ "', "", text.partition("\n};")[0])
    text = re.sub(r'^  \[(".*")\]:', r"  \1:", text, flags=re.M)
    entries: dict[str, str] = json.loads(re.sub(r",\s*$", "}", text))
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
    starts = set()
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


def server_texts() -> tuple[set[str], set[str]]:
    """Return all strings in the code of the engine and the protocol, and those of `message`.

    The latter are the texts, and the keys, by which a page translates messages.
    """
    strings, templates = set(), set()
    for layer in ("engine", "protocol"):
        for path in (PAGE.parents[2] / layer).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    strings.add(node.value)
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "message":
                    templates |= {
                        each.value for each in ast.walk(node.args[0])
                        if isinstance(each, ast.Constant) and isinstance(each.value, str)
                    }
    return strings, templates


@pytest.mark.parametrize("path", [path for path in TABLES if path.stem != "en"])
def test_each_language_has_the_messages_of_the_server(path: Path) -> None:
    """A message that was reworded in the server only would be shown untranslated."""
    strings, templates = server_texts()
    strings |= {name.capitalize() for _, name in GRADES}
    sentences = table(path, "const sentences")
    assert set(sentences) - strings == set()
    # A template without words, and the name of the program, are the same in all languages.
    words = {text for text in templates if re.search("[A-Za-z]", re.sub(r"{\w+}|merels", "", text))}
    assert words - set(sentences) == set()
    for text, translation in sentences.items():
        assert placeholders(text) == placeholders(translation), text


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
