"""The form of a payout: what was paid."""

from collections.abc import Sequence
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from ledger.assets import KnownAssets
from ledger.balances import Balance
from sweepapi import networks


class PayoutForm(forms.Form):
    """What an operator paid, in an asset in which the partner has accrued fees."""

    asset = forms.ChoiceField(widget=UnfoldAdminSelectWidget, help_text="What is available of each asset.")
    amount = forms.RegexField(
        r"\A[0-9]{1,78}\Z",
        widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "numeric", "autocomplete": "off"}),
        help_text="In the asset's smallest unit.",
        error_messages={"invalid": "Enter a whole number of the asset's smallest unit."},
    )
    tx_hash = forms.CharField(
        label="Transaction hash",
        max_length=100,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="On Solana, the transaction's first signature.",
    )
    note = forms.CharField(max_length=500, required=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}))

    def __init__(self, data: Any, balances: Sequence[Balance], assets: KnownAssets) -> None:  # noqa: ANN401 a QueryDict or None
        super().__init__(data)
        self.fields["asset"].choices = [  # type: ignore[attr-defined]
            (f"{balance.network}/{balance.asset}", _label(balance, assets)) for balance in balances
        ]

    def clean_amount(self) -> int:
        return int(self.cleaned_data["amount"])


def _label(balance: Balance, assets: KnownAssets) -> str:
    available = assets.amount(balance, max(balance.available, 0))
    return f"{available} on {networks.current().name_of(balance.network)}, {balance.asset}"
