"""A page of the browser: what a user does there, what a test asks of it, and what went wrong in it."""

import base64
import json
from pathlib import Path
from typing import Any

from dev.browser.connection import SECONDS, Connection, ProtocolError
from dev.processes.errors import LocalWorldError
from dev.processes.waiting import wait_until

VIEW_PIXELS = 800  # from top to bottom
_DOMAINS = ("Page", "Runtime", "Log", "Network")
# Their numbers, and what they type.
_KEYS = {"Enter": (13, "\r"), "Tab": (9, ""), "Escape": (27, ""), "ArrowDown": (40, ""), "ArrowUp": (38, "")}
_CENTRE = """(() => {
  const element = document.querySelector(%s);
  element.scrollIntoView({ block: "center", behavior: "instant" });
  const { x, y, width, height } = element.getBoundingClientRect();
  return { x: x + width / 2, y: y + height / 2 };
})()"""
_LARGEST_PAINT = """new Promise((resolve) => {
  const observer = new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime));
  observer.observe({ type: "largest-contentful-paint", buffered: true });
})"""


class ScriptError(LocalWorldError):
    """A script that was evaluated in a page threw an error."""


class Page:
    """A page with a profile of its own."""

    def __init__(self, connection: Connection, session: str) -> None:
        self._connection, self._session = connection, session
        self._loaded: set[str] = set()  # the documents, by their loader
        self._urls: dict[str, str] = {}  # of the requests
        self._faults: list[str] = []
        self._runs_scripts = True
        self.bytes_received = 0  # as sent, with headers, since the last `goto`
        connection.listeners[session] = self._on_event
        for domain in _DOMAINS:
            self._call(f"{domain}.enable")
        self._call("Page.setLifecycleEventsEnabled", enabled=True)

    def view(self, *, width: int, dark: bool) -> None:
        """Set the width in CSS pixels, and which colours the user prefers."""
        self._call(
            "Emulation.setDeviceMetricsOverride", width=width, height=VIEW_PIXELS, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])

    def disable_scripts(self) -> None:
        """Run no script of the documents that load from now on."""
        self._call("Emulation.setScriptExecutionDisabled", value=True)
        self._runs_scripts = False

    def disable_cache(self) -> None:
        """Load everything from the server, as at a first visit."""
        self._call("Network.setCacheDisabled", cacheDisabled=True)

    def add_passkeys(self) -> None:
        """Give the user a device that makes and uses passkeys, and knows its owner."""
        self._call("WebAuthn.enable")
        options = {"protocol": "ctap2", "transport": "internal", "automaticPresenceSimulation": True}
        knows = {"hasResidentKey": True, "hasUserVerification": True, "isUserVerified": True}
        self._call("WebAuthn.addVirtualAuthenticator", options=options | knows)

    def before_load(self, script: str) -> None:
        """Run a script in each document before its own."""
        self._call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def goto(self, url: str) -> None:
        """Open a URL and wait for the document's load event; only a fragment's change loads none."""
        self.bytes_received = 0
        answer = self._call("Page.navigate", url=url)
        if "errorText" in answer:
            raise ProtocolError(f"{url}: {answer['errorText']}")
        if "loaderId" in answer:
            self._connection.receive_until(lambda: answer["loaderId"] in self._loaded, what=f"load event of {url}")

    def evaluate(self, expression: str) -> Any:  # noqa: ANN401 - JSON
        """Return the value of an expression; a promise is awaited."""
        answer = self._call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise ScriptError(_words(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until an expression is true."""
        wait_until(lambda: self._holds(expression), within_seconds=SECONDS, what=expression)

    def click(self, selector: str) -> None:
        """Click the middle of an element, once it is there."""
        quoted = json.dumps(selector)
        self.wait(f"document.querySelector({quoted})")
        place = self.evaluate(_CENTRE % quoted)
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def type(self, text: str) -> None:
        """Insert text where the focus is."""
        self._call("Input.insertText", text=text)

    def press(self, key: str) -> None:
        """Press a key of `_KEYS`."""
        number, text = _KEYS[key]
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=number, text=text)

    def screenshot(self, file: Path) -> None:
        """Save the whole page as PNG."""
        answer = self._call("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(answer["data"]))

    def largest_paint_ms(self) -> float:
        """Return how long after the request the largest content was painted."""
        return float(self.evaluate(_LARGEST_PAINT))

    def faults(self) -> list[str]:
        """Return and forget errors of console and scripts, violations of policies, and failed requests."""
        # A page that runs scripts first does what it is about to do; one that draws all the time is never idle.
        # Without scripts, promises stay pending.
        idle = "new Promise((resolve) => requestIdleCallback(resolve, { timeout: 500 }))"
        self.evaluate(idle if self._runs_scripts else "0")
        found, self._faults = self._faults, []
        return found

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        return self._connection.call(method, self._session, **parameters)

    def _holds(self, expression: str) -> bool:
        try:
            return bool(self.evaluate(f"Boolean({expression})"))
        except ProtocolError:  # another document took the place of this one
            return False

    def _on_event(self, method: str, event: dict[str, Any]) -> None:
        match method:
            case "Page.lifecycleEvent" if event["name"] == "load":
                self._loaded.add(event["loaderId"])
            case "Network.requestWillBeSent":
                self._urls[event["requestId"]] = event["request"]["url"]
            case "Network.loadingFinished":
                self.bytes_received += int(event["encodedDataLength"])
            case "Network.loadingFailed" if not event.get("canceled"):
                self._faults.append(f"request: {self._urls.get(event['requestId'])}: {event['errorText']}")
            case "Log.entryAdded" if event["entry"]["level"] == "error":  # also violations, and responses from 400 on
                self._faults.append(
                    f"{event['entry']['source']}: {event['entry']['text']} {event['entry'].get('url', '')}"
                )
            case "Runtime.consoleAPICalled" if event["type"] in {"error", "assert"}:
                said = [str(one.get("value", one.get("description"))) for one in event["args"]]
                self._faults.append(f"console: {' '.join(said)}")
            case "Runtime.exceptionThrown":
                self._faults.append(f"exception: {_words(event['exceptionDetails'])}")


def _words(exception: dict[str, Any]) -> str:
    return str(exception.get("exception", {}).get("description", exception["text"]))
