"""What the V5 rail follows of a sweep of one token, as plain values for tests without a database."""

from uuid import uuid4

from ledger.models import Settlement
from sweeps.protocol.rail import FeeTerms
from sweeps.rails.evm.follow.followed import FollowedEvmSweep
from sweeps.rails.evm_v5.terms import V5Terms
from tests.factories.sweeps import CONTRACT, OUTPUT, random_checksum_address

TOKEN = random_checksum_address()
TERMS = V5Terms(
    nonce=2**255 + 7,
    user=random_checksum_address(),
    partner_id="0x" + "da" * 32,
    output_token=OUTPUT,
    tokens=(TOKEN,),
    floors=(982_575,),
    max_skipped=0,
    fees=FeeTerms(75, 4000, random_checksum_address(), random_checksum_address(), Settlement.ON_CHAIN),
)
FOLLOWED = FollowedEvmSweep(
    sweep_id=uuid4(),
    execution_id=uuid4(),
    contract=CONTRACT,
    terms=TERMS,
    deadline=1_700_001_000,
    built_at_height=10,
    search_cursor="",
    tx_hashes=(),
    accepted=None,
    most_on_one_word=2_000_000,
    waited_for=frozenset(),
)
