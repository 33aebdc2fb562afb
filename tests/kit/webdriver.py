"""A client of chromedriver with the WebDriver commands that the tests need."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from time import sleep
from typing import Any

from tests.kit.waiting import wait

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_KEYS = {
    "Enter": "\ue007", "Escape": "\ue00c", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
    "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Tab": "\ue004", "Home": "\ue011",
    "End": "\ue010",
}
_PRESS_AND_RELEASE = ("pointerDown", "pointerUp")


def missing() -> str:
    """Return why the browser tests cannot run here; empty if they can."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return f"{program} is not installed (apt-get install chromium chromium-driver)"
    return "" if os.name == "posix" else "the browser tests need a POSIX system"


class Browser:
    """A headless Chromium with a new profile; a context manager that ends it."""

    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._output = tempfile.TemporaryFile()
        self._driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=self._output, stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._port = 0
        self._session = ""
        try:
            wait(self._driver_answers, 60, "chromedriver")
            arguments = [*FLAGS, f"--user-data-dir={self._profile.name}"]
            options = {"binary": shutil.which("chromium"), "args": arguments}
            capabilities = {
                "browserName": "chrome", "goog:chromeOptions": options,
                # A script may wait for an answer of the board's server.
                "timeouts": {"script": 100_000, "pageLoad": 100_000},
            }
            answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
            self._session = f"/session/{answer['sessionId']}"
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the browser and its driver, and delete the profile."""
        try:
            if self._session:
                # The browser may have ended, and chromedriver with it.
                with suppress(OSError, RuntimeError, HTTPException):
                    self._call("DELETE", self._session)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self._driver.pid, signal.SIGKILL)
            self._driver.wait()
            self._profile.cleanup()
            self._output.close()

    def _driver_answers(self) -> bool:
        """Return whether chromedriver is ready; it prints the port that the system gave it."""
        size = os.fstat(self._output.fileno()).st_size
        output = os.pread(self._output.fileno(), size, 0).decode("utf-8", "replace")
        assert self._driver.poll() is None, f"chromedriver has ended: {output}"
        started = re.search(r"started successfully on port (\d+)", output)
        self._port = int(started[1]) if started else 0
        try:
            return started is not None and bool(self._call("GET", "/status")["ready"])
        except OSError:
            return False

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=120)
        try:
            data = json.dumps({} if body is None else body) if method == "POST" else None
            connection.request(method, path, data, {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = json.loads(response.read())["value"]
        finally:
            connection.close()
        if response.status >= 400:
            raise RuntimeError(f"{answer['error']}: {answer['message']}")
        return answer

    def _do(self, command: str, **body: Any) -> Any:
        return self._call("POST", f"{self._session}/{command}", body)

    def open(self, address: str) -> None:
        """Load a page."""
        self._do("url", url=address)

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a JavaScript function body and return its value."""
        return self._do("execute/sync", script=script, args=list(arguments))

    def wait(self, condition: str, seconds: float = 60.0) -> Any:
        """Wait until a JavaScript expression is true."""
        return wait(lambda: self.run(f"return {condition}"), seconds, condition)

    def wait_for_count(self, selector: str, count: int) -> None:
        """Wait until a CSS selector matches ``count`` elements."""
        self.wait(f"document.querySelectorAll({selector!r}).length === {count}")

    def find(self, selector: str) -> str:
        """Return the reference of the first element that matches a CSS selector."""
        element = self._do("element", using="css selector", value=selector)
        return str(element[_ELEMENT])

    def click(self, selector: str) -> None:
        """Click an element with the mouse; `RuntimeError` if another element covers it."""
        self._on_elements(lambda: self._do(f"element/{self._uncovered(selector)}/click"))

    def _uncovered(self, selector: str) -> str:
        """Return an element's reference; scroll it out from under a board or bar that stays."""
        self.run(
            """const element = document.querySelector(arguments[0]);
               const bar = document.querySelector(".controls > .buttons");
               if (!element || !bar || element.closest("header, .table, dialog:modal, .toast")
                 || bar.contains(element)
                 || getComputedStyle(bar).position !== "sticky") return;
               const {top, bottom} = element.getBoundingClientRect();
               const table = document.querySelector(".table").getBoundingClientRect();
               if (bottom > bar.getBoundingClientRect().top || top < table.bottom) {
                 element.scrollIntoView({block: "end"});
               }""", selector,
        )
        return self.find(selector)

    def _on_elements(self, command: Callable[[], object]) -> None:
        """Find elements and act on them, again if the page has replaced or moved them meanwhile."""
        for _ in range(20):
            try:
                command()
                return
            except RuntimeError as error:
                if not str(error).startswith(("stale element reference", "element click interc")):
                    raise
            sleep(0.05)
        command()

    def hover(self, selector: str) -> None:
        """Move the mouse to the centre of an element."""
        self._on_elements(lambda: self._point("mouse", self._move(selector)))

    def _move(self, selector: str, milliseconds: int = 30) -> dict[str, Any]:
        """Return the action that moves a pointer to the centre of an element."""
        return {"type": "pointerMove", "duration": milliseconds, "x": 0, "y": 0,
                "origin": {_ELEMENT: self._uncovered(selector)}}

    def _point(self, device: str, *actions: dict[str, Any]) -> None:
        """Perform actions of a pointing device."""
        pointer = {"type": "pointer", "id": device, "parameters": {"pointerType": device}}
        self._do("actions", actions=[{**pointer, "actions": actions}])

    def text(self, selector: str) -> str:
        """Return an element's text content."""
        return str(self.run("return document.querySelector(arguments[0]).textContent", selector))

    def key(self, *names: str) -> None:
        """Press and release keys one after another, without a pause between them."""
        steps = [
            {"type": kind, "value": _KEYS.get(name, name)}
            for name in names for kind in ("keyDown", "keyUp")
        ]
        self._do("actions", actions=[{"type": "key", "id": "keys", "actions": steps}])

    def wheel(self, selector: str, delta: int) -> None:
        """Turn the mouse wheel over the centre of an element, down if ``delta`` is positive."""
        def turn() -> None:
            step = {"type": "scroll", "x": 0, "y": 0, "deltaX": 0, "deltaY": delta, "duration": 0,
                    "origin": {_ELEMENT: self.find(selector)}}
            self._do("actions", actions=[{"type": "wheel", "id": "wheel", "actions": [step]}])

        self._on_elements(turn)

    def drag(self, start: str, end: str, button: int = 0) -> None:
        """Drag with a mouse button from the centre of an element to that of another."""
        press, release = ({"type": kind, "button": button} for kind in _PRESS_AND_RELEASE)
        self._point("mouse", self._move(start), press, self._move(end), release)

    def tap(self, selector: str) -> None:
        """Tap an element by touch."""
        press, release = ({"type": kind, "button": 0} for kind in _PRESS_AND_RELEASE)
        self._on_elements(lambda: self._point("touch", self._move(selector, 0), press, release))

    def new_tab(self) -> str:
        """Open a tab, switch to it and return its handle."""
        handle = str(self._do("window/new", type="tab")["handle"])
        self.move_to(handle)
        return handle

    def tab(self) -> str:
        """Return the handle of the current tab."""
        return str(self._call("GET", f"{self._session}/window"))

    def move_to(self, handle: str) -> None:
        """Switch to a tab."""
        self._do("window", handle=handle)

    def tabs(self) -> list[str]:
        """Return the handles of all tabs."""
        return list(self._call("GET", f"{self._session}/window/handles"))

    def keep_tab(self, handle: str) -> None:
        """Switch to a tab, and close all others."""
        for other in self.tabs():
            if other != handle:
                self.move_to(other)
                self._call("DELETE", f"{self._session}/window")
        self.move_to(handle)

    def reset(self) -> None:
        """Leave one empty tab, and forget cookies, stored data and messages of all pages."""
        self.move_to(self.tabs()[0])
        self.keep_tab(self.new_tab())
        self._cdp("Network.clearBrowserCookies")
        self._cdp("Storage.clearDataForOrigin", origin="*", storageTypes="all")
        self.messages()

    def set_view(
        self, width: int, height: int, *, phone: bool = False, dark: bool = False,
        still: bool = False, forced: bool = False,
    ) -> None:
        """Emulate a screen of a size in CSS pixels.

        ``still``: with reduced motion; ``forced``: with forced colours.
        """
        self._cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=phone,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        motion = {"name": "prefers-reduced-motion", "value": "reduce" if still else ""}
        colours = {"name": "forced-colors", "value": "active" if forced else "none"}
        self._cdp("Emulation.setEmulatedMedia", features=[scheme, motion, colours])

    def download_to(self, folder: Path) -> None:
        """Save downloads in a folder."""
        self._cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def _cdp(self, command: str, **parameters: Any) -> Any:
        return self._do("goog/cdp/execute", cmd=command, params=parameters)

    def accessibility_tree(self) -> list[tuple[str, str]]:
        """Return role and name of each node of the accessibility tree, in order."""
        nodes = self._cdp("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", ""))
                for node in nodes if not node["ignored"]]

    def screenshot(self, path: Path, selector: str = "") -> None:
        """Save the visible page, or an element at 60 % of its size, as a PNG or WebP file."""
        parameters: dict[str, Any] = {"format": path.suffix.removeprefix(".")}
        if selector:
            box = self.run(f"""const box = document.querySelector({selector!r})
                .getBoundingClientRect();
                return {{x: box.x, y: box.y, width: box.width, height: box.height}}""")
            parameters["clip"] = {**box, "scale": 0.6}
        picture = self._cdp("Page.captureScreenshot", **parameters)["data"]
        path.write_bytes(base64.b64decode(picture))

    def messages(self) -> list[str]:
        """Return the errors in the page's console since the last call."""
        entries = self._do("se/log", type="browser")
        return [entry["message"] for entry in entries if entry["level"] == "SEVERE"]
