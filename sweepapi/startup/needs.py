"""What a kind of process can't start without. Compose gives each no other secret, and migrations need none of these."""

from collections.abc import Collection, Iterator

from django.conf import settings

from sweepapi.evm.chain.errors import FeeSignerSettingsError
from sweepapi.evm.signers import make_signer
from sweepapi.networks import signer_settings
from sweepapi.startup.known_keys import KNOWN_ADDRESSES
from sweepapi.startup.secrets import secret_key

KEYS = (
    "SECRET_KEY",
    "API_KEY_PEPPER",
    "WEBHOOK_KEYS",
    "PROOF_KEY",
    "FEE_SIGNER_KEY",
    "SWAP_API_KEY",
    "BLOCKSCOUT_KEY",
)
FEE_SIGNER = "FEE_SIGNER"  # the variables of the chosen kind
STORES = ("DATABASE_URL", "REDIS_URL")  # of every process that stays
CONSOLE = (*STORES, "SECRET_KEY", "API_KEY_PEPPER", "ALLOWED_HOSTS")
WEB = (*STORES, "SECRET_KEY", "API_KEY_PEPPER", "WEBHOOK_KEYS", "PROOF_KEY", "ALLOWED_HOSTS", FEE_SIGNER)


def missing(needed: Collection[str]) -> Iterator[str]:
    """Yield a sentence for each that is not set, or that can't work."""
    for name in needed:
        if name == FEE_SIGNER:
            yield from _fee_signer()
        elif not _is_set(name):
            yield f"{name} must be set."


def _is_set(name: str) -> bool:
    if name == "DATABASE_URL":
        return bool(settings.DATABASES["default"].get("NAME"))
    return bool(secret_key() if name == "SECRET_KEY" else getattr(settings, name))


def _fee_signer() -> Iterator[str]:
    try:
        signer = make_signer(signer_settings())
    except FeeSignerSettingsError as error:
        yield str(error)
        return
    if signer.address in KNOWN_ADDRESSES and settings.FEE_SIGNER != "local":  # whose key is looked at with the others
        yield f"FEE_SIGNER: everyone knows the key of {signer.address}."
