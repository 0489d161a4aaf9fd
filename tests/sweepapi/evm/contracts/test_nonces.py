"""Authorization nonces are drawn by processes, so that no state of a database can repeat them."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from sweepapi.evm.contracts.nonces import BITS_PER_WORD, NONCES, NonceWords, share_word


@pytest.fixture
def nonces() -> NonceWords:
    return NonceWords()


def test_a_word_is_handed_out_in_full_before_the_next_one(nonces: NonceWords) -> None:
    taken = [nonces.take() for _ in range(2 * BITS_PER_WORD)]
    first, second = taken[0], taken[BITS_PER_WORD]
    assert taken == [start + i for start in (first, second) for i in range(BITS_PER_WORD)]
    assert (first % BITS_PER_WORD, second % BITS_PER_WORD) == (0, 0)
    assert not share_word(first, second)
    assert share_word(first, first + BITS_PER_WORD - 1)


def test_reading_the_next_nonce_does_not_take_it(nonces: NonceWords) -> None:
    for _ in range(BITS_PER_WORD + 1):
        upcoming = nonces.upcoming
        assert nonces.upcoming == nonces.take() == upcoming


def test_threads_never_get_the_same_nonce(nonces: NonceWords) -> None:
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(lambda _: nonces.take(), range(10 * BITS_PER_WORD)))
    assert len(set(taken)) == len(taken)


def test_processes_draw_words_of_their_own() -> None:
    assert not share_word(NonceWords().upcoming, NonceWords().upcoming)


def test_a_forked_process_does_not_go_on_with_the_word_of_its_parent() -> None:
    parents = NONCES.upcoming
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, str(NONCES.upcoming).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert not share_word(int(os.read(reading, 100)), parents)
    os.close(reading)
    os.close(writing)
