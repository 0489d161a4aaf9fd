"""Decides whether a wallet's signatures are good for Permit2 and for tokens' permits, and in which spelling.

Permit2 asks the code of an account that has some, and recovers the key of one without, and so does this. Code may read
a key's signature in one spelling only, so it is asked about the one that the wallet returned and the usual one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sweepapi.errors import FieldError, SignatureInvalid
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.eip712 import TypedData
from sweepapi.evm.wallet.accounts import AccountCode, delegate_of, kind_of, validity_check
from sweepapi.evm.wallet.signatures import key_signature, recovered, unwrapped
from sweepapi.networks import Networks
from sweepapi.rpc import Call
from sweeps.models import Sweep
from sweeps.rails.evm.finalize.signed_instead import alternatives, signed_instead
from sweeps.rails.evm.finalize.stored_offer import Issuer

# Code that checks a passkey in Solidity uses about a million.
CHECK_GAS_LIMIT = 5_000_000

NOT_DEPLOYED = (
    "The signature is one for an account that is deployed while it is used (ERC-6492), which Permit2 can't do. Deploy "
    "the account, and finalize again, or execute the sweep by `calls`."
)
NOT_OF_A_KEY = (
    "{wallet} has no code, so its key must have signed: 65 bytes r, s and v, or 64 as in ERC-2098. These are {count}."
)
NOT_OF_THE_WALLET = "The signature is not that of {wallet}."
REFUSED = "The code of {wallet} refuses the signature. Execute the sweep without one, by `transactions` or `calls`."
REFUSED_BY_DELEGATE = (
    "{wallet} runs the code of {delegate}, which refuses the signature, and Permit2 asks that code. Execute the sweep "
    "without one, by `transactions` or `calls`."
)


@dataclass(frozen=True)
class WalletCode:
    """The wallet's account as the chain shows it now: it may have other code than when the sweep was built."""

    kind: AccountCode
    delegate: str | None  # the contract that it delegates to; None if it does not


@dataclass(frozen=True)
class Verification:
    """What is to be verified: signatures of typed data, that for Permit2 last."""

    issuer: Issuer
    registry: Networks
    sweep: Sweep
    typed_data: Sequence[TypedData]
    signatures: Sequence[bytes] = field(repr=False)

    def keys_signatures(self) -> list[bytes]:
        """Return the signatures of tokens' permits, which only keys make, with r, s and v.

        Raises ``SignatureInvalid``, without reading the chain.
        """
        return [self._of_the_key(i) for i in range(len(self.signatures) - 1)]

    @property
    def calls(self) -> list[Call]:
        """The calls whose answers ``permit2_signature`` takes."""
        wallet, digest = self.sweep.wallet, self._digest(-1)
        permit2 = self.registry.chain(self.sweep.network).permit2
        return [
            Call("eth_getCode", (wallet, "latest"), responses.data),
            *(
                validity_check(account=wallet, digest=digest, signature=spelling, sender=permit2, gas=CHECK_GAS_LIMIT)
                for spelling in self._spellings
            ),
        ]

    def permit2_signature(self, answers: Sequence[Any]) -> tuple[bytes, WalletCode]:
        """Return the signature for Permit2 as it is to be sent, and the wallet's account.

        Raises ``SignatureInvalid``.
        """
        code, *accepted = answers
        wallet = WalletCode(kind_of(code), delegate_of(code))
        if wallet.kind is AccountCode.NONE:
            return self._of_the_key(len(self.signatures) - 1), wallet
        for spelling, answer in zip(self._spellings, accepted, strict=True):
            if answer is True:
                return spelling, wallet
        raise SignatureInvalid(details=list(self._refused(wallet)))

    @property
    def _spellings(self) -> list[bytes]:
        """The signature for Permit2 without its wrapper: as the wallet returned it, and in the usual spelling."""
        signature = self.signatures[-1]
        plain = unwrapped(signature)
        returned = signature if plain is None else plain
        usual = key_signature(returned)
        return list(dict.fromkeys([returned] if usual is None else [returned, usual]))

    def _digest(self, i: int) -> bytes:
        return bytes.fromhex(self.typed_data[i].digest[2:])

    def _of_the_key(self, i: int) -> bytes:
        """Return a signature as it is to be sent; raises ``SignatureInvalid`` unless the wallet's key made it."""
        wallet = self.sweep.wallet
        if unwrapped(self.signatures[i]) is not None:
            raise SignatureInvalid(details=[_detail(i, "not_deployed", NOT_DEPLOYED)])
        signature = key_signature(self.signatures[i])
        if signature is None:
            message = NOT_OF_A_KEY.format(wallet=wallet, count=len(self.signatures[i]))
            raise SignatureInvalid(details=[_detail(i, "not_a_key_signature", message)])
        if recovered(self._digest(i), signature) != wallet:
            message = NOT_OF_THE_WALLET.format(wallet=wallet)
            raise SignatureInvalid(details=[_detail(i, "wrong_signer", message), *self._found_out(i, signature)])
        return signature

    def _refused(self, wallet: WalletCode) -> Iterator[FieldError]:
        """Yield why the account's code may have refused the signature for Permit2."""
        i = len(self.signatures) - 1
        message = REFUSED if wallet.delegate is None else REFUSED_BY_DELEGATE
        yield _detail(i, "refused_by_account", message.format(wallet=self.sweep.wallet, delegate=wallet.delegate))
        usual = key_signature(self._spellings[0])
        if usual is not None:
            yield from self._found_out(i, usual)

    def _found_out(self, i: int, signature: bytes) -> Iterator[FieldError]:
        """Yield whose key made a signature, and what of, if it was the wallet's."""
        asked, wallet = self.typed_data[i], self.sweep.wallet
        signer = recovered(self._digest(i), signature)
        if signer is not None:
            yield _detail(i, "recovered_address", signer)
        tried = alternatives(
            asked, others=self.typed_data, issuer=self.issuer, registry=self.registry, sweep=self.sweep
        )
        words = None if signer == wallet else signed_instead(signature, wallet=wallet, alternatives=tried)
        if words is not None:
            yield _detail(i, "signed_instead", words)


def _detail(i: int, code: str, message: str) -> FieldError:
    return FieldError(f"signatures[{i}]", code, message)
