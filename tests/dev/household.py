"""A small local world for the tests to interrupt and kill: real engines, and a child with a child of its own.

Run as ``python -m tests.dev.household FOLDER``; prints the pids by name as JSON when all is up, then watches.
"""

import json
import sys
from pathlib import Path

from dev.engines import anvil, postgres, redis
from dev.errors import LocalWorldError
from dev.process import Program
from dev.supervisor import Interrupted, Supervisor

FORK_AND_TELL = "import os, signal; child = os.fork(); child and os.write(1, b'%d\\n' % child); signal.pause()"


def main(folder: Path) -> int:
    """Bring everything up and sit by it."""
    with Supervisor(folder) as supervisor:
        postgres.start(supervisor, owner_password="a", runtime_password="b")
        redis.start(supervisor, password="c")
        anvil.start(supervisor)
        told = folder / "parent.log"
        told.unlink(missing_ok=True)
        parent = Program(name="parent", argv=[sys.executable, "-c", FORK_AND_TELL], log=told)
        supervisor.start(parent, ready=lambda: told.read_text().endswith("\n"))
        records = {path.stem: json.loads(path.read_text())["pid"] for path in (folder / "processes").glob("*.json")}
        print(json.dumps(records | {"grandchild": int(told.read_text())}), flush=True)
        supervisor.watch()


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1])))
    except Interrupted:
        sys.exit(0)
    except LocalWorldError as error:
        sys.exit(str(error))
