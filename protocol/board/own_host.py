"""Whether a request to a server on this machine was meant for it."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_own_host(header: str, host: str, port: int) -> bool:
    """Whether a Host header names the server at ``host`` and ``port`` by a number or as loopback.

    A name that a foreign name server gave to its address is refused: a page from there
    could read what is served here under that name.
    """
    try:
        parts = urlsplit(f"//{header}")
        name, wanted = parts.hostname or "", parts.port or 80
    except ValueError:
        return False
    if wanted != port or parts.username is not None:
        return False
    if name in ("localhost", host):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
