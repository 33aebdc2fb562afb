"""Rule sets as manifests of MRS/1.0."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import Any

from merels.engine.common.errors import InputError
from merels.engine.game.rules import (
    FIELDS,
    FLYING_MEN,
    MAXIMUM_PLIES,
    MEN_PER_SIDE,
    MINIMUM_MEN,
    PRESETS,
    Rules,
    parse_rules,
)

MANIFEST = "MRS/1.0"
LONGEST_MANIFEST = 1 << 20
"""Characters, as the draft recommends."""


def format_manifest(rules: Rules) -> str:
    """The rules as an MRS/1.0 manifest, one line of canonical JSON.

    `InputError` names a field of the rules that the draft cannot say.
    """
    for attribute, sayable, way_out in (
        ("flying", rules.flying != "both", "it knows Flying=never and Flying=own"),
        ("locked_mills", rules.locked_mills == "any", "it knows LockedMills=any"),
        ("repetition", rules.repetition != 1, "it knows Repetition=0, and 2 or more"),
        ("three_three_plies", not rules.three_three_plies, "it knows ThreeThreePlies=0"),
    ):
        if not sayable:
            name = next(field.name for field in FIELDS if field.attribute == attribute)
            setting = f"{name}={getattr(rules, attribute)}"
            raise InputError(setting, f"{MANIFEST} cannot say this rule; {way_out}")
    # These are the canonical bytes of RFC 8785 for what a manifest of ours holds.
    return json.dumps(_manifest(rules), sort_keys=True, separators=(",", ":"))


def _manifest(rules: Rules) -> dict[str, Any]:
    """The manifest of rules that it can say; its name is made of the seven fields."""
    values = [str(getattr(rules, field.attribute)) for field in FIELDS]
    no_capture = {
        "enabled": False,
        "lines": {"squareEdges": False, "cross": False, "diagonal": False},
        "phases": ["moving"],
        "maximumOwnLivePieces": None,
    }
    return {
        "format": MANIFEST,
        "id": f"x-merels-{'-'.join(values)}",
        "version": 1,
        "title": str(rules),
        "status": "experimental",
        "semanticsProfile": "mif-finite-rules-v3",
        "topology": "mill24-orthogonal-v1",
        "pieces": {"white": MEN_PER_SIDE, "black": MEN_PER_SIDE, "minimumLive": MINIMUM_MEN},
        "turn": {"initial": "w", "placingEndActivePlayer": "retain"},
        "flying": {"enabled": rules.flying == "own", "maximumLive": FLYING_MEN},
        "placing": {
            "movementAllowed": False,
            "earlyStop": {"emptyPoints": 0, "boundary": "after-unobligated-place-v1"},
            "noLegalPrimaryAction": "loss",
        },
        "mills": {
            "placingEffect": "remove-opponent-board",
            "movingEffect": "remove-opponent-board",
            "removalMultiplicity": _MULTIPLICITIES[rules.double_mill],
            "targetProtection": "outside-mill-first",
            "lineReuse": "unlimited",
            "reverseReformation": "allowed",
            "delayedClearBoundary": "on-enter-moving-v1",
        },
        "captures": {
            "resolution": "target-commits-v1",
            "custodian": no_capture, "intervention": no_capture, "leap": no_capture,
        },
        "boardFull": {"action": "disabled"},
        "stalemate": {
            "action": _STALEMATES[rules.blocked], "boardRemovalTargets": "adjacent-opponent"
        },
        "draw": {
            "noProgress": {
                "normalLimit": rules.no_removal_plies,
                "endgameLimit": 0,
                "endgamePredicate": "none",
                "mode": "automatic",
                "countedPrimaryActions": ["move"],
                "resetEvents": ["board-remove", "place"],
                "evaluationBoundary": "stable-after-primary-sequence-v1",
            },
            "repetition": {
                "count": rules.repetition,
                "mode": "automatic",
                "observation": "stable-primary-decision-v1",
                "projection": "repetition-observation-v1",
                "summary": "reset-count-smt-v1",
                "resetEvents": ["board-remove", "place"],
            },
            "offers": {"expiry": "explicit-only"},
            "claimRights": {"profile": "stable-claim-rights-v1"},
        },
        "semanticState": [],
    }


_MULTIPLICITIES = {"one": "one-per-primary", "each": "one-per-new-line"}
_STALEMATES = {"loses": "loss", "draws": "draw"}


def parse_manifest(text: str) -> Rules:
    """The rules of an MRS/1.0 manifest; `InputError` names the member that merels does not play.

    Members that cannot matter to rules that merels has may have any value that the draft knows.
    """
    document = _read_json(text)
    stated = document.get("format")
    if stated != MANIFEST:
        raise InputError(json.dumps(stated), f"expected the format {MANIFEST}, which merels reads")
    fields: dict[str, Any] = {
        "flying": _choice(document, "flying.enabled", {True: "own", False: "never"}),
        "double_mill": _choice(document, "mills.removalMultiplicity", _inverse(_MULTIPLICITIES)),
        "blocked": _choice(document, "stalemate.action", _inverse(_STALEMATES)),
        "repetition": _limit(document, "draw.repetition.count"),
        "no_removal_plies": _limit(document, "draw.noProgress.normalLimit"),
        "locked_mills": "any",
        "three_three_plies": 0,
    }
    rules = min((replace(rules, **fields) for rules in PRESETS.values()), key=_distance)
    with suppress(InputError):  # A title of our own tells morris from roman.
        named = parse_rules(str(document.get("title")))
        if replace(named, variant=rules.variant) == rules:
            rules = named
    _compare(document, _manifest(rules), "", _without_effect(rules))
    return rules


def _distance(rules: Rules) -> int:
    """The number of fields that differ from those of the preset."""
    return len(rules.fields_text().split())


def _inverse(words: dict[str, str]) -> dict[Any, str]:
    return {theirs: ours for ours, theirs in words.items()}


def _read_json(text: str) -> dict[str, Any]:
    """The JSON object of a text, no name in it given twice."""
    if len(text) > LONGEST_MANIFEST:
        raise InputError(text, f"expected a manifest of at most {LONGEST_MANIFEST >> 20} MiB")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            again = Counter(name for name, _ in pairs).most_common(1)[0][0]
            raise InputError(again, "this member is repeated")
        return members

    try:
        document = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        rest = text[error.pos :].split("\n")[0] or "the end"
        fault = error.msg.removesuffix(" at").removesuffix(" starting")
        raise InputError(rest, f"expected JSON in line {error.lineno}: {fault}") from None
    except InputError:
        raise
    except (RecursionError, ValueError):  # nested too deeply, or a number of thousands of digits
        raise InputError(text, "expected a manifest, not JSON of this depth or length") from None
    if not isinstance(document, dict):
        raise InputError(text, "expected a manifest, which is a JSON object")
    return document


def _member(document: dict[str, Any], path: str) -> Any:
    """The member of an object at a path of names with dots between them."""
    found: Any = document
    for name in path.split("."):
        if not isinstance(found, dict) or name not in found:
            raise InputError(path, f"expected this member in a manifest of {MANIFEST}")
        found = found[name]
    return found


def _choice(document: dict[str, Any], path: str, words: dict[Any, str]) -> str:
    """Our word for a member's value."""
    found = _member(document, path)
    if not isinstance(found, (str, bool)) or found not in words:
        raise _unknown(found, path, " or ".join(json.dumps(word) for word in words))
    return words[found]


def _limit(document: dict[str, Any], path: str) -> int:
    """A member's number of plies or times, 0 for off."""
    found = _member(document, path)
    if type(found) is not int or not 0 <= found <= MAXIMUM_PLIES:
        raise _unknown(found, path, f"a whole number from 0 to {MAXIMUM_PLIES}")
    return found


def _unknown(found: Any, path: str, right: str) -> InputError:
    expected = f"expected {right} for {path}; merels plays no other rule"
    return InputError(json.dumps(found), expected)


_EVENTS = ("board-remove", "hand-remove", "mill-formation", "place")
_FREE: dict[str, type | tuple[str, ...]] = {
    "id": str, "title": str, "version": int,
    "status": ("fixture", "experimental", "registered", "deprecated"),
    # White begins, so that White moves after the last man either way.
    "turn.placingEndActivePlayer": ("retain", "w"),
    # Eighteen men leave points empty; there is always room for a man in hand.
    "boardFull.action": (
        "disabled", "white-loses", "white-then-black-remove", "black-then-white-remove",
        "active-player-removes", "draw",
    ),
    "placing.noLegalPrimaryAction": ("apply-board-full", "loss", "draw"),
    # Nobody offers a draw in a game of merels.
    "draw.offers.expiry": ("explicit-only", "on-opponent-primary-action"),
    # No position recurs after a placement or a removal, whatever is forgotten then.
    "draw.repetition.observation": ("stable-moving-v1", "stable-primary-decision-v1"),
}  # fmt: skip
"""Members that cannot matter to merels' rules: the type of their value, or which it may be."""
_RESETS = {"draw.repetition.resetEvents": (), "draw.noProgress.resetEvents": ("board-remove",)}
"""The same of lists of events: which they must have. Plies are counted once all men are placed,
where every mill removes a man."""
_OPTIONAL = ("annotations", "description")


def _without_effect(rules: Rules) -> set[str]:
    """The members, at their paths, of what is switched off."""
    parts = {f"captures.{name}": "enabled" for name in ("custodian", "intervention", "leap")}
    if rules.flying == "never":
        parts["flying"] = "enabled"
    if not rules.repetition:
        parts["draw.repetition"] = "count"
    if not rules.no_removal_plies:
        parts["draw.noProgress"] = "normalLimit endgameLimit endgamePredicate"
    ours = _manifest(rules)
    return {
        f"{path}.{name}"
        for path, kept in parts.items()
        for name in _member(ours, path)
        if name not in kept.split()
    }


def _compare(found: Any, ours: Any, path: str, without_effect: set[str]) -> None:
    """Refuse what differs from our own manifest of the same fields and might change the game."""
    if path in without_effect:
        return
    if path in _FREE or path in _RESETS:
        _check_free(found, path)
        return
    if not isinstance(ours, dict):
        if type(found) is not type(ours) or found != ours:
            raise _unknown(found, path, json.dumps(ours))
        return
    if not isinstance(found, dict):
        raise InputError(json.dumps(found), f"expected an object for {path}")
    prefix = f"{path}." if path else ""
    for name, value in ours.items():
        _member(found, name)
        _compare(found[name], value, prefix + name, without_effect)
    for name in found:
        if name not in ours and not (path == "" and name in _OPTIONAL):
            raise InputError(prefix + name, "merels does not know this member of a manifest")


def _check_free(found: Any, path: str) -> None:
    """Refuse a value that the draft does not have for a member that cannot matter."""
    if path in _RESETS:
        known = isinstance(found, list) and all(event in _EVENTS for event in found)
        if not known or not all(event in found for event in _RESETS[path]):
            must = "".join(f", {event} among them" for event in _RESETS[path])
            raise _unknown(found, path, f"a list of events ({', '.join(_EVENTS)}{must})")
    elif isinstance(right := _FREE[path], type):
        if type(found) is not right:
            raise _unknown(found, path, {str: "a text", int: "a whole number"}[right])
    elif found not in right:
        raise _unknown(found, path, " or ".join(json.dumps(value) for value in right))
