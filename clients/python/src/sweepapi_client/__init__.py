"""Turn a wallet's small tokens into one: every operation of the API, sync and async, for the server that holds the key.

`sweepapi_client.types` has the shapes of requests and answers, for type checkers.
"""

from sweepapi_client.clients import AsyncSweepClient, SweepClient
from sweepapi_client.errors import NoAnswerError, SweepApiError
from sweepapi_client.offers import NATIVE_COIN, finalized, token_inputs

__all__ = [
    "NATIVE_COIN",
    "AsyncSweepClient",
    "NoAnswerError",
    "SweepApiError",
    "SweepClient",
    "finalized",
    "token_inputs",
]
