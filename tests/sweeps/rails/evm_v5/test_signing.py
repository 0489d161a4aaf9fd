"""Whatever was planned, an authorization is only signed if it pays what is stored for the partner."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from partners.models import Partner
from sweepapi import networks
from sweepapi.evm.contracts import v5
from sweepapi.evm.encoding.eip712 import TypedData
from sweepapi.evm.signers import LocalFeeSigner
from sweeps.models import Sweep
from sweeps.rails.evm_v5.issuing import MAX_PLAN_AGE, UnexpectedTermsError, sign_authorization
from sweeps.rails.evm_v5.models import FeeAuthorization
from tests.factories.partners import FeeShareFactory, PartnerFactory, PayoutWalletFactory
from tests.factories.sweeps import LOCAL
from tests.partner_app import PartnerApp, error_of

pytestmark = pytest.mark.django_db

OTHER = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
OTHER_ID = "0x" + "11" * 32


@pytest.fixture
def signatures(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every signature of the fee signer so far."""
    made: list[bytes] = []
    sign = LocalFeeSigner._signature_of  # noqa: SLF001 every signature is made by it

    def recorded(signer: LocalFeeSigner, preimage: bytes) -> bytes:
        made.append(sign(signer, preimage))
        return made[-1]

    monkeypatch.setattr(LocalFeeSigner, "_signature_of", recorded)
    return made


@pytest.fixture
def authorization(partner: Partner) -> v5.Authorization:
    """What a new sweep of the partner needs signed."""
    recipient, protocol = partner.recipient_on(LOCAL), networks.current().chain(LOCAL).protocol_recipient
    assert recipient is not None
    assert protocol is not None
    return v5.Authorization(
        user=OTHER,
        partner_id=partner.onchain_id,
        partner_recipient=recipient,
        protocol_recipient=protocol,
        output_token=OTHER,
        total_fee_bps=75,
        partner_share_bps=4000,
        nonce=0,
        deadline=1,
        legs_hash=OTHER_ID,
    )


def typed(authorization: v5.Authorization) -> TypedData:
    chain = networks.current().chain(LOCAL)
    assert chain.v5_contract is not None
    return authorization.typed_data(chain_id=chain.chain_id, contract=chain.v5_contract)


def sign(partner: Partner, typed_data: TypedData, renewed: Sweep | None = None) -> bytes:
    return sign_authorization(
        typed_data, registry=networks.current(), network=LOCAL, partner_id=partner.id, renewed=renewed
    )


def refusal(partner: Partner, typed_data: TypedData, renewed: Sweep | None = None) -> str:
    with pytest.raises(UnexpectedTermsError) as caught:
        sign(partner, typed_data, renewed)
    return str(caught.value)


def test_the_stored_terms_are_signed(
    partner: Partner, authorization: v5.Authorization, signatures: list[bytes]
) -> None:
    assert sign(partner, typed(authorization)) == signatures[0]
    assert sign(partner, typed(replace(authorization, total_fee_bps=300))) == signatures[1]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("partnerId", OTHER_ID),
        ("partnerRecipient", OTHER),
        ("protocolRecipient", OTHER),
        ("partnerShareBps", 4001),
        ("partnerShareBps", 3999),
        ("totalFeeBps", 301),
        ("chainId", 1),
        ("verifyingContract", OTHER),
    ],
)
def test_terms_that_are_not_stored_are_named_and_not_signed(
    partner: Partner, authorization: v5.Authorization, signatures: list[bytes], field: str, value: Any
) -> None:
    stored = typed(authorization)
    part = "domain" if field in stored.domain else "message"
    changed = replace(stored, **{part: getattr(stored, part) | {field: value}})
    assert refusal(partner, changed).startswith(f"{field} is {value}, ")
    assert signatures == []


def test_the_terms_of_one_partner_are_not_signed_for_another(
    partner: Partner, authorization: v5.Authorization, signatures: list[bytes]
) -> None:
    assert refusal(PartnerFactory.create(), typed(authorization)).startswith(f"partnerId is {partner.onchain_id}, not ")
    assert signatures == []


def test_the_wallet_of_the_chain_and_not_the_default_is_signed(
    partner: Partner, authorization: v5.Authorization
) -> None:
    wallet = PayoutWalletFactory.create(partner=partner, network=LOCAL)
    assert "partnerRecipient" in refusal(partner, typed(authorization))
    assert sign(partner, typed(replace(authorization, partner_recipient=wallet.address)))


def test_a_share_that_was_replaced_while_the_sweep_was_planned_is_signed(
    partner: Partner, authorization: v5.Authorization
) -> None:
    new = replace(authorization, partner_share_bps=5000)
    assert "partnerShareBps" in refusal(partner, typed(new))
    FeeShareFactory.create(partner=partner, share_bps=5000, effective_from=timezone.now())
    assert sign(partner, typed(authorization))
    assert sign(partner, typed(new))


def test_a_share_that_was_replaced_before_and_one_of_the_future_are_not_signed(
    partner: Partner, authorization: v5.Authorization
) -> None:
    now = timezone.now()
    FeeShareFactory.create(partner=partner, share_bps=5000, effective_from=now - MAX_PLAN_AGE)
    FeeShareFactory.create(partner=partner, share_bps=6000, effective_from=now + timedelta(hours=1))
    assert "partnerShareBps is 4000, not 5000" in refusal(partner, typed(authorization))
    assert "partnerShareBps is 6000, not 5000" in refusal(
        partner, typed(replace(authorization, partner_share_bps=6000))
    )


def test_another_offer_is_signed_under_the_terms_of_its_sweep_and_no_others(
    app: PartnerApp, partner: Partner, authorization: v5.Authorization
) -> None:
    app.build()
    sweep, first = Sweep.objects.get(), FeeAuthorization.objects.get()
    renewed = replace(
        authorization,
        user=sweep.wallet,
        output_token=sweep.output_asset,
        partner_recipient=first.partner_recipient,
        nonce=first.nonce,
        deadline=int(sweep.deadline.timestamp()),
    )
    FeeShareFactory.create(partner=partner, share_bps=5000, effective_from=timezone.now() - MAX_PLAN_AGE)
    PayoutWalletFactory.create(partner=partner, network=LOCAL)
    assert sign(partner, typed(renewed), sweep)
    others: dict[str, Any] = {
        "user": OTHER,
        "output_token": OTHER,
        "partner_recipient": OTHER,
        "protocol_recipient": OTHER,
        "total_fee_bps": 76,
        "partner_share_bps": 5000,
        "nonce": first.nonce + 1,
        "deadline": renewed.deadline + 1,
    }
    for field, value in others.items():
        assert refusal(partner, typed(replace(renewed, **{field: value})), sweep)
    sweep.executions.update(venue=OTHER)
    assert "verifyingContract" in refusal(partner, typed(renewed), sweep)
    with pytest.raises(Sweep.DoesNotExist):
        sign(other := PartnerFactory.create(), typed(replace(renewed, partner_id=other.onchain_id)), sweep)


def test_the_partner_sees_an_internal_error_and_operations_see_the_difference(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, nothing_is_stored: None
) -> None:
    assert nothing_is_stored is None
    monkeypatch.setattr(Partner, "share_bps_at", lambda _partner, _time: 10_000)
    response = app.post_build(app.body())
    assert error_of(response) == (500, "internal_error")
    assert "partnerShareBps" not in response.content.decode()
    assert "UnexpectedTermsError: partnerShareBps is 10000, not 4000" in caplog.text
