"""Command lines in the documents are valid; named flags, commands, links and files exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from merels.tournament.commands.main import COMMANDS
from merels.tournament.records.table import IGNORED
from tests.commands import run

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    path
    for folder in (
        ".", "engine", "engine/experiments", "engine/tablebase", "protocol", "tournament", "tests",
        "tests/benchmarks", ".github",
    )
    for path in (ROOT / folder).glob("*.md")
)
SOURCES = ("engine", "protocol", "tournament", "tests", ".ci")
UNKNOWN = "--no-such-flag"
TABLE_COMMANDS = ("build", "verify", "stats", "probe", "pack")
"""Subcommands of ``merels tables``."""


def blocks(page: Path) -> list[str]:
    """Return a page's fenced blocks, with continued lines joined."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"^```\w*\n(.*?)^```$", text, re.M | re.S)
    return [block.replace("\\\n", " ") for block in fenced]


def prose(page: Path) -> str:
    """Return the text of a page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def spans(page: Path) -> list[str]:
    """Return the inline code of a page."""
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose(page))]


def command_lines(page: Path) -> Iterator[list[str]]:
    """Yield the words after ``merels`` of each command line.

    In blocks, ``…`` stands for omitted words. Inline code that only names a command, such as
    ``merels bench``, is not a command line.
    """
    lines = [line for block in blocks(page) for line in block.splitlines()]
    for line in lines:
        for command in re.split(r"&&|\|", line):
            if re.match(r"merels\s", command.strip()):
                words = shlex.split(command.strip(), comments=True)[1:]
                yield [word for word in words if word != "…"]
    for span in spans(page):
        if re.match(r"merels \S+ \S", span):
            yield shlex.split(span)[1:]



LINES = [(page.name, words) for page in PAGES for words in command_lines(page)]


def ids(value: object) -> str:
    return " ".join(value) if isinstance(value, list) else str(value)


@pytest.mark.parametrize(("page", "words"), LINES, ids=ids)
def test_command_lines_are_valid(
    page: str, words: list[str], capsys: pytest.CaptureFixture[str],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    # An unknown flag at the end stops the command before it runs. If the only error is about that
    # flag, all words before it are valid.
    for block in blocks(ROOT / "tournament" / "many-machines.md"):
        if block.startswith("# who plays"):
            (tmp_path / "flags.txt").write_text(block, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    # Some command lines play two games at once, which one processor refuses.
    monkeypatch.setattr("merels.tournament.flags.run_options.usable_processors", lambda: [0, 1])
    if "--help" in words:
        assert run(capsys, words)[0] == 0
        return
    words = [re.sub(r"\$\w+", "1", word) for word in words]  # Variables of the shell are numbers.
    status, out, err = run(capsys, [*words, UNKNOWN])
    assert (status, out) == (2, "")
    # The engine programs that a page names do not exist here.
    error, *others = sorted(err.splitlines(), key=lambda line: UNKNOWN not in line)
    assert all(": does not start: no such engine: " in line for line in others), others
    assert re.fullmatch(
        rf"merels {words[0]}( \w+)?: "
        rf"(unrecognized arguments: {UNKNOWN};.*|'{UNKNOWN}': unknown flag)",
        error,
    ), error


def test_command_lines_were_found() -> None:
    assert {words[0] for _, words in LINES} >= {
        "tournament", "merge", "ratings", "tables", "suite", "perft", "analyse", "check"
    }


ALL_COMMANDS = [[name] for name in COMMANDS] + [["tables", name] for name in TABLE_COMMANDS]


def entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield each flag or argument of a help text with its explanation."""
    lines = text.splitlines()
    for line, following in zip(lines, [*lines[1:], ""]):
        match = re.match(r"  (-[\w-]+(?:,? \S+)*?|[A-Za-z]\w*)(?:  +(\S.*))?$", line)
        if match is not None:
            below = following.strip() if following.startswith(" " * 10) else ""
            yield match[1], match[2] or below


@pytest.mark.parametrize("words", ALL_COMMANDS, ids=ids)
def test_help_explains_every_flag(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, [*words, "--help"])
    assert (status, err) == (0, "")
    assert f"merels {' '.join(words)}" in out
    explanations = dict(entries(out))
    assert explanations, out
    for entry, text in explanations.items():
        assert len(text) > 3, f"{entry} has no explanation"
    usage = out.partition("\n\n")[0]
    listed = " ".join(explanations)
    for flag in set(re.findall(r"(?<![\w-])--?[a-z][\w-]+", usage)):
        assert re.search(rf"(?<![\w-]){flag}\b", listed), f"{flag} is not listed"


def test_flags_mentioned_in_documents_exist(capsys: pytest.CaptureFixture[str]) -> None:
    listed = {*IGNORED}
    for words in ALL_COMMANDS:
        _, out, _ = run(capsys, [*words, "--help"])
        listed |= {flag for entry, _ in entries(out) for flag in re.findall(r"-[\w-]+", entry)}
    for page in PAGES:
        for span in spans(page):
            if span.startswith("-"):
                flags = {word for word in span.split() if re.match(r"-[a-z]", word)}
                assert flags <= listed, f"{page.name}: {span}"


def test_commands_mentioned_in_documents_exist() -> None:
    for page in PAGES:
        named = re.findall(r"`merels ([a-z]+)\b", page.read_text(encoding="utf-8"))
        assert set(named) <= {*COMMANDS, "help"}, page.name


def test_help_and_changelog_list_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, ["help"])
    assert set(dict(entries(out))) >= set(COMMANDS)
    assert "`merels help`" in (ROOT / "README.md").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    listed = re.search(r"Commands: ([^.]*)\.", changes)
    assert listed is not None and set(re.findall(r"`(\w+)`", listed[1])) == set(COMMANDS)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")
            for heading in headings}


def test_links_have_targets() -> None:
    count = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?", text):
            if target.startswith(("http:", "https:")):
                continue
            path = page.parent / target if target else page
            assert path.exists(), f"{page}: {target}"
            if anchor:
                assert anchor in anchors(path), f"{page}: {target}#{anchor}"
            count += 1
    assert count > 5


def test_every_experiment_is_listed_once_by_date() -> None:
    folder = ROOT / "engine" / "experiments"
    listed = re.findall(
        r"^\| (\S+) \| \[[^]]+\]\((\S+)\) \| \S", (folder / "README.md").read_text("utf-8"), re.M
    )
    assert sorted(name for _, name in listed) == sorted(
        path.name for path in folder.glob("*.md") if path.name != "README.md"
    )
    assert [date for date, _ in listed] == sorted(name[:10] for _, name in listed)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_files_that_are_named_exist(page: str) -> None:
    paths = set(ROOT.iterdir())
    paths |= {path for folder in SOURCES for path in (ROOT / folder).rglob("*")}
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"[\w./-]+\.(?:pyx|pxi|pyi|py|md|json|bin|pos|toml)\b", text))
    for name in re.findall(r"-m (tests[.\w]+)", text):
        module = ROOT / name.replace(".", "/")
        assert module.with_suffix(".py").exists() or (module / "__main__.py").exists(), name
    named |= set(re.findall(r"(?<![\w/.])(?:engine|protocol|tournament|tests)(?:/\w+)*/", text))
    assert named
    for name in named:
        ends = "/" + name.rstrip("/")
        assert any(path.as_posix().endswith(ends) for path in paths), f"{page}: {name}"
