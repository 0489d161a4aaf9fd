"""Where the fee signer's key may be: in memory, in an encrypted file, in AWS KMS, or behind a Web3Signer."""

from sweepapi.evm.signers.configured import SignerSettings, make_signer
from sweepapi.evm.signers.fee_signer import FeeSigner
from sweepapi.evm.signers.local import LocalFeeSigner

__all__ = ["FeeSigner", "LocalFeeSigner", "SignerSettings", "make_signer"]
