"""The fee models by the names that the chains file gives them."""

from collections.abc import Mapping

from sweepapi.evm.chain.fee_models.costs import FeeModel
from sweepapi.evm.chain.fee_models.nitro import NitroFees
from sweepapi.evm.chain.fee_models.op_stack import OpStackFees
from sweepapi.evm.chain.fee_models.plain import PLAIN

FEE_MODELS: Mapping[str, FeeModel] = {"plain": PLAIN, "op_stack": OpStackFees(), "nitro": NitroFees()}
