"""Operations see whether the configured fee signer signs, and as which account, before they use it."""

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from sweepapi import networks
from sweepapi.evm.signers import SignerSettings
from sweepapi.networks import Networks
from tests import fake_web3signer
from tests.sweepapi.evm.signers.cases import ADDRESS, KEY


def test_the_configured_signer_signs_and_its_address_is_printed() -> None:
    out = StringIO()
    call_command("check_fee_signer", stdout=out)
    assert out.getvalue() == f"{networks.current().fee_signer.address} signs.\n"


def test_a_remote_signer_that_does_not_sign_is_reported(change_networks: Callable[..., Networks]) -> None:
    with fake_web3signer.running(KEY) as fake:
        change_networks(fee_signer_settings=SignerSettings("web3signer", web3signer_url=f"{fake.url}", address=ADDRESS))
        call_command("check_fee_signer", stdout=StringIO())
        fake.alter = lambda _answer: (503, "")
        with pytest.raises(CommandError, match=r"The fee signer does not sign: Web3Signer answered with status 503\."):
            call_command("check_fee_signer")
