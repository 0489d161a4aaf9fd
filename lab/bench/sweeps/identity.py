"""What identifies copies of a sweep on chain, about which the benchmarks' chain and the database have to agree."""

from hashlib import sha256

# The original's nonce is followed by those of other originals, which are copied, too.
NONCES_APART = 256
# The expression of a copy's transaction hash in PostgreSQL.
TRANSACTION_HASH_SQL = "'0x' || encode(sha256(convert_to('transaction ' || n, 'UTF8')), 'hex')"


def transaction_hash(n: int) -> str:
    """Return the hash of the n-th copy's transaction."""
    return f"0x{sha256(b'transaction %d' % n).hexdigest()}"
