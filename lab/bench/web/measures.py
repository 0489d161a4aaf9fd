"""Chromium visits the documentation for the first time; gunicorn serves it, on the same machine, as in production."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

from dev.browser.browser import Browser, running
from dev.ports import free_port
from dev.processes.process import Program
from dev.processes.supervisor import Supervisor
from dev.processes.waiting import api_answers
from lab.bench.report import Section, Target
from lab.bench.web.pages import BUILD_PAGE, DESK_PIXELS, HEIGHT, MOST_BYTES, MOST_PIXELS, paths_of, visit
from sweepapi.api.openapi.site import FOLDER

VISITS = 5
MOST_PAINT_MS = 1_000


@contextmanager
def prepared() -> Iterator[Sequence[Callable[[], Section]]]:
    """Yield what to measure."""
    folder = Path(os.environ["DEV_WORLD_FILE"]).parent / "web"
    with Supervisor(folder) as supervisor, running() as chromium:
        url = _served(supervisor)
        yield [partial(first_paint, chromium, url), partial(weight_and_height, chromium, url)]


def first_paint(chromium: Browser, url: str) -> Section:
    """Visit the build's page with an empty cache, a few times."""
    rows = []
    for number in range(1, VISITS + 1):
        with chromium.page(width=DESK_PIXELS) as page:
            visit(page, url + BUILD_PAGE)
            rows.append({"visit": number, "ms to the largest paint": round(page.largest_paint_ms())})
    middle = median(row["ms to the largest paint"] for row in rows)
    target = Target("ms to the largest paint of the build's page at the median", middle, MOST_PAINT_MS)
    return Section("First visits of the build's page", rows, [target])


def weight_and_height(chromium: Browser, url: str) -> Section:
    """Visit each page with an empty cache."""
    rows = []
    with chromium.page(width=DESK_PIXELS) as page:
        page.disable_cache()
        for path in paths_of(FOLDER):
            visit(page, url + path)
            rows.append({"page": path, "bytes as sent": page.bytes_received, "pixels tall": page.evaluate(HEIGHT)})
    (tall,) = (row["pixels tall"] for row in rows if row["page"] == BUILD_PAGE)
    targets = [
        Target("bytes of the largest page as sent", max(row["bytes as sent"] for row in rows), MOST_BYTES),
        Target(f"pixels from top to bottom of the build's page, {DESK_PIXELS} wide", tall, MOST_PIXELS),
    ]
    return Section("Pages of the documentation", rows, targets)


def _served(supervisor: Supervisor) -> str:
    """Serve the documentation as in production, and return the URL of the service."""
    bind = f"127.0.0.1:{free_port()}"
    argv = [str(Path(sys.executable).parent / "gunicorn"), "--config", "python:config.gunicorn", "config.wsgi"]
    web = Program(name="web", argv=argv, env={"BIND": bind}, log=supervisor.folder / "web.log")
    supervisor.start(web, ready=partial(api_answers, f"http://{bind}"))
    return f"http://{bind}"
