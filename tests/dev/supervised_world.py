"""A small local world for the tests to interrupt and kill: the engines, and a child process with its own child.

``python -m tests.dev.supervised_world FOLDER`` prints the pids by name as JSON once everything runs, then watches.
"""

import json
import sys
from pathlib import Path

from dev.engines import anvil, postgres, redis
from dev.processes.errors import LocalWorldError
from dev.processes.process import Program
from dev.processes.supervisor import Interrupted, Supervisor

FORK_AND_PRINT = "import os, signal; child = os.fork(); child and os.write(1, b'%d\\n' % child); signal.pause()"


def main(folder: Path) -> int:
    with Supervisor(folder) as supervisor:
        postgres.start(supervisor, owner_password="a", runtime_password="b", console_password="c")
        redis.start(supervisor, password="c")
        anvil.start(supervisor)
        log = folder / "parent.log"
        log.unlink(missing_ok=True)
        parent = Program(name="parent", argv=[sys.executable, "-c", FORK_AND_PRINT], log=log)
        supervisor.start(parent, ready=lambda: log.read_text().endswith("\n"))
        pids = {path.stem: json.loads(path.read_text())["pid"] for path in (folder / "processes").glob("*.json")}
        print(json.dumps(pids | {"grandchild": int(log.read_text())}), flush=True)
        supervisor.watch()


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1])))
    except Interrupted:
        sys.exit(0)
    except LocalWorldError as error:
        sys.exit(str(error))
