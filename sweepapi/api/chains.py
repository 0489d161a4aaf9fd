"""Serializer fields that take the name of a chain and give its CAIP-2 identifier."""

from sweepapi import networks
from sweepapi.api.fields import StrictCharField
from sweepapi.errors import FieldError, UnsupportedChain


class ChainField(StrictCharField):
    """The name of an enabled chain, of any family.

    Raises ``UnsupportedChain`` for any other, whatever else is wrong with the request.
    """

    listed = "GET /v1/status and GET /v2/status list the chains."

    def to_internal_value(self, data: str) -> str:
        """Return the chain's identifier."""
        return self.network(self.find(data))

    def network(self, found: str | None) -> str:
        if found is None:
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
    """The name of an enabled Solana cluster; without it, the first one that is enabled."""

    listed = "GET /v1/status lists the chains."

    def get_default(self) -> str:
        """Return the identifier of the first cluster."""
        return self.network(next((cluster.network for cluster in networks.current().enabled_clusters), None))

    def find(self, name: str) -> str | None:
        named = (cluster.network for cluster in networks.current().enabled_clusters if cluster.name == name)
        return next(named, None)
