"""What a transaction does is told in a sentence that no token's symbol can turn into a message."""

import pytest

from sweepapi.solana.worth.sentence import Deeds, name_of

MINT = "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263"
PAID = "1.5 USDC"


@pytest.mark.parametrize(
    ("deeds", "sentence"),
    [
        (Deeds(sold=["BONK"], received=PAID), "Sells BONK for about 1.5 USDC."),
        (
            Deeds(sold=["BONK", "$WIF"], received=PAID, closed=1, rent_lamports=10**7),
            "Sells BONK and $WIF for about 1.5 USDC, closes a token account and returns 0.01 SOL.",
        ),
        (Deeds(closed=12, rent_lamports=10**7), "Closes 12 token accounts and returns 0.01 SOL."),
        (Deeds(sold=["A", "B", "C", "D"], received=PAID), "Sells A, B, C and D for about 1.5 USDC."),
        (Deeds(sold=["A"] * 5, received=PAID), "Sells 5 tokens for about 1.5 USDC."),
        (Deeds(burnt=["SPAM"]), "Burns SPAM."),
        (
            Deeds(burnt=["SPAM", "SCAM"], closed=2, rent_lamports=10**9),
            "Burns SPAM and SCAM, closes 2 token accounts and returns 1 SOL.",
        ),
        (
            Deeds(unwrapped_lamports=5 * 10**8, closed=1, rent_lamports=10**7),
            "Unwraps 0.5 SOL, closes a token account and returns 0.01 SOL.",
        ),
    ],
)
def test_it_says_what_is_sold_burnt_unwrapped_closed_and_returned(deeds: Deeds, sentence: str) -> None:
    assert deeds.sentence == sentence


@pytest.mark.parametrize("symbol", ["", "visit x.com", "BONK\u202e", "A" * 11, "free.com", "\u0412ONK"])
def test_a_symbol_that_could_be_a_message_is_replaced_by_the_mint(symbol: str) -> None:
    assert name_of(MINT, symbol) == "DezX…B263"


def test_a_usual_symbol_names_its_token() -> None:
    assert [name_of(MINT, symbol) for symbol in ("BONK", "$WIF", "jitoSOL")] == ["BONK", "$WIF", "jitoSOL"]
