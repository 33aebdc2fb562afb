"""The rules by which an engine's moves are judged."""

from __future__ import annotations

from collections.abc import Mapping

from merels.engine.game.errors import InputError
from merels.engine.game.rules import FIELDS, PRESETS, Rules, make_rules
from merels.protocol.client.options import Options

_VARIANT = "uci_variant"
_FIELD_NAMES = frozenset(rule.name.lower() for rule in FIELDS)


def rules_of(options: Options, settings: Mapping[str, str], default: Rules) -> Rules:
    """The rules that an engine's options name by default, changed by ``settings``.

    What its options do not name is as in ``default``.
    """
    values = [(option.name.lower(), option.default) for option in options.values()]
    values += [(name.lower(), value) for name, value in settings.items() if name in options]
    # The variant sets all fields, and an engine may list it after them.
    values[: len(options)] = sorted(values[: len(options)], key=lambda v: v[0] != _VARIANT)
    rules = default
    for name, value in values:
        if name == _VARIANT and value.lower() in PRESETS:
            rules = make_rules(value, default.fields_text().split())
        elif name in _FIELD_NAMES:
            try:
                rules = rules.with_field(name, value)
            except InputError:
                pass  # A step of its own checks the option.
    return rules
