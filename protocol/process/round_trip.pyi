"""The system calls of a request and its answer, compiled: tournaments make them for every move."""

from threading import Lock

def round_trip(
    lock: Lock, sink: int, data: bytes, source: int, sentinel: int, errors: int,
    longest_wait: int, timeout: int,
) -> bytes | None:
    """Write ``data`` to ``sink`` while holding ``lock``, and read the answer from ``source``.

    All descriptors are non-blocking, and ``data`` has at most `select.PIPE_BUF` bytes, so that a
    pipe accepts it completely or not at all. ``timeout`` is in nanoseconds; ``longest_wait``
    limits the wait, in milliseconds.

    `OSError` if nothing was written: ``source`` is already readable, or the write failed. Return
    the bytes read, and b'' at the end of output. Return None at the timeout, at a signal, and if
    ``sentinel`` (of the process) or ``errors`` becomes readable first; -1 ignores these two. Both
    are polled only after the first 20 ms of the wait.
    """
