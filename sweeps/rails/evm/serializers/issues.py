"""What keeps a built sweep from being sent: missing approvals, tokens and coins, and what the simulation showed."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from sweepapi.api.input.fields import AmountOutputField, EvmAddressField, OpenEnumField
from sweepapi.evm.trial.trial_result import SimulationStatus
from sweepapi.evm.worth.ways import WayKind
from sweeps.rails.evm.build.issues import allowance_issues, balance_issues, gas_issues
from sweeps.rails.evm.build.stages import EvmPlanned
from sweeps.rails.evm.serializers.executions import WalletSerializer
from sweeps.rails.evm.serializers.transactions import ApprovalTransactionSerializer
from sweeps.serializers.rendering import rendered
from sweeps.serializers.worth import GasIssueSerializer


class AllowanceIssueSerializer(serializers.Serializer[Any]):
    """A token that Permit2 may not transfer yet, and the approvals that the user has to send."""

    token = EvmAddressField()
    spender = EvmAddressField()
    actual = AmountOutputField()
    required = AmountOutputField()  # type: ignore[assignment]  # DRF takes declared fields out of the class
    resetTransaction = ApprovalTransactionSerializer(
        source="reset_transaction", allow_null=True, help_text="Send this first, unless it is null."
    )
    transaction = ApprovalTransactionSerializer()


class BalanceIssueSerializer(serializers.Serializer[Any]):
    """A token of which the user holds too little."""

    token = EvmAddressField()
    actual = AmountOutputField()
    required = AmountOutputField()  # type: ignore[assignment]  # DRF takes declared fields out of the class


class WayGasIssueSerializer(GasIssueSerializer):
    """A way to execute the sweep that the user's coins do not pay for; amounts in wei."""

    execution = OpenEnumField(values=list(WayKind), help_text="The kind of the entry of `executions`.")
    needed = AmountOutputField(
        help_text="The most that is asked for before one of the transactions: what those before it cost, its limit at "
        "`maxFeePerGas`, and the fee for data."
    )
    maxFeePerGas = AmountOutputField(source="max_fee_per_gas", help_text="Twice the base fee, and the tip.")


class SimulationSerializer(serializers.Serializer[Any]):
    """What the chain does with the sweep now, tried as the user's own calls before anything is approved or signed."""

    status = serializers.ChoiceField(
        choices=list(SimulationStatus),
        help_text="`skipped` if it could not be tried; `reason` says why.",
    )
    method = serializers.CharField(
        allow_null=True,
        help_text="The JSON-RPC method: `eth_simulateV1`, or `eth_call` where no provider has that. A call replaces "
        "the wallet's code, so it may miss a token that treats accounts without code differently. Null if the sweep "
        "was not tried.",
    )
    gasUsed = AmountOutputField(
        source="gas_used", allow_null=True, help_text="By `sweepAsCaller`, after refunds; null unless it succeeded."
    )
    grossOutput = AmountOutputField(
        source="gross_output", allow_null=True, help_text="Before the fee; null unless it succeeded."
    )
    failingToken = EvmAddressField(source="failing_token", allow_null=True)
    target = EvmAddressField(allow_null=True, help_text="The pool or router that failed; null if it was neither.")
    reason = serializers.CharField(allow_null=True, help_text="A sentence; null if it succeeded.")


class BuildIssuesSerializer(serializers.Serializer[Any]):
    """What the user can still fix before signing."""

    allowance = serializers.SerializerMethodField()
    balance = serializers.SerializerMethodField()
    gas = serializers.SerializerMethodField()
    wallet = WalletSerializer()
    simulation = SimulationSerializer()

    @extend_schema_field(AllowanceIssueSerializer(many=True))
    def get_allowance(self, planned: EvmPlanned) -> Any:  # noqa: ANN401 - JSON
        return [rendered(AllowanceIssueSerializer, issue) for issue in allowance_issues(planned)]

    @extend_schema_field(BalanceIssueSerializer(many=True))
    def get_balance(self, planned: EvmPlanned) -> Any:  # noqa: ANN401 - JSON
        return [rendered(BalanceIssueSerializer, issue) for issue in balance_issues(planned)]

    @extend_schema_field(WayGasIssueSerializer(many=True))
    def get_gas(self, planned: EvmPlanned) -> Any:  # noqa: ANN401 - JSON
        return [rendered(WayGasIssueSerializer, issue) for issue in gas_issues(planned)]
