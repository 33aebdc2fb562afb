"""Positions and rule manifests of the Mill Interchange Format, candidate 1.0."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START, format_position
from merels.engine.game.position import BLACK, Position
from merels.engine.game.rules import PRESETS, Rules, parse_rules
from merels.protocol.formats.mif_1_0.manifest import format_manifest, parse_manifest
from merels.protocol.formats.mif_1_0.mfen import format_mfen, read_position
from tests.engine.random_games import random_positions, random_rules

MFEN = "MFEN/1.0 mill24-state-v1"
"""First two fields of every position: the format and the board."""


def test_positions_are_equal_after_writing_and_reading_mfen() -> None:
    end_fields: set[str] = set()
    for position in random_positions(seed=6, number=3_000):
        text = format_mfen(position)
        end_field = text.split()[10]
        end_fields.add(end_field)
        if end_field == "d:repetition" and position.rules.repetition > 1:
            with pytest.raises(InputError, match="a position does not show this end"):
                read_position(text, position.rules)
            continue
        reread = read_position(text, position.rules)
        assert format_position(reread) == format_position(position)
        assert format_mfen(reread) == text
    assert end_fields >= {"-", "w:fewer-than-minimum", "b:fewer-than-minimum", "d:no-progress"}


@pytest.mark.parametrize(
    "six_fields, mfen_fields",
    [
        (START, "......../......../........ w p p 9,9 - 0 0 -"),
        ("********/********/******** b 9 9 0 1", "......../......../........ b p p 9,9 - 0 0 -"),
        ("********/********/*O****** b 8 9 0 1", "..W...../......../........ b p p 8,9 - 0 1 -"),
        ("********/********/*@****** w 9 8 0 2", "..B...../......../........ w p p 9,8 - 0 1 -"),
        ("O*****@*/*@******/*O*****@ w 7 6 0 3", "B.W...../..B...../.W.....B w p p 7,6 - 0 3 -"),
    ],
)
def test_mfen_and_six_fields_are_converted(six_fields: str, mfen_fields: str) -> None:
    assert format_mfen(read_position(six_fields)) == f"{MFEN} {mfen_fields}"
    assert format_position(read_position(f"{MFEN} {mfen_fields}")) == six_fields


def test_the_side_to_move_after_a_win_is_the_loser() -> None:
    finished = read_position("OOO*****/********/@@****** b 0 0 0 20")
    assert format_mfen(finished).endswith(" - o o 0,0 - 0 39 w:fewer-than-minimum")
    # With an even number of plies, Black played the first move.
    black_first = format_mfen(finished).replace(" 39 ", " 38 ")
    reread = read_position(black_first)
    assert (reread.side, reread.number) == (BLACK, 20)


@pytest.mark.parametrize(
    "text, message",
    [
        ("MFEN/0.4 mill24-state-v1 x", "'MFEN/0.4' (token 0): expected MFEN/1.0"),
        (f"{MFEN} ......../......../........ w p p 9,9 - 0 0", "expected the 11 fields"),
        ("MFEN/1.0 mill16 ......../......../........ w p p 9,9 - 0 0 -", "'mill16' (token 1)"),
        (f"{MFEN} ......../........ w p p 9,9 - 0 0 -", "expected three rings"),
        (f"{MFEN} .......O/......../........ w p p 9,9 - 0 0 -", "expected W, B or . at a4"),
        (f"{MFEN} .......w/......../........ w p p 8,9 - 0 0 -",
         "merels has no rules under which a man blocks a point (a4)"),
        (f"{MFEN} ......../......../........ x p p 9,9 - 0 0 -", "'x' (token 3)"),
        (f"{MFEN} ......../......../........ - p p 9,9 - 0 0 -", "'-' (token 3)"),
        (f"{MFEN} ......../......../........ w m m 9,9 - 0 0 -",
         "'m' (token 4): expected p: the side to move has men in hand"),
        (f"{MFEN} ......../......../........ w p m 9,9 - 0 0 -", "'m' (token 5): expected p"),
        (f"{MFEN} ......../......../........ w p p 99 - 0 0 -", "such as 9,9"),
        (f"{MFEN} ......../......../........ w p p 9,10 - 0 0 -", "Black's men in hand from"),
        (f"{MFEN} W......./......../........ w p p 9,9 - 0 0 -", "1 on the board and 9 in hand"),
        (f"{MFEN} WWW...../......../.BB..... w p r 6,7 w:mill:b:b:1:060000:b 0 5 -",
         "a removal is still due; give the position after the whole move"),
        (f"{MFEN} ......../......../........ w p p 9,9 - 0 -1 -", "the plies played"),
        (f"{MFEN} ......../......../........ w p p 9,9 - 0 0 w:resignation", "'w:resignation'"),
        (f"{MFEN} ......../......../........ - o o 9,9 - 0 0 w:resignation",
         "a position does not show this end"),
        (f"{MFEN} ......../......../........ - o o 9,9 - 0 0 w:no-legal-move",
         "under the rules mill the game goes on here"),
        (f"{MFEN} ......../......../........ w p p 9,9 - 0 0 - lm=a7,d7;-,-",
         "'lm=a7,d7;-,-' (token 11): this field belongs to rules that merels does not have"),
    ],
)
def test_an_error_names_invalid_and_unsupported_fields_of_mfen(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_position(text)
    assert message in str(caught.value)


def test_rules_are_equal_after_writing_and_reading_a_manifest() -> None:
    generator = random.Random(3)
    written = 0
    for rules in (*PRESETS.values(), *(random_rules(generator) for _ in range(400))):
        try:
            text = format_manifest(rules)
        except InputError:
            is_supported = rules.flying != "both" and rules.locked_mills == "any"
            assert not is_supported or rules.repetition == 1 or rules.three_three_plies
            continue
        assert parse_manifest(text) == rules
        assert parse_manifest(json.dumps(json.loads(text), indent=2)) == rules
        written += 1
    assert written > 50


@pytest.mark.parametrize(
    "rules, message",
    [
        ("mill", "'ThreeThreePlies=4': MRS/1.0 cannot express this rule; it has ThreeThreePlies=0"),
        ("loc", "'LockedMills=none': MRS/1.0 cannot express this rule; it has LockedMills=any"),
        ("multi", "'Flying=both': MRS/1.0 cannot express this rule"),
        ("morris Repetition=1", "'Repetition=1': MRS/1.0 cannot express this rule"),
    ],
)
def test_an_error_names_a_rule_that_a_manifest_cannot_express(rules: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        format_manifest(parse_rules(rules))
    assert message in str(caught.value)


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    """Return the manifest of ``morris``, modified by ``change``."""
    document = json.loads(format_manifest(PRESETS["morris"]))
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(id="club", version=7, title="Club rules", status="registered"),
        lambda d: d.update(description="as we play", annotations={"by": "us"}),
        lambda d: d["captures"]["leap"].update(phases=["placing"], maximumOwnLivePieces=3),
        lambda d: d["boardFull"].update(action="draw"),
        lambda d: d["turn"].update(placingEndActivePlayer="w"),
        lambda d: d["draw"]["repetition"].update(resetEvents=[], observation="stable-moving-v1"),
        lambda d: d["draw"]["noProgress"].update(resetEvents=["board-remove", "mill-formation"]),
        lambda d: d["draw"]["offers"].update(expiry="on-opponent-primary-action"),
    ],
)
def test_members_without_effect_may_differ(change: Callable[[dict[str, Any]], object]) -> None:
    assert parse_manifest(changed(change)) == PRESETS["morris"]


def test_members_of_a_rule_that_is_off_may_differ() -> None:
    text = changed(
        lambda d: (
            d["flying"].update(enabled=False, maximumLive=4),
            d["draw"]["repetition"].update(count=0, mode="claim"),
            d["draw"]["noProgress"].update(normalLimit=0, mode="claim", resetEvents=[]),
        )
    )
    assert str(parse_manifest(text)) == "loc LockedMills=any Repetition=0 NoRemovalPlies=0"


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda d: d.update(format="MRS/0.4"), "expected the format MRS/1.0"),
        (lambda d: d.pop("mills"), "'mills.removalMultiplicity': expected this member"),
        (lambda d: d.pop("topology"), "'topology': expected this member"),
        (lambda d: d.update(topology="mill24-diagonal-v1"), "mill24-orthogonal-v1\" for topology"),
        (lambda d: d.update(extensions=[]), "'extensions': merels does not support this member"),
        (lambda d: d["turn"].update(first="w"), "'turn.first': merels does not support"),
        (lambda d: d["turn"].update(initial="b"), "'\"b\"': expected \"w\" for turn.initial"),
        (lambda d: d["pieces"].update(white=12), "'12': expected 9 for pieces.white"),
        (lambda d: d["flying"].update(maximumLive=4), "'4': expected 3 for flying.maximumLive"),
        (lambda d: d["flying"].update(enabled=1), "expected true or false for flying.enabled"),
        (lambda d: d["placing"].update(movementAllowed=True), "for placing.movementAllowed"),
        (lambda d: d["mills"].update(targetProtection="all-opponent"), "mills.targetProtection"),
        (lambda d: d["stalemate"].update(action="both-remove"), "\"loss\" or \"draw\""),
        (lambda d: d["captures"]["leap"].update(enabled=True), "for captures.leap.enabled"),
        (lambda d: d["captures"].update(leap=None), "'null': expected an object for captures.leap"),
        (lambda d: d["draw"]["repetition"].update(mode="claim"), "for draw.repetition.mode"),
        (lambda d: d["draw"]["repetition"].update(count=2.0), "a whole number from 0 to 10000"),
        (lambda d: d["draw"]["noProgress"].update(endgameLimit=10), "draw.noProgress.endgameLimit"),
        (lambda d: d["draw"]["noProgress"].update(resetEvents=["place"]), "board-remove among"),
        (lambda d: d["boardFull"].update(action="party"), "for boardFull.action"),
        (lambda d: d.update(version="1"), "expected a whole number for version"),
    ],
)  # fmt: skip
def test_an_error_names_an_unsupported_member_of_a_manifest(
    change: Callable[[dict[str, Any]], object], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        parse_manifest(changed(change))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text, message",
    [
        ("[1]", "a JSON object"), ("{", "expected JSON in line 1"),
        ("", "'the end': expected JSON"),
        ('{"a": "b', "'\"b': expected JSON in line 1: Unterminated string"),
        ('{"a": "\n"}', ": expected JSON in line 1: Invalid control character"),
        ('{"format": "MRS/1.0", "format": "MRS/1.0"}', "'format': this member is repeated"),
        ("[" * 100_000, "JSON"), (f"[{'9' * 10_000}]", "expected a manifest"),
        (" " * (1 << 20) + "{}", "at most 1 MiB"),
    ],
)
def test_the_error_about_text_that_is_not_a_manifest_is_short(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_manifest(text)
    assert message in str(caught.value) and len(str(caught.value)) < 300
    assert not str(caught.value).endswith(" at")


def test_a_manifest_is_canonical_json() -> None:
    rules: Rules = PRESETS["roman"]
    text = format_manifest(rules)
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    assert json.loads(text)["id"] == "x-merels-own-any-one-loses-3-80-0"
    assert format_mfen(Position(rules)).startswith(MFEN)
