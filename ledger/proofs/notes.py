"""Signs the state of a tree as a checkpoint: a signed note of C2SP (c2sp.org/tlog-checkpoint, c2sp.org/signed-note)."""

import base64
from hashlib import sha256

from ledger.models import StatementEra
from ledger.proofs.trees import Tree
from ledger.statements.month import Month
from sweepapi.crypto.proof_keys import SigningKey

_ED25519 = b"\x01"
_KEY_ID_BYTES = 4
FIRST_ERA = "0"


def origin_of(tree: Tree) -> str:
    """Return the name of the tree as it is now; another one after a restore, so that no name is of two trees."""
    era = StatementEra.objects.order_by("-id").first()
    return f"sweepapi/{tree.partner_id}/{tree.mode}/{FIRST_ERA if era is None else era.name}"


def signed_note(origin: str, *, size: int, root: bytes, month: Month) -> str:
    """Return the checkpoint, whose last line is the signature; the tree's origin is the name of the key, too."""
    text = f"{origin}\n{size}\n{base64.b64encode(root).decode()}\nmonth {month}\n"
    key = SigningKey.from_settings()
    key_id = sha256(origin.encode() + b"\n" + _ED25519 + key.public.raw).digest()[:_KEY_ID_BYTES]
    signature = base64.b64encode(key_id + key.sign(text.encode())).decode()
    return f"{text}\n\N{EM DASH} {origin} {signature}\n"
