"""System checks of the settings that every build depends on."""

from collections.abc import Iterator, Sequence

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from sweepapi.evm.chain.chains import HoldingsSource
from sweepapi.evm.chain.errors import ChainsFileError
from sweepapi.networks import Networks
from sweepapi.solana.encoding.addresses import public_key
from sweepapi.solana.encoding.errors import ClustersFileError
from sweeps.rails.registry import FALLBACK, V2, V2_MODES

MODE_VARIABLE = "SERVICE_EVM_BUILD_MODE"


@register()
def check_build_settings(app_configs: Sequence[AppConfig] | None, **_kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """Refuse to start with settings under which the contract would revert every sweep, or every request would fail."""
    problems: list[CheckMessage] = []
    if not 0 <= settings.TOTAL_FEE_BPS <= V2.hard_cap_bps:
        problems.append(Error(f"TOTAL_FEE_BPS must be between 0 and {V2.hard_cap_bps}.", id="sweeps.E002"))
    if not 1 <= settings.MAX_TOKENS <= V2.max_tokens:
        problems.append(Error(f"MAX_TOKENS must be between 1 and {V2.max_tokens}.", id="sweeps.E003"))
    if settings.DISCOVER_LOG_BLOCKS < 1:
        problems.append(Error("DISCOVER_LOG_BLOCKS must be at least 1.", id="sweeps.E013"))
    if settings.ONCHAIN_CANCELLATIONS_PER_DAY < 0:
        problems.append(Error("ONCHAIN_CANCELLATIONS_PER_DAY can't be negative.", id="sweeps.E012"))
    return problems


@register()
def check_build_modes(app_configs: Sequence[AppConfig] | None, **_kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """Refuse to start if a chain would not be built on in the mode that operations meant."""
    try:
        configured = Networks.from_settings()  # not the registry of this process, which is made after a fork
    except ChainsFileError as error:
        return [Error(f"{settings.CHAINS_FILE}: {error}.", id="sweeps.E004")]
    except ClustersFileError as error:
        return [Error(f"{settings.CLUSTERS_FILE}: {error}.", id="sweeps.E008")]
    except OSError as error:
        return [Error(f"{error.filename}: {error.strerror}.", id="sweeps.E011")]
    checks = (
        _sandbox_nodes,
        _holdings_services,
        _unknown_modes,
        _unknown_chains,
        _missing_contracts,
        _differing_fees,
        _incomplete_clusters,
    )
    return [problem for check in checks for problem in check(configured)]


def _sandbox_nodes(configured: Networks) -> Iterator[CheckMessage]:
    """Yield an error for each node that the service could control on a chain where it must not, or could not read."""
    for name in settings.SANDBOX_RPC_URLS:
        chain, variable = configured.chains.get(name), f"SANDBOX_RPC_URL_{name.upper()}"
        if chain is None:
            continue
        if not chain.sandbox:
            yield Error(f"{variable} is set for a chain that is not marked sandbox = true.", id="sweeps.E015")
        elif chain.finality.max_head_age_seconds is not None:
            problem = f"{name} must have no max_head_age_seconds: its clock can be moved"
            yield Error(f"{variable} is set, and {problem}.", id="sweeps.E016")


def _holdings_services(configured: Networks) -> Iterator[CheckMessage]:
    """Yield an error for each service that discover would never ask, or could not."""
    services = {
        HoldingsSource.ALCHEMY: ("ALCHEMY_URL", configured.alchemy_urls),
        HoldingsSource.BLOCKSCOUT: ("BLOCKSCOUT_URL", configured.blockscout_urls),
    }
    for source, (prefix, urls) in services.items():
        for name, url in urls.items():
            chain, variable = configured.chains.get(name), f"{prefix}_{name.upper()}"
            if chain is None:
                problem = f"is set for an unknown chain; the chains are {', '.join(configured.chains)}"
                yield Error(f"{variable} {problem}.", id="sweeps.E017")
            elif source not in chain.holdings_sources:
                problem = f"is set, and holdings_sources of {name} in {settings.CHAINS_FILE.name} lacks {source}"
                yield Error(f"{variable} {problem}.", id="sweeps.E018")
            elif not url.startswith(("https://", "http://")):
                yield Error(f"{variable} must be a URL.", id="sweeps.E019")


def _unknown_modes(configured: Networks) -> Iterator[CheckMessage]:
    of_chains = {_variable(name): mode for name, mode in configured.build_modes.items()}
    for variable, mode in {MODE_VARIABLE: configured.default_build_mode, **of_chains}.items():
        if mode not in V2_MODES:
            yield Error(f"{variable} is {mode!r}; it must be one of {', '.join(V2_MODES)}.", id="sweeps.E001")


def _unknown_chains(configured: Networks) -> Iterator[CheckMessage]:
    for name in configured.build_modes:
        if name not in configured.chains:
            chains = f"the chains of {settings.CHAINS_FILE.name} are {', '.join(configured.chains)}"
            yield Error(f"{_variable(name)} is set for an unknown chain; {chains}.", id="sweeps.E005")


def _missing_contracts(configured: Networks) -> Iterator[CheckMessage]:
    for chain in configured.enabled:
        if configured.build_modes.get(chain.name) == FALLBACK and chain.v4_contract is None:
            contract = f"{settings.CHAINS_FILE.name} has no V4 contract of {chain.name}"
            yield Error(f"{_variable(chain.name)} is {FALLBACK}, and {contract}.", id="sweeps.E007")


def _differing_fees(configured: Networks) -> Iterator[CheckMessage]:
    """Yield an error for each chain where the fallback takes another fee than the one that partners are shown."""
    for chain in configured.enabled:
        # A chain without this fee has no contracts either, so nothing can be built there.
        if configured.build_mode(chain.network) == FALLBACK and chain.v4_fee_bps not in (None, settings.TOTAL_FEE_BPS):
            fees = f"v4_fee_bps is {chain.v4_fee_bps} in {settings.CHAINS_FILE.name}, and TOTAL_FEE_BPS is"
            yield Error(
                f"{chain.name} is in {FALLBACK}, where its V4 contract determines the fee: "
                f"{fees} {settings.TOTAL_FEE_BPS}. They must be equal.",
                id="sweeps.E006",
            )


def _incomplete_clusters(configured: Networks) -> Iterator[CheckMessage]:
    """Yield an error for each thing that sweeps on Solana need and the environment does not give."""
    if not configured.enabled_clusters:
        return
    if not _is_key(configured.fee_wallet):
        yield Error("SOLANA_FEE_WALLET must be a wallet's key in base58.", id="sweeps.E009")
    if not configured.swap_api_url.startswith(("https://", "http://")):
        yield Error("SWAP_API_URL must be the URL of a swap API.", id="sweeps.E010")
    if configured.swap_api_requests_per_minute < 1:
        yield Error("SWAP_API_REQUESTS_PER_MINUTE must be at least 1.", id="sweeps.E020")


def _is_key(text: str) -> bool:
    try:
        return public_key(text).is_on_curve()
    except ValueError:
        return False


def _variable(chain_name: str) -> str:
    return f"{MODE_VARIABLE}_{chain_name.upper()}"
