"""Reference keys are new each time, and begin as Jito's block engine wants where no transaction may go before ours."""

from solders.pubkey import Pubkey

from sweepapi.solana.packing.references import new_reference


def test_no_reference_is_drawn_twice() -> None:
    for dont_front in (False, True):
        assert len({new_reference(dont_front=dont_front) for _ in range(1_000)}) == 1_000


def test_one_that_asks_not_to_be_fronted_says_so_and_is_a_key_of_32_bytes() -> None:
    for _ in range(1_000):
        reference = new_reference(dont_front=True)
        assert str(reference).startswith("jitodontfront")
        assert len(str(reference)) == 43
        assert Pubkey.from_bytes(bytes(reference)) == reference


def test_any_other_is_of_all_32_bytes() -> None:
    drawn = [bytes(new_reference(dont_front=False)) for _ in range(200)]
    assert all(len({key[position] for key in drawn}) > 50 for position in range(Pubkey.LENGTH))
