"""Sentences for users that a page may show in another language."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Message(str):
    """An English sentence that keeps its template and values, by which it can be translated."""

    template: str
    values: dict[str, object]


def message(template: str, /, **values: object) -> Message:
    """Return the sentence ``template`` with a value for each ``{name}`` in it.

    Values may be messages, too. A sentence without values is its own template, so that a plain
    string does for it.
    """
    sentence = Message(template.format_map(values))
    sentence.template = template
    sentence.values = {
        name: value if isinstance(value, (str, int)) else str(value)
        for name, value in values.items()
    }
    return sentence


def joined(separator: str, sentences: Iterable[str]) -> str:
    """Return the sentences that are not empty, with a separator between them.

    Each can still be translated.
    """
    first, *others = list(filter(None, sentences)) or [""]
    for other in others:
        first = message(f"{{first}}{separator}{{other}}", first=first, other=other)
    return first


def with_templates(data: Any) -> Any:
    """Return data for JSON, with each `Message` as a list of its template and its values."""
    if isinstance(data, Message):
        return [data.template, with_templates(data.values)]
    if isinstance(data, dict):
        return {name: with_templates(value) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [with_templates(value) for value in data]
    return data
