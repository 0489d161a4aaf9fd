"""Hands out the nonces of fee authorizations, which no restored database can repeat.

A counter in the database would: after a restore it hands out again what was signed since the backup, and the sweep of
the user who sends second reverts. So each process draws a random word of the contract's bitmap, hands out its 256
nonces, and draws again. A word is warm after its first sweep, so that the others cost less gas. In the database,
executions are unique by nonce.
"""

import os
import secrets
from threading import Lock

WORD_BITS = 64  # of the word's position; two processes draw the same one once in thousands of years
BITS_PER_WORD = 256
COLD_WORD_GAS = 17_100  # what the first sweep of a word uses more than the others


class NonceWords:
    """The nonces that one process hands out; safe to share between threads."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Draw another word before the next nonce, as a forked process must: its parent has the same one."""
        self._lock = Lock()
        self._next = self._end = 0

    @property
    def upcoming(self) -> int:
        """What ``take`` would return now."""
        with self._lock:
            self._draw_if_used_up()
            return self._next

    def take(self) -> int:
        """Return a nonce that was not returned before."""
        with self._lock:
            self._draw_if_used_up()
            self._next += 1
            return self._next - 1

    def _draw_if_used_up(self) -> None:
        if self._next == self._end:
            self._next = secrets.randbits(WORD_BITS) * BITS_PER_WORD
            self._end = self._next + BITS_PER_WORD


NONCES = NonceWords()
os.register_at_fork(after_in_child=NONCES.forget)


def share_word(nonce: int, other: int) -> bool:
    """Return whether two nonces are bits of the same word."""
    return nonce // BITS_PER_WORD == other // BITS_PER_WORD
