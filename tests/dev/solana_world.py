"""The Solana part of the local world for the tests: ``python -m tests.dev.solana_world FOLDER``.

Prints the cluster's part of world.json and the service's variables once everything runs, then watches.
"""

import json
import sys
from pathlib import Path

from dev.engines import solana
from dev.keys import load_or_create
from dev.processes.errors import LocalWorldError
from dev.processes.supervisor import Interrupted, Supervisor


def main(folder: Path) -> int:
    with Supervisor(folder) as supervisor:
        cluster = solana.start(supervisor, load_or_create(folder / "keys.json"))
        print(json.dumps({"described": cluster.describe(), "environment": cluster.environment()}), flush=True)
        supervisor.watch()


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1])))
    except Interrupted:
        sys.exit(0)
    except LocalWorldError as error:
        sys.exit(str(error))
