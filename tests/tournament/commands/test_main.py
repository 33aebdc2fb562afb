"""The command merels itself: it explains its commands."""

from __future__ import annotations

import pytest

from merels.tournament.commands.main import COMMANDS, main
from tests.commands import output, refusal


@pytest.mark.parametrize("name", COMMANDS)
def test_help_explains_every_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert main(["help", name]) == 0
    assert capsys.readouterr().out == text and f"merels {name}" in text


def test_help_in_a_process_of_its_own() -> None:
    assert output("help", "tournament").startswith("merels tournament [flags]\n")
    assert "usage: merels tables build" in output("help", "tables", "build")
    assert "merels help COMMAND" in output("help") == output("--help")
    assert "did you mean tournament?" in refusal("help", "tornament")
    assert len(refusal("tournament", "-rounds", "2", "extra").splitlines()) == 1
