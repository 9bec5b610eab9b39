"""The tools that are compared, each installed from PyPI in a virtual environment of its own, at a fixed version."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = {"timm": "1.0.19", "kornia": "0.8.1", "transformers": "4.55.0"}
FLAKE8, RUFF, TORCHFIX = "flake8==7.5.0", "ruff==0.17.5", "torchfix==0.7.0"
PIP = "pip==26.3"
"""It writes the scripts that start tools; the pip that came with Python 3.11 has them load `re` first."""
NEEDLE = b"torch"


def own_wheel(work: Path, *, compiled: bool) -> str:
    """A wheel of this checkout, made anew, its model compiled or not."""
    folder = work / "own" / ("compiled" if compiled else "python")
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--quiet", "--disable-pip-version-check", "--no-deps"]
    asked = {**os.environ, "TORCHLINT_COMPILED": str(int(compiled))}
    subprocess.run([*command, "--wheel-dir", str(folder), str(ROOT)], env=asked, check=True)
    return str(next(folder.glob("*.whl")))


def environment(work: Path, name: str, *requirements: str) -> Path:
    """The `bin` folder of a virtual environment with some distributions; made once, those with a wheel each time."""
    folder = work / "venv" / name
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    done = folder / "installed"
    wanted = "\n".join((PIP, *requirements))
    if not done.exists() or done.read_text() != wanted or ".whl" in wanted:
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        command = [str(scripts / "python"), "-m", "pip", "install", "--quiet", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, PIP], check=True)
        subprocess.run([*command, *requirements], check=True)
        done.write_text(wanted)
    return scripts


def versions(scripts: Path, *names: str) -> dict[str, str]:
    """What is installed."""
    program = "import importlib.metadata as m, sys; print(*(m.version(name) for name in sys.argv[1:]))"
    shown = subprocess.run([scripts / "python", "-c", program, *names], capture_output=True, text=True, check=True)
    return dict(zip(names, shown.stdout.split(), strict=True))


@dataclass(frozen=True)
class Files:
    """
    The files of a comparison.

    Attributes
    ----------
    whole
        A folder with the packages, all of their files: what a file imports of its package is there.
    sample
        What of it is linted, as it is named on the command line: every n-th file, or ".".
    with_torch, without_torch
        Folders with copies of these files alone: those that mention torch, and the rest.
    count, lines, with_torch_count, with_torch_lines
        How many are linted.
    all_count, all_lines
        How many the packages have.
    """

    whole: Path
    sample: tuple[str, ...]
    with_torch: Path
    without_torch: Path
    count: int
    lines: int
    with_torch_count: int
    with_torch_lines: int
    all_count: int
    all_lines: int


def files(work: Path, packages: dict[str, str], every: int) -> Files:
    """Download wheels (they are never imported), lay out their Python files, and choose every n-th."""
    layout = work / "files"
    shutil.rmtree(layout, ignore_errors=True)
    folders = [layout / name for name in ("whole", "with_torch", "without_torch")]
    count = lines = torch_count = torch_lines = all_count = all_lines = 0
    sample: list[str] = []
    for name, version in packages.items():
        with zipfile.ZipFile(_wheel(work, name, version)) as archive:
            members = sorted(member for member in archive.namelist() if member.endswith(".py"))
            picked = set(members[::every])
            for member in members:
                data = archive.read(member)
                concerns = NEEDLE in data
                chosen = member in picked
                for folder in (folders[0], folders[1] if concerns else folders[2])[: 1 + chosen]:
                    path = folder / member
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(data)
                all_count, all_lines = all_count + 1, all_lines + data.count(b"\n")
                if not chosen:
                    continue
                sample.append(member)
                count, lines = count + 1, lines + data.count(b"\n")
                torch_count, torch_lines = torch_count + concerns, torch_lines + data.count(b"\n") * concerns
    whole, with_torch, without_torch = folders
    named = (".",) if every == 1 else tuple(sample)
    counts = count, lines, torch_count, torch_lines, all_count, all_lines
    return Files(whole, named, with_torch, without_torch, *counts)


def _wheel(work: Path, name: str, version: str) -> Path:
    downloads = work / "downloads"
    pattern = f"{name}-{version}-*.whl"
    if not list(downloads.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--dest", str(downloads), f"{name}=={version}"], check=True)
    return next(downloads.glob(pattern))
