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
"""Maximum length of a manifest in characters, as the draft recommends."""


def format_manifest(rules: Rules) -> str:
    """Return the rules as an MRS/1.0 manifest, one line of canonical JSON.

    `InputError` names a rule field that the draft cannot express.
    """
    for attribute, is_supported, supported in (
        ("flying", rules.flying != "both", "Flying=never and Flying=own"),
        ("locked_mills", rules.locked_mills == "any", "LockedMills=any"),
        ("repetition", rules.repetition != 1, "Repetition=0, and 2 or more"),
        ("three_three_plies", not rules.three_three_plies, "ThreeThreePlies=0"),
    ):
        if not is_supported:
            name = next(field.name for field in FIELDS if field.attribute == attribute)
            setting = f"{name}={getattr(rules, attribute)}"
            raise InputError(setting, f"{MANIFEST} cannot express this rule; it has {supported}")
    # For the values of this manifest, sorted keys and no spaces are the canonical JSON of RFC 8785.
    return json.dumps(_manifest(rules), sort_keys=True, separators=(",", ":"))


def _manifest(rules: Rules) -> dict[str, Any]:
    """Return the manifest of rules that the draft can express; its id joins the fields' values."""
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
    """Return the rules of an MRS/1.0 manifest; `InputError` names an unsupported member.

    A member without effect on games under merels' rules may have any value that the draft allows.
    """
    document = _read_json(text)
    version = document.get("format")
    if version != MANIFEST:
        raise InputError(json.dumps(version), f"expected the format {MANIFEST}, which merels reads")
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
    with suppress(InputError):
        # Rule sets such as morris and roman have equal fields; the title names the rule set.
        titled = parse_rules(str(document.get("title")))
        if replace(titled, variant=rules.variant) == rules:
            rules = titled
    _compare(document, _manifest(rules), "", _without_effect(rules))
    return rules


def _distance(rules: Rules) -> int:
    """Return the number of rule fields that differ from the preset."""
    return len(rules.fields_text().split())


def _inverse(names: dict[str, str]) -> dict[Any, str]:
    return {value: key for key, value in names.items()}


def _read_json(text: str) -> dict[str, Any]:
    """Return the JSON object of a text; `InputError` for other text or a repeated name."""
    if len(text) > LONGEST_MANIFEST:
        raise InputError(text, f"expected a manifest of at most {LONGEST_MANIFEST >> 20} MiB")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            repeated = Counter(name for name, _ in pairs).most_common(1)[0][0]
            raise InputError(repeated, "this member is repeated; keep only one")
        return members

    try:
        document = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        rest = text[error.pos :].split("\n")[0] or "the end"
        fault = error.msg.removesuffix(" at").removesuffix(" starting")
        raise InputError(rest, f"expected JSON in line {error.lineno}: {fault}") from None
    except InputError:
        raise
    except (RecursionError, ValueError):
        reason = "nested too deeply, or a number has too many digits"
        raise InputError(text, f"expected a manifest; this JSON is {reason}") from None
    if not isinstance(document, dict):
        raise InputError(text, "expected a manifest, which is a JSON object")
    return document


def _member(document: dict[str, Any], path: str) -> Any:
    """Return the member of an object at a path such as ``draw.repetition.count``."""
    value: Any = document
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            raise InputError(path, f"expected this member in a manifest of {MANIFEST}")
        value = value[name]
    return value


def _choice(document: dict[str, Any], path: str, names: dict[Any, str]) -> str:
    """Return merels' name for a member's value."""
    value = _member(document, path)
    if not isinstance(value, (str, bool)) or value not in names:
        raise _unsupported(value, path, " or ".join(json.dumps(name) for name in names))
    return names[value]


def _limit(document: dict[str, Any], path: str) -> int:
    """Return a member that is a number of plies or of repetitions; 0 is no limit."""
    value = _member(document, path)
    if type(value) is not int or not 0 <= value <= MAXIMUM_PLIES:
        raise _unsupported(value, path, f"a whole number from 0 to {MAXIMUM_PLIES}")
    return value


def _unsupported(value: Any, path: str, supported: str) -> InputError:
    expected = f"expected {supported} for {path}; merels plays no other rule"
    return InputError(json.dumps(value), expected)


_EVENTS = ("board-remove", "hand-remove", "mill-formation", "place")
_IGNORED_MEMBERS: dict[str, type | tuple[str, ...]] = {
    "id": str, "title": str, "version": int,
    "status": ("fixture", "experimental", "registered", "deprecated"),
    # White begins, so both values let White move after the last placement.
    "turn.placingEndActivePlayer": ("retain", "w"),
    # The board is never full, as 18 men fill at most 18 of 24 points.
    "boardFull.action": (
        "disabled", "white-loses", "white-then-black-remove", "black-then-white-remove",
        "active-player-removes", "draw",
    ),
    "placing.noLegalPrimaryAction": ("apply-board-full", "loss", "draw"),
    # Games of merels have no draw offers.
    "draw.offers.expiry": ("explicit-only", "on-opponent-primary-action"),
    # No position before a placement or a removal can recur after it.
    "draw.repetition.observation": ("stable-moving-v1", "stable-primary-decision-v1"),
}  # fmt: skip
"""Members without effect under merels' rules, by path: their type, or their allowed values."""
_RESET_EVENTS = {
    "draw.repetition.resetEvents": (), "draw.noProgress.resetEvents": ("board-remove",)
}  # fmt: skip
"""Lists of events, by path, and the events that they must contain; other events have no effect.

Plies without a removal are counted only after the placing phase, and each mill removes a man. So
``place`` and ``mill-formation`` reset no count that ``board-remove`` does not reset."""
_OPTIONAL_MEMBERS = ("annotations", "description")
"""Members that a manifest may have in addition to the members of `_manifest`."""


def _without_effect(rules: Rules) -> set[str]:
    """Return the paths of members without effect, because their rule is turned off."""
    parts = {f"captures.{name}": "enabled" for name in ("custodian", "intervention", "leap")}
    if rules.flying == "never":
        parts["flying"] = "enabled"
    if not rules.repetition:
        parts["draw.repetition"] = "count"
    if not rules.no_removal_plies:
        parts["draw.noProgress"] = "normalLimit endgameLimit endgamePredicate"
    manifest = _manifest(rules)
    return {
        f"{path}.{name}"
        for path, effective in parts.items()
        for name in _member(manifest, path)
        if name not in effective.split()
    }


def _compare(value: Any, expected: Any, path: str, without_effect: set[str]) -> None:
    """Raise `InputError` for a difference that may change the game.

    ``value`` is the part at ``path`` of a manifest that was read, ``expected`` the same part of
    the manifest that merels writes for the rules.
    """
    if path in without_effect:
        return
    if path in _IGNORED_MEMBERS or path in _RESET_EVENTS:
        _check_ignored(value, path)
        return
    if not isinstance(expected, dict):
        if type(value) is not type(expected) or value != expected:
            raise _unsupported(value, path, json.dumps(expected))
        return
    if not isinstance(value, dict):
        raise InputError(json.dumps(value), f"expected an object for {path}")
    prefix = f"{path}." if path else ""
    for name, member in expected.items():
        _member(value, name)
        _compare(value[name], member, prefix + name, without_effect)
    for name in value:
        if name not in expected and not (path == "" and name in _OPTIONAL_MEMBERS):
            raise InputError(prefix + name, "merels does not support this member; remove it")


def _check_ignored(value: Any, path: str) -> None:
    """Raise `InputError` for a value that the draft does not allow in a member without effect."""
    if path in _RESET_EVENTS:
        is_valid = isinstance(value, list) and all(event in _EVENTS for event in value)
        if not is_valid or not all(event in value for event in _RESET_EVENTS[path]):
            required = "".join(f", {event} among them" for event in _RESET_EVENTS[path])
            raise _unsupported(value, path, f"a list of events ({', '.join(_EVENTS)}{required})")
    elif isinstance(allowed := _IGNORED_MEMBERS[path], type):
        if type(value) is not allowed:
            raise _unsupported(value, path, {str: "a text", int: "a whole number"}[allowed])
    elif value not in allowed:
        raise _unsupported(value, path, " or ".join(json.dumps(each) for each in allowed))
