"""Exceptions of engine processes."""

from __future__ import annotations

from merels.engine.common.errors import printable
from merels.engine.common.messages import message


class EngineError(RuntimeError):
    """An engine cannot be started, lacks a feature that was asked for, or violates the protocol.

    The text may quote the engine; ``?`` replaces characters that are not printable.
    """

    def __str__(self) -> str:
        return printable(self.args[0]) if self.args else ""


class EngineTerminated(EngineError):
    """An engine's process ended, or closed its input or output.

    ``how`` names the exit code, the signal or the closed pipe, and quotes the last line of
    standard error if there was any.
    """

    def __init__(self, how: str) -> None:
        self.how = how
        super().__init__(message("the engine has gone: {reason}", reason=how))


class EngineTimeout(EngineError):
    """An engine did not answer, or did not read its input, before a deadline.

    ``what`` names the failure, such as ``does not read its input``. If the engine did not answer,
    it also quotes the engine's last output.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"the engine {what}")
