"""The messages of all commands are found, and written in one form."""

from __future__ import annotations

import re

from tests.messages import LAYERS, all_messages

WEAK = re.compile(r"\b(invalid|please|sorry|oops|bad)\b|[.!]$", re.I)
"""Words that do not explain the fault, and ends of sentences: a message is no sentence."""


def test_every_message_says_what_is_wrong_in_plain_words() -> None:
    found = list(all_messages())
    assert len(found) > 300
    assert {name.partition("/")[0] for name, _, _ in found} == set(LAYERS)
    assert [message for message in found if WEAK.search(message[2])] == []
