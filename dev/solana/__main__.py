"""Runs the local cluster as a program, with an open market; see `main` for the arguments."""

import argparse
import sys
import time
from collections.abc import Sequence
from threading import Thread
from typing import NoReturn

from solders.pubkey import Pubkey

from dev.solana.bank import SLOT_SECONDS, Bank
from dev.solana.market import open_market
from dev.solana.node import Node
from dev.solana.server import create_server


def main(arguments: Sequence[str]) -> None:
    """Open the market and serve the cluster until a signal stops the process."""
    parser = argparse.ArgumentParser(prog="python -m dev.solana")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--fee-wallet", type=Pubkey.from_string, required=True)
    parser.add_argument("--maker", type=Pubkey.from_string, required=True)
    parser.add_argument("--user", type=Pubkey.from_string, action="append", required=True)
    parser.add_argument("--slot-seconds", type=float, default=SLOT_SECONDS)
    given = parser.parse_args(arguments)
    bank = Bank(slot_seconds=given.slot_seconds)
    open_market(bank, fee_wallet=given.fee_wallet, maker=given.maker, users=given.user)
    Thread(target=_produce_blocks, args=(bank,), daemon=True).start()
    create_server(Node(bank), given.port).serve_forever()


def _produce_blocks(bank: Bank) -> NoReturn:
    while True:
        time.sleep(bank.slot_seconds)
        bank.advance()


if __name__ == "__main__":
    main(sys.argv[1:])
