"""Runs Chromium with our own flags, and opens pages in it."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from dev.browser.chromium import executable
from dev.browser.connection import Connection
from dev.browser.page import Page
from dev.world import VAR

LOG = VAR / "chromium.log"
STOP_SECONDS = 30
# None changes what a page may do.
_FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",  # containers have little shared memory
    "--hide-scrollbars",
)


class Browser:
    """A running Chromium."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @contextmanager
    def page(self, *, width: int = 1280, dark: bool = False) -> Iterator[Page]:
        """Open a page with a profile of its own."""
        profile = self._connection.call("Target.createBrowserContext")["browserContextId"]
        target = self._connection.call("Target.createTarget", url="about:blank", browserContextId=profile)["targetId"]
        session = self._connection.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self._connection, session)
        page.view(width=width, dark=dark)
        try:
            yield page
        finally:
            del self._connection.listeners[session]
            self._connection.call("Target.disposeBrowserContext", browserContextId=profile)


@contextmanager
def running() -> Iterator[Browser]:
    """Run a Chromium until the block ends; it also exits when this process does, because its pipes close then."""
    LOG.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as folder:
        flags = [*_FLAGS, f"--user-data-dir={folder}", *([] if _can_isolate() else ["--no-sandbox"])]
        commands_end, commands = os.pipe()
        messages, messages_end = os.pipe()
        # It reads and writes the numbers 3 and 4, to which only a shell can move ours.
        moved = f'exec "$@" 3<&{commands_end} 4>&{messages_end}'
        argv = ["/usr/bin/env", "bash", "-c", moved, "bash", str(executable()), *flags]
        with LOG.open("wb") as log:
            process = subprocess.Popen(argv, pass_fds=(commands_end, messages_end), stdout=log, stderr=log)
        os.close(commands_end)
        os.close(messages_end)
        connection = Connection(commands, messages)
        try:
            yield Browser(connection)
        finally:
            connection.close()
            process.wait(STOP_SECONDS)


def _can_isolate() -> bool:
    """Return whether Chromium can make a sandbox: not as root, and only where users may have namespaces."""
    probe = ["/usr/bin/env", "unshare", "--user", "--map-root-user", "true"]
    return os.geteuid() != 0 and subprocess.run(probe, capture_output=True, check=False).returncode == 0
