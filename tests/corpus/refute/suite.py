"""
A package with its own tests: its source archive, an environment in which the tests run, and a recorded run of them.

**Code of the package is run**: its build backend by pip, and its tests. Only for packages of the list.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..packages import Refused, download_sdist, unpack

LIST = Path(__file__).parent / "packages.jsonl"
GRACE = 240.0


@dataclass(frozen=True)
class Subject:
    """
    A package of the list.

    Attributes
    ----------
    path
        The folder of the archive from which the package is imported: `.` or `src`.
    tests
        What pytest is given.
    requires
        What the tests need beside the package's own dependencies.
    variables
        The environment variables they need.
    """

    name: str
    version: str
    path: str
    tests: list[str]
    requires: list[str]
    variables: dict[str, str] = field(default_factory=dict)


def load() -> list[Subject]:
    """The list."""
    return [Subject(**json.loads(line)) for line in LIST.read_text(encoding="utf-8").splitlines()]


def source(subject: Subject, work: Path) -> Path:
    """
    The unpacked source archive, downloaded if it is not there yet.

    Raises
    ------
    Refused
        It cannot be had or unpacked.
    """
    folder = work / "sources" / f"{subject.name}-{subject.version}"
    if not folder.exists():
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        unpack(download_sdist(subject.name, subject.version, work / "archives"), partial, suffixes=("",))
        inner = [each for each in partial.iterdir() if each.is_dir()]
        if len(inner) != 1:
            raise Refused("a source archive has one folder")
        inner[0].rename(folder)
        shutil.rmtree(partial)
    return folder


def interpreter(subject: Subject, work: Path) -> Path:
    """
    The Python of an environment for this package alone, which sees the torch of the one that runs this.

    Raises
    ------
    Refused
        Pip could not install what the tests need.
    """
    folder = work / "environments" / f"{subject.name}-{subject.version}"
    python = folder / "bin" / "python"
    done = folder / "complete"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        inside = subprocess.run(
            [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            check=True, capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip
        here = [sysconfig.get_path("purelib"), *(path for path in sys.path if path.endswith("site-packages"))]
        Path(inside, "of_the_caller.pth").write_text("\n".join(dict.fromkeys(here)) + "\n", encoding="utf-8")
        (folder / "constraints.txt").write_text(f"torch=={_torch()}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
        wanted = [f"{subject.name}=={subject.version}", *subject.requires, "pytest>=8"]
        run = subprocess.run(
            [*command, *wanted], capture_output=True, text=True,
            env={**os.environ, "PIP_CONSTRAINT": str(folder / "constraints.txt")},
        )  # fmt: skip
        if run.returncode:
            raise Refused(f"pip: {run.stderr.strip().splitlines()[-1:]}")
        done.touch()
    return python


def _torch() -> str:
    from importlib.metadata import version

    return version("torch").partition("+")[0]


def recorded(
    subject: Subject, tree: Path, python: Path, out: Path, files: list[str] | None, seconds: float
) -> dict[str, Any]:
    """
    Run the tests that lie in a tree, and tell lines, exceptions and outcomes; without files, outcomes alone.

    Raises
    ------
    Refused
        The run came to no end, or to one without a record.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)
    plugin = out.parent / "plugin"
    plugin.mkdir(exist_ok=True)
    shutil.copy(Path(__file__).with_name("recorder.py"), plugin / "torchlint_recorder.py")
    variables = {
        "PATH": os.environ["PATH"], "HOME": str(out.parent), "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1",
        "PYTHONPATH": f"{tree / subject.path}{os.pathsep}{plugin}", "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0", "RECORDER_OUT": str(out), "RECORDER_ROOT": str(tree),
        "RECORDER_SECONDS": str(seconds), **subject.variables,
    }  # fmt: skip
    if files is not None:
        variables["RECORDER_FILES"] = json.dumps(files)
    # Of an editable torchlint in the environment of the caller only the metadata is seen, and pytest ends at a plugin
    # that it knows by name and cannot import.
    without = ["-p", "no:torchlint", "-p", "no:cacheprovider"]
    options = ["-q", "-p", "torchlint_recorder", *without, "-o", "addopts=", "--import-mode=prepend"]
    command = [str(python), "-m", "pytest", *options, "--continue-on-collection-errors", *subject.tests]
    with open(out.with_suffix(".log"), "wb") as log:
        try:
            subprocess.run(command, cwd=tree, env=variables, stdout=log, stderr=log, timeout=seconds + GRACE)
        except subprocess.TimeoutExpired:
            raise Refused("the tests came to no end") from None
    if not out.exists():
        raise Refused("the tests left no record")
    return dict(json.loads(out.read_text(encoding="utf-8")))
