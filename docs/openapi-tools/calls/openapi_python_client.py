"""A partner's calls by the client that openapi-python-client generates."""

from uuid import UUID

from sweep_partner_api import AuthenticatedClient
from sweep_partner_api.api.sweeps import build_sweep, confirm_sweep, get_sweep
from sweep_partner_api.models import BuildRequest, ConfirmRequest, Failure

client = AuthenticatedClient(
    base_url="https://api.example.com", token="swp_test_key", prefix="", auth_header_name="x-api-key"
)
request = BuildRequest.from_dict(
    {
        "chain": "base",
        "wallet": "0xC45AbE1c48539b9D69801EF05c5dB34155fe45CF",
        "tokens": [{"mint": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "amount": "25000000"}],
        "outputMint": "0x4200000000000000000000000000000000000006",
        "slippageBps": 50,
    }
)


def build() -> UUID:
    answer = build_sweep.sync(client=client, body=request, idempotency_key="order-17")
    if answer is None or isinstance(answer, Failure):
        raise SystemExit("no answer" if answer is None else f"{answer.error.code} ({answer.error.request_id})")
    return answer.data.sweep_id


def confirm(sweep_id: UUID, tx_hash: str) -> str | None:
    answer = confirm_sweep.sync(sweep_id, client=client, body=ConfirmRequest(tx_hash=tx_hash))
    if answer is None or isinstance(answer, Failure):
        raise SystemExit("no answer" if answer is None else answer.error.message)
    fees = answer.data.fee_authorization.actual_fees
    return fees.user_amount if fees else None


async def status(sweep_id: UUID) -> str:
    response = await get_sweep.asyncio_detailed(sweep_id, client=client)
    match response.parsed:
        case Failure() as failure:
            return failure.error.code
        case None:
            return str(response.status_code)
        case answer:
            return answer.data.status
