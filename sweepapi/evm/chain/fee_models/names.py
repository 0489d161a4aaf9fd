"""The fee models by the names that the chains file gives them."""

from collections.abc import Mapping

from sweepapi.evm.chain.fee_models.costs import FeeModel
from sweepapi.evm.chain.fee_models.op_stack import OpStackFees
from sweepapi.evm.chain.fee_models.plain import PlainFees

FEE_MODELS: Mapping[str, FeeModel] = {"plain": PlainFees(), "op_stack": OpStackFees()}
