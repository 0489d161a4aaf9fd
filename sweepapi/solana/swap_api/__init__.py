"""Quotes and instructions of a swap API with Jupiter's interface: ``GET /build``."""

from sweepapi.solana.swap_api.client import SwapApi
from sweepapi.solana.swap_api.quotes import (
    NoQuote,
    QuoteAnswer,
    QuoteRequest,
    RateLimitedError,
    SwapApiError,
    SwapApiQuote,
)

__all__ = ["NoQuote", "QuoteAnswer", "QuoteRequest", "RateLimitedError", "SwapApi", "SwapApiError", "SwapApiQuote"]
