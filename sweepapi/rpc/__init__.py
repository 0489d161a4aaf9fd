"""JSON-RPC over several providers of one network: deadlines, failover, health, and agreement between providers."""

from sweepapi.rpc.calls import Call, ErrorPolicy
from sweepapi.rpc.pool import MIN_TIMEOUT_SECONDS, ProviderPool
from sweepapi.rpc.provider import Provider

__all__ = ["MIN_TIMEOUT_SECONDS", "Call", "ErrorPolicy", "Provider", "ProviderPool"]
