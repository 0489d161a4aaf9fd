"""Serializer fields that take the name of a chain and give its CAIP-2 identifier.

A serializer with one of them needs the ``mode`` of the request's key in its context.
"""

from sweepapi import networks
from sweepapi.api.input.fields import StrictCharField
from sweepapi.errors import FieldError, UnsupportedChain
from sweepapi.modes import mode_of


class ChainField(StrictCharField):
    """The name of an enabled chain, of any family, that the key reaches.

    Raises ``UnsupportedChain`` for any other, whatever else is wrong with the request.
    """

    listed = "GET /v1/status and GET /v2/status list the chains."

    def to_internal_value(self, data: str) -> str:
        """Return the chain's identifier."""
        return self.network(self.find(data))

    def network(self, found: str | None) -> str:
        if found is None or mode_of(found) != self.context["mode"]:
            raise UnsupportedChain(details=[FieldError(str(self.field_name), "unsupported", self.listed)])
        return found

    def find(self, name: str) -> str | None:
        """Return the identifier of the chain of this name; None if the endpoint does not serve it."""
        return networks.current().network_named(name)


class EvmChainField(ChainField):
    """The name of an enabled EVM chain."""

    listed = "GET /v2/status lists the chains."

    def find(self, name: str) -> str | None:
        chain = networks.current().find(name)
        return None if chain is None else chain.network


class ClusterField(ChainField):
    """The name of an enabled Solana cluster; without it, the first one that is enabled and that the key reaches."""

    listed = "GET /v1/status lists the chains."

    def get_default(self) -> str:
        """Return the identifier of the first cluster."""
        enabled = (cluster.network for cluster in networks.current().enabled_clusters)
        return self.network(next((network for network in enabled if mode_of(network) == self.context["mode"]), None))

    def find(self, name: str) -> str | None:
        named = (cluster.network for cluster in networks.current().enabled_clusters if cluster.name == name)
        return next(named, None)
