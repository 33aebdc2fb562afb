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
_WAYS = ("cut", "behead", "drop", "double", "insert", "insert", "replace", "byte", "byte", "swap",
         "word", "word", "word", "case")  # fmt: skip


def spoil(text: str, chance: random.Random, others: tuple[str, ...] = ()) -> str:
    """Return the text after one to three random changes, sometimes with a part of ``others``."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        text = _changed(text, chance.choice(_WAYS), chance)
        if others and chance.random() < 0.2:
            other = chance.choice(others)
            text = text[: chance.randint(0, len(text))] + other[chance.randint(0, len(other)) :]
    return text


def _changed(text: str, way: str, chance: random.Random) -> str:
    """Return a text with one change; most changes are of a short part, from ``at`` to ``end``."""
    at = chance.randint(0, len(text))
    end = min(len(text), at + chance.choice((1, 1, 1, 2, 3, 8, 40)))
    if way == "cut":
        return text[:at]
    if way == "behead":
        return text[at:]
    if way == "drop":
        return text[:at] + text[end:]
    if way == "double":
        return text[:end] + text[at:]
    if way == "insert":
        return text[:at] + chance.choice(ODD) * chance.choice((1, 1, 1, 2, 50)) + text[at:]
    if way == "replace":
        return text[:at] + chance.choice(ODD) + text[end:]
    if way == "byte":  # One of the first 256 characters of Unicode.
        return text[:at] + chr(chance.randrange(256)) + text[at + 1 :]
    if way == "case":
        return chance.choice((text.upper(), text.lower(), text.swapcase()))
    parts = list(text) if way == "swap" else text.split(" ")
    if not parts:
        return text
    first, second = chance.randrange(len(parts)), chance.randrange(len(parts))
    change = "swap" if way == "swap" else chance.choice(("swap", "remove", "repeat", "number"))
    if change == "swap":
        parts[first], parts[second] = parts[second], parts[first]
    elif change == "remove":
        del parts[first]
    elif change == "repeat":
        parts.insert(second, parts[first])
    else:
        parts[first] = chance.choice(NUMBERS)
    return ("" if way == "swap" else " ").join(parts)


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
