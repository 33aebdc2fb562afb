"""Steps about setoption."""

from __future__ import annotations

from collections.abc import Callable

from merels.protocol.check.conversation import Fault, Skip
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject, option_line
from merels.protocol.client.options import EMPTY, Option

GROUP = Group("options", "Options", needs=("greeting", "ready", "answers"))
GREEDY = ("hash", "memory", "cache", "thread", "cores")
"""Options with one of these in their name could use up the machine at their maximum."""
MODEST = 4
"""The most that such an option is set to."""


def _set(engine: Subject, option: Option, value: str | None) -> None:
    """Set an option, which the engine must survive."""
    engine.set_option(option.name, value)
    engine.survive(b"", f"'{option_line(option.name, value)}'")


def _text(option: Option) -> str:
    """An option's default as a client sends it."""
    return option.default or EMPTY


def _is_greedy(option: Option) -> bool:
    """Whether an option takes memory or threads."""
    return any(word in option.name.lower() for word in GREEDY)


def _of_kind(engine: Subject, *kinds: str) -> list[Option]:
    """The options of some types; the step is skipped if there are none."""
    engine.ensure()
    options = [option for option in engine.greeting.options.values() if option.kind in kinds]
    if not options:
        raise Skip(f"the engine has no option of type {' or '.join(kinds)}")
    engine.changed = True
    return options


def _set_each(
    engine: Subject, kinds: tuple[str, ...], values: Callable[[Option], tuple[str, ...]]
) -> None:
    """Set every option of some types to some values and back to its default."""
    for option in _of_kind(engine, *kinds):
        for value in (*values(option), _text(option)):
            _set(engine, option, value)
    engine.search("go depth 1")


@GROUP.step()
def set_defaults(engine: Subject) -> None:
    """Every option can be set to its default, and the engine plays on; many clients send all
    defaults at every start."""
    _set_each(engine, ("check", "spin", "combo", "string"), lambda option: ())


@GROUP.step()
def set_checks(engine: Subject) -> None:
    """Every check can be turned on and off."""
    _set_each(engine, ("check",), lambda option: ("true", "false"))


@GROUP.step()
def set_spins(engine: Subject) -> None:
    """Every spin can be set to its minimum and its maximum (memory and threads: to modest values);
    users choose the bounds that an engine prints."""

    def bounds(option: Option) -> tuple[str, str]:
        low, high = option.minimum or 0, option.maximum or 0
        if _is_greedy(option):
            high = max(low, min(high, MODEST))
        return str(low), str(high)

    _set_each(engine, ("spin",), bounds)


@GROUP.step()
def set_combos(engine: Subject) -> None:
    """Every choice of every combo can be set."""
    _set_each(engine, ("combo",), lambda option: option.choices)


@GROUP.step()
def set_strings(engine: Subject) -> None:
    """Every string can be set to the empty string, written as <empty> or as nothing after
    'value'; clients send both."""
    _set_each(engine, ("string",), lambda option: ("<empty>", ""))


@GROUP.step()
def press_buttons(engine: Subject) -> None:
    """Every button can be pressed, by setoption without a value."""
    for option in _of_kind(engine, "button"):
        _set(engine, option, None)
    engine.search("go depth 1")


@GROUP.step()
def set_out_of_bounds(engine: Subject) -> None:
    """A value out of bounds, of the wrong type or empty is refused or adjusted, and the engine
    survives; users keep old settings for new versions."""

    def wrong(option: Option) -> tuple[str, ...]:
        values = ("nonsense", "", "-1e9")
        if option.kind != "spin" or _is_greedy(option):
            return values
        low, high = option.minimum or 0, option.maximum or 0
        return (*values, str(low - 1), str(high + 1), "9" * 30)

    _set_each(engine, ("check", "spin", "combo"), wrong)


@GROUP.step()
def set_unknown(engine: Subject) -> None:
    """An unknown option is ignored; tournaments set the same options for all engines."""
    engine.ensure()
    engine.changed = True
    engine.send("setoption name No Such Option value 17", "setoption name NoSuchButton")
    engine.ping()
    engine.search("go depth 1")


@GROUP.step()
def set_malformed(engine: Subject) -> None:
    """An incomplete setoption is ignored."""
    engine.ensure()
    engine.changed = True
    for line in ("setoption", "setoption name", "setoption value 3", "setoption name value",
                 "setoption name  value  ", "setoption Hash 16", "setoption name Hash value"):
        engine.survive(line.encode() + b"\n", f"'{line}'")
    engine.search("go depth 1")


@GROUP.step()
def option_case(engine: Subject) -> None:
    """The case of an option's name does not matter, as the protocol says; MultiPV set in another
    case must take effect."""
    engine.ensure()
    option = engine.option("MultiPV")
    if option is None or option.kind != "spin" or (option.maximum or 0) < 2:
        raise Skip("the engine has no option MultiPV")
    engine.changed = True
    engine.set_option("mULTIpv", "2")
    search = engine.search("go depth 2")
    if not any(info.numbers.get("multipv") == 2 for info in search.infos):
        raise Fault("'setoption name mULTIpv value 2' had no effect")


@GROUP.step(needs=("infinite-waits", "stop"))
def set_in_search(engine: Subject) -> None:
    """A setoption during a search waits or is refused, and the search goes on to its one answer;
    users change settings while the engine thinks."""
    search = engine.begin("go infinite")
    engine.changed = True
    for option in list(engine.greeting.options.values())[:3]:
        engine.set_option(option.name, None if option.kind == "button" else _text(option))
    line = engine.watch(search, engine.pace.listen)
    if line is not None:
        raise Fault("setoption ended the search", line.raw)
    engine.stop(search)
