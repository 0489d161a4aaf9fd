"""What a transaction does is told in a sentence that no token's symbol can turn into a message."""

import pytest

from sweepapi.solana.worth.sentence import name_of, transaction_sentence

MINT = "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263"


@pytest.mark.parametrize(
    ("names", "closed", "lamports", "sentence"),
    [
        (["BONK"], 0, 0, "Sells BONK for about 1.5 USDC."),
        (
            ["BONK", "$WIF"],
            1,
            2_039_280,
            "Sells BONK and $WIF for about 1.5 USDC, closes a token account and returns 0.00203928 SOL.",
        ),
        ([], 12, 10**7, "Closes 12 token accounts and returns 0.01 SOL."),
        (["A", "B", "C", "D"], 0, 0, "Sells A, B, C and D for about 1.5 USDC."),
        (["A"] * 5, 3, 10**9, "Sells 5 tokens for about 1.5 USDC, closes 3 token accounts and returns 1 SOL."),
    ],
)
def test_it_says_what_is_sold_closed_and_returned(names: list[str], closed: int, lamports: int, sentence: str) -> None:
    found = transaction_sentence(names, burnt=[], received="1.5 USDC", closed=closed, returned_lamports=lamports)
    assert found == sentence


def test_it_says_what_is_burnt() -> None:
    found = transaction_sentence([], burnt=["SPAM", "SCAM"], received="0 USDC", closed=2, returned_lamports=10**7)
    assert found == "Burns SPAM and SCAM, closes 2 token accounts and returns 0.01 SOL."


@pytest.mark.parametrize("symbol", ["", "visit x.com", "BONK\u202e", "A" * 11, "free.com", "\u0412ONK"])
def test_a_symbol_that_could_be_a_message_is_replaced_by_the_mint(symbol: str) -> None:
    assert name_of(MINT, symbol) == "DezX…B263"


def test_a_usual_symbol_names_its_token() -> None:
    assert [name_of(MINT, symbol) for symbol in ("BONK", "$WIF", "jitoSOL")] == ["BONK", "$WIF", "jitoSOL"]
