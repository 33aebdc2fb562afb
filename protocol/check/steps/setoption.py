"""Steps about setoption."""

from __future__ import annotations

from collections.abc import Callable

from merels.protocol.check.conversation import Fault, Skip
from merels.protocol.check.step import Group
from merels.protocol.check.steps.strange_input import survives
from merels.protocol.check.subject import Subject
from merels.protocol.common.options import EMPTY, Option, setoption

GROUP = Group("options", "Options")
GREEDY = ("hash", "memory", "cache", "thread", "cores")
"""Options with one of these in their name could use up the machine at their maximum."""
MODEST = 4
"""The most that such an option is set to."""


def _is_greedy(option: Option) -> bool:
    """Whether an option takes memory or threads."""
    return any(word in option.name.lower() for word in GREEDY)


def _bounds(option: Option) -> tuple[str, ...]:
    """The least and the greatest value of a spin."""
    low, high = option.minimum or 0, option.maximum or 0
    return str(low), str(max(low, min(high, MODEST)) if _is_greedy(option) else high)


def _wrong(option: Option) -> tuple[str, ...]:
    """Values that an option should refuse."""
    values = ("nonsense", "", "-1e9")
    if option.kind != "spin" or _is_greedy(option):
        return values
    low, high = option.minimum or 0, option.maximum or 0
    return (*values, str(low - 1), str(high + 1), "9" * 30)


Values = Callable[[Option], tuple[str | None, ...]]


def _set_each(
    name: str, expected: str, kinds: tuple[str, ...], values: Values, back: bool = True
) -> None:
    """Add a step that sets every option of some types to some values, and to its default."""

    def check(engine: Subject) -> None:
        engine.ensure()
        options = [option for option in engine.greeting.options.values() if option.kind in kinds]
        if not options:
            raise Skip(f"the engine has no option of type {' or '.join(kinds)}")
        engine.changed = True
        for option in options:
            for value in (*values(option), *([option.default or EMPTY] if back else ())):
                engine.set_option(option.name, value)
                engine.survive(b"", f"'{setoption(option.name, value)}'")
        engine.search("go depth 1")

    GROUP.add(name, expected, check)


_set_each(
    "set-defaults", "Every option can be set to its default, and the engine plays on; many clients "
    "send all defaults at every start.", ("check", "spin", "combo", "string"), lambda option: ())
_set_each(
    "set-checks", "Every check can be turned on and off.",
    ("check",), lambda option: ("true", "false"))
_set_each(
    "set-spins", "Every spin can be set to its minimum and its maximum (memory and threads: to "
    "modest values); users choose the bounds that an engine prints.", ("spin",), _bounds)
_set_each(
    "set-combos", "Every choice of every combo can be set.",
    ("combo",), lambda option: option.choices)
_set_each(
    "set-strings", "Every string can be set to the empty string, written as <empty> or as nothing "
    "after 'value'; clients send both.", ("string",), lambda option: (EMPTY, ""))
_set_each(
    "press-buttons", "Every button can be pressed, by setoption without a value.",
    ("button",), lambda option: (None,), back=False)
_set_each(
    "set-out-of-bounds", "A value out of bounds, of the wrong type or empty is refused or "
    "adjusted, and the engine survives; users keep old settings for new versions.",
    ("check", "spin", "combo"), _wrong)
GROUP.add(
    "set-unknown", "An unknown option is ignored; tournaments set the same options for all "
    "engines.",
    survives("setoption name No Such Option value 17", "setoption name NoSuchButton",
             changes=True))
GROUP.add(
    "set-malformed", "An incomplete setoption is ignored.",
    survives("setoption", "setoption name", "setoption value 3", "setoption name value",
             "setoption name  value  ", "setoption Hash 16", "setoption name Hash value",
             changes=True))


@GROUP.step()
def option_case(engine: Subject) -> None:
    """The case of an option's name does not matter, as the protocol says; MultiPV set in another
    case must take effect."""
    engine.needs_option("MultiPV", 2)
    engine.set_option("mULTIpv", "2")
    search = engine.search("go depth 2")
    if not any(info.numbers.get("multipv") == 2 for _, info in search.infos):
        raise Fault("'setoption name mULTIpv value 2' had no effect")


@GROUP.step(needs=("infinite-waits", "stop"))
def set_in_search(engine: Subject) -> None:
    """A setoption during a search waits or is refused, and the search goes on to its one answer;
    users change settings while the engine thinks."""
    search = engine.begin("go infinite")
    engine.changed = True
    for option in list(engine.greeting.options.values())[:3]:
        value = None if option.kind == "button" else option.default or EMPTY
        engine.set_option(option.name, value)
    line = engine.watch(search, engine.pace.listen)
    if line is not None:
        raise Fault("setoption ended the search", line)
    engine.stop(search)
