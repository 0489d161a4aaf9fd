"""The web worker with less patience, so that a test need not wait for five seconds."""

from config.web_worker import WebWorker


class HastyWorker(WebWorker):
    request_seconds = 0.3
