"""
Packages as archives: told apart by names, downloaded by pip, unpacked without harm, left as Python alone.

Knows nothing of torchlint. No code of a package is run here, with one exception that its docstring names.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

KEPT_FOR_LATER = ("0", "1")
"""First hexadecimal digits of the SHA-1 of the names that no draw and no list here may take."""
MAX_ARCHIVE = 30 * 2**20
MAX_FILE = 4 * 2**20
MAX_UNPACKED = 200 * 2**20
MAX_MEMBERS = 40_000
PYTHON = (".py", ".pyi", ".toml", ".cfg")
TEXT = (*PYTHON, ".ini", ".txt", ".json", ".md", ".rst", ".csv", ".yaml", ".yml", ".in")


class Refused(Exception):  # noqa: N818
    """An archive that is not unpacked, or a package that could not be had; the message is the reason."""


def normalized(name: str) -> str:
    """The form in which two spellings of one package are equal (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def is_kept_for_later(name: str) -> bool:
    """Is it one of those that a later measurement is for? By its name as written, and by its normal form."""
    return any(hashlib.sha1(form.encode()).hexdigest()[0] in KEPT_FOR_LATER for form in {name, normalized(name)})


def download_wheel(name: str, version: str, folder: Path, timeout: float = 180) -> Path:
    """
    The wheel of one release, by pip as it is set up on this machine. A wheel has no code that pip would run; an sdist
    has, and is not taken.

    Raises
    ------
    Refused
        There is no wheel for this Python, it is too large, or pip took too long.
    """
    return _downloaded(["--only-binary", ":all:"], name, version, folder, timeout)


def download_sdist(name: str, version: str, folder: Path, timeout: float = 300) -> Path:
    """
    The source archive of one release, by pip. **Pip runs the archive's build backend for its metadata**: only for
    packages whose tests are to be run anyway.

    Raises
    ------
    Refused
        There is no source archive, it is too large, or pip took too long.
    """
    return _downloaded(["--no-binary", normalized(name)], name, version, folder, timeout)


def download_unrun(name: str, version: str, folder: Path, index: str, timeout: float = 60) -> Path:
    """
    A release's smallest wheel, for whichever Python it is, else its source archive, asked of the index at a URL (the
    "simple" API in JSON, PEP 691) and not of pip: pip would run a source archive's build backend.

    Raises
    ------
    Refused
        The index does not know the release, does not answer, or the archive is too large.
    """
    accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
    page = urllib.request.Request(f"{index.rstrip('/')}/{normalized(name)}/", headers=accept)
    try:
        with urllib.request.urlopen(page, timeout=timeout) as answer:
            files = [file for file in json.load(answer)["files"] if _version_in(file["filename"]) == version.lower()]
        wheels = [file for file in files if file["filename"].endswith(".whl")]
        if not files:
            raise Refused("the index has no such release")
        chosen = min(wheels or files, key=lambda file: file.get("size") or 0)
        with urllib.request.urlopen(chosen["url"], timeout=timeout) as answer:
            content = answer.read(MAX_ARCHIVE + 1)
    except (urllib.error.URLError, TimeoutError, ValueError, KeyError) as error:
        raise Refused(f"the index does not answer: {type(error).__name__}") from error
    if len(content) > MAX_ARCHIVE:
        raise Refused(f"larger than {MAX_ARCHIVE >> 20} MB")
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / Path(chosen["filename"]).name
    archive.write_bytes(content)
    return archive


def _version_in(filename: str) -> str:
    """Of `name-1.0-py3-none-any.whl` and of `name-1.0.tar.gz` alike; an empty string if it is neither."""
    if filename.endswith(".whl"):
        return filename.split("-")[1].lower()
    matched = re.fullmatch(r".+?-(\d[^-]*(?:-\d+)?)\.(?:tar\.\w+|tgz|zip)", filename)
    return matched[1].lower() if matched else ""


def _downloaded(which: list[str], name: str, version: str, folder: Path, timeout: float) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    own = folder / f"{normalized(name)}-{version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *which, "--dest", str(own)]
    if not own.exists() or not list(own.iterdir()):
        try:
            run = subprocess.run([*command, f"{name}=={version}"], capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Refused("pip took too long") from None
        if run.returncode:
            raise Refused("pip has no such archive for this Python")
    (archive,) = own.iterdir()
    if archive.stat().st_size > MAX_ARCHIVE:
        raise Refused(f"larger than {MAX_ARCHIVE >> 20} MB")
    return archive


def unpack(archive: Path, folder: Path, suffixes: tuple[str, ...] = PYTHON) -> int:
    """
    Write the regular files of a wheel, zip or tar whose names end in one of `suffixes` (an empty one means all), and
    say how many there are. A member never lands outside `folder`, and a link is never followed or made.

    Raises
    ------
    Refused
        A name is absolute or climbs out, the archive is damaged, or it unpacks to more than the limits.
    """
    kept, size = 0, 0
    try:
        for count, (name, length, stream) in enumerate(_members(archive)):
            target = folder / _inside(name)
            if count >= MAX_MEMBERS:
                raise Refused(f"more than {MAX_MEMBERS} members")
            if not name.endswith(suffixes) or length > MAX_FILE:
                continue
            size += length
            if size > MAX_UNPACKED:
                raise Refused(f"unpacks to more than {MAX_UNPACKED >> 20} MB")
            target.parent.mkdir(parents=True, exist_ok=True)
            with stream, open(target, "wb") as file:
                shutil.copyfileobj(stream, file)
            kept += 1
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError) as error:
        raise Refused(f"damaged: {type(error).__name__}") from error
    return kept


def _inside(name: str) -> Path:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or "\0" in name or re.match(r"[A-Za-z]:", name):
        raise Refused(f"a member is called {name!r}")
    return Path(*path.parts)


def _members(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                is_link = info.external_attr >> 28 == 0o12
                if not info.is_dir() and not is_link:
                    yield info.filename, info.file_size, opened.open(info)
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile():
                stream = tar.extractfile(member)
                assert stream is not None
                yield member.name, member.size, stream
            else:
                _inside(member.name)


def frozen_linter(repository: Path, folder: Path, commit: str = "HEAD") -> tuple[Path, str]:
    """
    The linter as a commit has it, in a folder of its own that later edits do not touch; and the name of the commit that
    changed it last.
    """
    name = _git(repository, "log", "-1", "--format=%h", commit, "--", "torchlint", "rules").decode().strip()
    target = folder / f"linter-{name}"
    if not target.exists():
        archive = folder / f"linter-{name}.tar"
        folder.mkdir(parents=True, exist_ok=True)
        archive.write_bytes(_git(repository, "archive", name, "torchlint", "rules"))
        partial = folder / f"linter-{name}.partial"
        unpack(archive, partial, suffixes=("",))
        (partial / "rules").rename(partial / "torchlint" / "rules")  # else those of an installed checkout are taken
        partial.rename(target)
        archive.unlink()
    return target, name


def _git(repository: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(repository), *arguments], check=True, capture_output=True).stdout


def environment(linter: Path) -> dict[str, str]:
    """The environment in which `python -m torchlint` is that linter."""
    return {**os.environ, "PYTHONPATH": str(linter), "OMP_NUM_THREADS": "1"}
