"""A client for the event stream of a tournament's page."""

from __future__ import annotations

import json
import socket
from typing import Any
from urllib.parse import urlsplit


class Listener:
    """A connection that receives events; the end of its context closes it."""

    def __init__(self, address: str, headers: dict[str, str] | None = None) -> None:
        parts = urlsplit(address)
        self._socket = socket.create_connection((parts.hostname or "", parts.port or 0), 60)
        self._file = self._socket.makefile("rb")
        fields = {"Host": parts.netloc, "Accept": "text/event-stream"} | (headers or {})
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self._socket.sendall(f"GET /events HTTP/1.1\r\n{lines}\r\n".encode())
        self.status = int(self._file.readline().split()[1])
        self.headers = dict(
            line.decode().rstrip().split(": ", 1) for line in iter(self._file.readline, b"\r\n")
        )

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._file.close()
        self._socket.close()

    def next(self) -> dict[str, Any] | None:
        """Return the next event; None when the server has ended the stream."""
        data = self.next_data()
        return None if data is None else json.loads(data)

    def next_data(self) -> bytes | None:
        """Return the data of the next event as bytes; None at the end of the stream."""
        for line in self._file:
            if line.startswith(b"data: "):
                return line[6:]
        return None
