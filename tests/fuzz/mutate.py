"""Random damage to texts and bytes."""

from __future__ import annotations

import random

NUMBERS = (
    "", "0", "-0", "+0", "-1", "1", "2", "9", "10", "00", "007", "1e3", "0x10", "1.5", "-", "--1",
    "NaN", "inf", "1_000", "255", "256", "65535", "65536", "2147483647", "2147483648", "4294967296",
    "9223372036854775807", "9223372036854775808", "18446744073709551616", "-2147483649",
    "99999999999999999999999", "9" * 400, "٣", "²", "１", "½",
)
"""Numbers, and texts that some parsers take for numbers."""
ODD = (
    "\0", "\r", "\r\n", "\t", "\v", "\f", "\x1b[2J", "\x7f", "\x85", "\xa0", "\xff", "\u2028",
    "\ufeff", "\ufffd", "\U0001f600", "ı", "ſ", "ǰ", '"', "'", "\\", "{", "}", "[", "]", ";", "%",
    "/", "=", " ", "  ", "*", "O", "@", "x", "X", "-",
)
"""Characters that readers often handle wrongly."""


def spoil(text: str, chance: random.Random, others: tuple[str, ...] = ()) -> str:
    """Return the text after one to three random changes, sometimes with a part of ``others``."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        text = chance.choice(_WAYS)(text, chance)
        if others and chance.random() < 0.2:
            text = _splice(text, chance.choice(others), chance)
    return text


def _place(text: str, chance: random.Random) -> int:
    return chance.randint(0, len(text))


def _part(text: str, chance: random.Random) -> tuple[int, int]:
    """Return start and end of a random part, usually a short one."""
    first = _place(text, chance)
    return first, min(len(text), first + chance.choice((1, 1, 1, 2, 3, 8, 40)))


def _cut(text: str, chance: random.Random) -> str:
    return text[: _place(text, chance)]


def _behead(text: str, chance: random.Random) -> str:
    return text[_place(text, chance) :]


def _drop(text: str, chance: random.Random) -> str:
    first, last = _part(text, chance)
    return text[:first] + text[last:]


def _double(text: str, chance: random.Random) -> str:
    first, last = _part(text, chance)
    return text[:last] + text[first:]


def _insert(text: str, chance: random.Random) -> str:
    at = _place(text, chance)
    return text[:at] + chance.choice(ODD) * chance.choice((1, 1, 1, 2, 50)) + text[at:]


def _replace(text: str, chance: random.Random) -> str:
    first, last = _part(text, chance)
    return text[:first] + chance.choice(ODD) + text[last:]


def _byte(text: str, chance: random.Random) -> str:
    """Replace a character by one of the first 256 characters of Unicode."""
    if not text:
        return chr(chance.randrange(256))
    at = chance.randrange(len(text))
    return text[:at] + chr(chance.randrange(256)) + text[at + 1 :]


def _swap(text: str, chance: random.Random) -> str:
    """Swap two characters."""
    if len(text) < 2:
        return text
    letters = list(text)
    first, second = chance.randrange(len(text)), chance.randrange(len(text))
    letters[first], letters[second] = letters[second], letters[first]
    return "".join(letters)


def _word(text: str, chance: random.Random) -> str:
    """Drop, double, replace or swap a word."""
    words = text.split(" ")
    at, other = chance.randrange(len(words)), chance.randrange(len(words))
    way = chance.randrange(4)
    if way == 0:
        del words[at]
    elif way == 1:
        words.insert(other, words[at])
    elif way == 2:
        words[at] = chance.choice(NUMBERS)
    else:
        words[at], words[other] = words[other], words[at]
    return " ".join(words)


def _case(text: str, chance: random.Random) -> str:
    return chance.choice((text.upper(), text.lower(), text.swapcase()))


def _splice(text: str, other: str, chance: random.Random) -> str:
    """Return the start of one text followed by the end of another."""
    return text[: _place(text, chance)] + other[_place(other, chance) :]


_WAYS = (
    _cut, _behead, _drop, _double, _insert, _insert, _replace, _byte, _byte, _swap, _word, _word,
    _word, _case,
)


def edit(data: bytes, edits: list[str]) -> bytes:
    """Apply edits such as ``cut 90``, ``set 12 ff``, ``add 3 00`` and ``drop 7 4`` to some bytes.

    Offsets are taken modulo the length. An invalid edit has no effect.
    """
    for text in edits:
        words = text.split()
        try:
            at = int(words[1]) % (len(data) or 1)
            if words[0] == "cut":
                data = data[:at]
            elif words[0] == "set":
                new = bytes.fromhex(words[2])
                data = data[:at] + new + data[at + len(new) :]
            elif words[0] == "add":
                data = data[:at] + bytes.fromhex(words[2]) + data[at:]
            elif words[0] == "drop":
                data = data[:at] + data[at + int(words[2]) :]
        except (IndexError, ValueError):
            continue
    return data


def make_edits(chance: random.Random, size: int, hot: int = 0) -> list[str]:
    """Return random edits of ``size`` bytes; if ``hot`` > 0, half are in the first ``hot``."""
    edits = []
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        at = chance.randrange(hot if hot and chance.random() < 0.5 else max(size, 1))
        data = bytes(
            chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
            for _ in range(chance.choice((1, 1, 1, 2, 4, 8)))
        ).hex()
        edits.append(
            chance.choice((f"cut {at}", f"set {at} {data}", f"set {at} {data}", f"set {at} {data}",
                           f"add {at} {data}", f"drop {at} {chance.randint(1, 64)}"))
        )
    return edits
