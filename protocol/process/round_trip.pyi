"""The bare system calls of a request and its answer: a tournament makes them for every move."""

from threading import Lock

def round_trip(
    lock: Lock, sink: int, data: bytes, source: int, end: int, errors: int, longest: int,
    timeout: int,
) -> bytes | None:
    """Write a request with the lock held, and read what arrives at ``source`` until the timeout.

    ``timeout`` is in nanoseconds, and ``longest`` the most milliseconds to wait whatever it is.
    The descriptors must not block, and the request must be one that a pipe takes whole or not at
    all: `select.PIPE_BUF` bytes at most. `OSError` if it was not written, since something is there
    to be read or for any other reason. None if nothing arrives, or if something is or arrives first
    at ``end`` or ``errors`` (-1: neither is looked at), or a signal; empty at the output's end.
    """
