"""Exceptions of engine processes."""

from __future__ import annotations

from merels.engine.common.errors import printable


class EngineError(RuntimeError):
    """An engine cannot be started, is asked for what it has not, or breaks its protocol.

    Its text may quote the engine; control characters are made printable.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


class EngineTerminated(EngineError):
    """An engine's process ended, or closed a pipe.

    ``how`` is the exit code or signal, and the last line of its standard error.
    """

    def __init__(self, how: str) -> None:
        self.how = how
        super().__init__(f"the engine has gone: {how}")


class EngineTimeout(EngineError):
    """An engine did not answer, or did not read its input, in the time it had.

    ``what`` names the failure and quotes the engine's last output, if there was any.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"the engine {what}")
