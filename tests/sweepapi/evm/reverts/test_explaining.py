"""Every reason becomes a sentence, with the token that caused it if that is known."""

import pytest

from sweepapi.evm.encoding.abi import error_abi
from sweepapi.evm.reverts.decoding import OTHER_ERRORS, RevertReason
from sweepapi.evm.reverts.explaining import ERRORS, MESSAGES, explain

TOKENS = ("0x" + "11" * 20, "0x" + "22" * 20)


def message_of(reason: RevertReason) -> str:
    return explain(reason, tokens=TOKENS).message


def failed_leg(index: int, cause: RevertReason | None = None) -> RevertReason:
    return RevertReason("LegFailed", {"leg": str(index), "target": "0x"}, leg_index=index, cause=cause)


def below_least(index: int) -> RevertReason:
    return RevertReason("BelowLeast", {"leg": str(index), "got": "5", "least": "7"}, leg_index=index)


def declared_errors() -> dict[str, set[str]]:
    """Return the arguments of every known error by its name."""
    exported = [*error_abi("ServiceBatchV5PartnerFees"), *error_abi("ServiceBatchV4")]
    ours = {entry["name"]: {field["name"] for field in entry["inputs"]} for entry in exported}
    others = {
        signature[: signature.index("(")]: {part.split()[1] for part in signature[:-1].split("(")[1].split(",") if part}
        for signature in OTHER_ERRORS
    }
    return ours | others


def test_a_failed_leg_names_its_token_and_explains_its_routers_error() -> None:
    explained = explain(failed_leg(1, RevertReason("Error", {"message": "Too little received"})), tokens=TOKENS)
    assert explained.message == "The swap of the token failed. The price moved: the output was below the minimum."
    assert explained.token == TOKENS[1]


def test_a_pool_that_pays_too_little_is_explained_with_the_figures() -> None:
    explained = explain(failed_leg(0, below_least(0)), tokens=TOKENS)
    sentence = "The price moved: the swap would give 5, less than the minimum of 7."
    assert (explained.message, explained.token) == (f"The swap of the token failed. {sentence}", TOKENS[0])
    assert explain(below_least(1), tokens=TOKENS).message == sentence


@pytest.mark.parametrize("reason", [failed_leg(2, below_least(2)), below_least(2)], ids=["of the pool", "of the sum"])
def test_the_leg_behind_the_last_token_is_the_last_hop(reason: RevertReason) -> None:
    explained = explain(reason, tokens=TOKENS)
    sentence = "The price moved: the swap would give 5, less than the minimum of 7."
    assert (explained.message, explained.token) == (f"The last hop failed. {sentence}", None)


def test_an_unknown_leg_names_no_token() -> None:
    assert explain(failed_leg(3), tokens=TOKENS).token is None
    assert explain(failed_leg(2**256 - 1), tokens=TOKENS).token is None


def test_a_failed_transfer_is_explained_by_what_permit2_or_the_token_says() -> None:
    signer = explain(RevertReason("PullFailed", cause=RevertReason("InvalidSigner")), tokens=TOKENS)
    assert signer.message == "The Permit2 signature is not the sender's signature of this sweep."
    refused = RevertReason("SafeERC20FailedOperation", {"token": TOKENS[1]})
    assert explain(RevertReason("PullFailed", cause=refused), tokens=TOKENS).token == TOKENS[1]
    assert message_of(RevertReason("PullFailed")) == "The tokens could not be taken from the wallet."


def test_a_token_that_the_error_names_counts_only_if_the_sweep_has_it() -> None:
    for named, told in ((TOKENS[1], TOKENS[1]), ("0x" + "33" * 20, None)):
        assert explain(RevertReason("SafeERC20FailedOperation", {"token": named}), tokens=TOKENS).token == told


@pytest.mark.parametrize(("tokens", "told"), [(TOKENS, None), (TOKENS[:1], TOKENS[0])])
def test_a_token_that_permit2_could_not_take_is_known_where_there_is_only_one(
    tokens: tuple[str, ...], told: str | None
) -> None:
    reason = RevertReason("PullFailed", cause=RevertReason("Error", {"message": "TRANSFER_FROM_FAILED"}))
    assert explain(reason, tokens=tokens).token == told


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        (RevertReason("Error", {"message": "no"}), 'The call failed with the message "no".'),
        (RevertReason("Panic", {"code": "17"}), "The called code panicked: an arithmetic operation overflowed."),
        (RevertReason("Panic", {"code": "65"}), "The called code panicked: code 65."),
        (RevertReason("0xdeadbeef"), "The call failed with the error 0xdeadbeef()."),
        (
            RevertReason("InvalidHop", {"leg": "1", "hop": "7"}, leg_index=1),
            "The call failed with the error InvalidHop(leg: 1, hop: 7).",
        ),
        (RevertReason(""), "The call failed without a reason, as it does when the gas runs out."),
        (failed_leg(0), "The swap of the token failed."),
        (
            RevertReason("InsufficientUserOutput", {"received": "4", "minimum": "5"}),
            "The user would have received 4, less than the signed minimum of 5.",
        ),
    ],
)
def test_every_kind_of_reason_has_a_sentence(reason: RevertReason, message: str) -> None:
    assert message_of(reason) == message


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_a_sentence_uses_only_arguments_that_its_error_has(name: str) -> None:
    arguments = dict.fromkeys(declared_errors()[name], "7")
    assert message_of(RevertReason(name, arguments)).endswith(".")


def test_text_of_a_hostile_token_is_not_a_template() -> None:
    assert "{token.__class__}" in message_of(RevertReason("Error", {"message": "{token.__class__}"}))


def test_messages_are_sentences() -> None:
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in MESSAGES.values())
