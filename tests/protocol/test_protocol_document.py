"""The pages on the protocol agree with the program; the example engines pass ``merels check``."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from merels.protocol.check.run import STEPS
from merels.protocol.commands.check import main as check
from tests.protocol.gui import Gui

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "protocol"
PAGE = "\n".join((FOLDER / name).read_text("utf-8") for name in ("PROTOCOL.md", "ugi.md"))
TEXT = "\n".join(
    [PAGE, *((FOLDER / f"{name}.md").read_text("utf-8")
             for name in ("RULES", "engine-options", "frontends"))]
)
TRANSCRIPTS = [
    block for block in re.findall(r"^```\n(.*?)^```$", TEXT, re.M | re.S) if block.startswith("> ")
]
OMITTED = "…"
NAMES = {step.name for step in STEPS}


def pattern(line: str) -> re.Pattern[str]:
    """Return a pattern that accepts any speed, time and version, and any words for ``…``."""
    text = re.sub(r"\b(nps|time)\\ \d+", r"\1\\ \\d+", re.escape(line))
    text = re.sub(r"\bname\\ merels\\ \S+", r"name\\ merels\\ \\S+", text)
    return re.compile(text.replace(rf"\ {OMITTED}", "( .*)?"))


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda block: block.split("\n")[0][2:])
def test_the_program_prints_the_lines_of_the_transcript(transcript: str) -> None:
    skip = False
    with Gui() as gui:
        for line in transcript.splitlines():
            mark, text = line[0], line[2:]
            if mark == ">":
                gui.send(text)
            elif text == OMITTED:
                skip = True
            else:
                match = pattern(text).fullmatch
                matches = lambda line: match(line) is not None
                printed = gui.until(matches)[-1] if skip else gui.line()
                assert match(printed), printed
                skip = False
        if text == "quit":
            assert gui.exit_code() == 0
        elif not skip:
            assert gui.ask() == []


def test_transcripts_were_found() -> None:
    assert len(TRANSCRIPTS) > 8


def option_cells(line: str) -> tuple[str, str]:
    """Return the first two table cells that describe an option, from its ``option`` line."""
    form = r"option name (.+) type (\w+)(?: default (.*?))?( min .*)?( var .*)?"
    match = re.fullmatch(form, line)
    assert match is not None, line
    name, kind, default, bounds, choices = match.groups("")
    if kind == "combo":
        return f"`{name}`", " ".join(f"`{choice}`" for choice in choices.split(" var ")[1:])
    text = f"{kind} {default}".replace(" <empty>", "").strip()
    return f"`{name}`", text + bounds.replace(" min", ",").replace(" max", " to")


def test_every_option_and_command_is_described(gui: Gui) -> None:
    rows = [tuple(map(str.strip, row.split("|")[1:3])) for row in TEXT.splitlines() if "|" in row]
    for line in gui.greet()[2:-1]:
        assert option_cells(line) in rows
    for line in gui.ask("help"):
        assert re.search(rf"`{line.split()[0]}[` ]", TEXT), line


def test_every_demand_names_the_step_of_the_check_or_the_test_that_makes_it() -> None:
    page = re.sub(r"^```\n.*?^```$", "", PAGE, flags=re.M | re.S)
    parts = [part for part in re.split(r"\n\n|\n(?=[-|])", page) if re.search(r"\bmust\b", part)]
    assert len(parts) > 20
    for part in parts[1:]:  # The first explains the word.
        names = re.findall(r"`([\w/.-]+(?:::\w+)?)`", " ".join(re.findall(r"\(([^()]*)\)", part)))
        tests = [name for name in names if "::" in name]
        assert tests or NAMES & set(names), part
        for test in tests:
            path, _, function = test.partition("::")
            assert f"def {function}(" in (ROOT / path).read_text("utf-8"), test
    mentioned = {name for name in NAMES if f"`{name}`" in PAGE}
    assert mentioned == NAMES, "every step tests a sentence of the page"


@pytest.mark.thorough
@pytest.mark.parametrize("language", ["Python", "C"])
def test_the_minimal_engines_pass_the_check(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = FOLDER / "examples" / "minimal_engine"
    words = [f"cmd={sys.executable}", f"args='{source}.py'"]
    if language == "C":
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            pytest.skip("needs a C compiler")
        program = tmp_path / "minimal_engine"
        flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-o", str(program)]
        subprocess.run([compiler, *flags, f"{source}.c"], check=True)
        words = [f"cmd={program}"]
    assert check(["-engine", *words, "-fast"]) == 0
    assert ", 0 failed," in capsys.readouterr().out
