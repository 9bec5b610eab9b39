"""The parts of the benchmark: each runs some commands on the same files and says what they took."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.bench import page
from tests.bench.clock import Measured, best, by_turns, measure
from tests.bench.tools import FLAKE8, ROOT, RUFF, TORCHFIX, Files, environment, own_wheel, versions

SETTLED = 2.5
"""Seconds after which times of files are believed."""
START_TIMES = 9
WARM_TIMES = 5
TURNS = 3

PARSE = """
import gc, pathlib, sys
import libcst
gc.freeze(); gc.disable()
for path in pathlib.Path(sys.argv[1]).rglob("*.py"):
    try:
        libcst.parse_module(path.read_bytes())
    except libcst.ParserSyntaxError:
        pass
"""
THOUSAND = """
import json, pathlib, statistics, sys, time
from torchlint import config
from torchlint.lint import registry
from torchlint.lint.engine import check_text
rules = registry.load()
selection = rules.select(config.Config(), config.Overrides())
texts = [(path, path.read_bytes()) for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.py"))]
texts = [(path, data) for path, data in texts if b"torch" in data and 900 <= data.count(b"\\n") <= 1100]
texts = [(str(path), data.decode("utf-8", "replace")) for path, data in texts[:: max(1, len(texts) // 40)]]
runs = []
for _ in range(int(sys.argv[2])):
    runs.append([])
    for path, text in texts:
        start = time.perf_counter()
        check_text(path, text, rules, selection)
        runs[-1].append(time.perf_counter() - start)
first, again = runs[0], list(map(min, zip(*runs)))
print(json.dumps({"files": len(texts), "median": statistics.median(again), "largest": max(again),
                  "first": statistics.median(first)}))
"""


@dataclass(frozen=True)
class Bench:
    """
    What all parts need.

    Attributes
    ----------
    work
        A folder for downloads, environments and files.
    files
        What is linted.
    jobs
        Processes of "all cores".
    """

    work: Path
    files: Files
    jobs: int

    @cached_property
    def own(self) -> Path:
        """torchlint as people have it: installed from a wheel of this checkout, beside ruff and flake8."""
        return environment(self.work, "torchlint", own_wheel(self.work, compiled=True), FLAKE8, RUFF)

    @cached_property
    def python(self) -> Path:
        """torchlint as it is where nothing can be compiled."""
        return environment(self.work, "torchlint-python", own_wheel(self.work, compiled=False))

    def torchlint(self, *options: str, compiled: bool = True, every: bool = False) -> list[str | Path]:
        """The command, for the sample or for every file."""
        command = (self.own if compiled else self.python) / "torchlint"
        files = (".",) if every else self.files.sample
        return [command, "check", "--exit-zero", "--output-format", "concise", *options, *files]


def cold(bench: Bench) -> dict[str, Any]:
    """All files, nothing known of them: torchlint on one core and on all, bare parsing, TorchFix, ruff."""
    own, files = bench.own, bench.files
    torchfix = environment(bench.work, "torchfix", TORCHFIX)
    commands: dict[str, list[str | Path]] = {
        "torchlint, one job": bench.torchlint("--no-cache", "--jobs", "1"),
        page.AS_PYTHON: bench.torchlint("--no-cache", "--jobs", "1", compiled=False),
        "torchlint, all cores": bench.torchlint("--no-cache", "--jobs", str(bench.jobs)),
        "libcst.parse_module": [own / "python", "-c", PARSE, files.with_torch],
        "ruff check": [*_ruff(own), "--no-cache", *files.sample],
        "TorchFix, one job": [torchfix / "torchfix", "--jobs", "1", "--select", "ALL", *files.sample],
    }
    return _asdict(by_turns({name: (command, files.whole) for name, command in commands.items()}, TURNS))


def warm(bench: Bench) -> dict[str, Any]:
    """All files of the packages, whatever the sample, nothing changed since the run before."""
    every = bench.files.whole
    shutil.rmtree(every / ".torchlint_cache", ignore_errors=True)
    shutil.rmtree(every / ".ruff_cache", ignore_errors=True)
    one = measure(bench.torchlint("--jobs", "1", every=True), every)
    shutil.rmtree(every / ".torchlint_cache")
    both = measure(bench.torchlint("--jobs", str(bench.jobs), every=True), every)
    taken = {page.FILLING: both, page.FILLING_ALONE: one}
    taken["torchlint, unchanged"] = _unchanged(bench.torchlint(every=True), every, WARM_TIMES)
    for name, select in (("ruff check", ()), ("ruff check --select E9,F63,F7", ("--select", "E9,F63,F7"))):
        command = [*_ruff(bench.own), *select, "."]
        taken[f"{name}, filling"] = measure(command, every)
        taken[f"{name}, unchanged"] = best(command, every, WARM_TIMES)
    return _asdict(taken)


def start(bench: Bench) -> dict[str, Any]:
    """One small file, and no file at all."""
    own = bench.own
    place = bench.work / "one"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    (place / "one_file.py").write_text("import torch\n\nx = torch.ones(3, requires_grad=True)\nprint(x * 2)\n")
    check = [own / "torchlint", "check", "one_file.py"]
    return _asdict(
        {
            "python -c pass": best([own / "python", "-c", "pass"], place, START_TIMES),
            "torchlint --version": best([own / "torchlint", "--version"], place, START_TIMES),
            "torchlint check one_file.py, cold": best([*check, "--no-cache"], place, START_TIMES),
            "torchlint check one_file.py, unchanged": _unchanged(check, place, START_TIMES),
            "ruff --version": best([own / "ruff", "--version"], place, START_TIMES),
            "ruff check one_file.py": best([*_ruff(own), "one_file.py"], place, START_TIMES),
        }
    )


def _unchanged(command: Sequence[str | Path], directory: Path, times: int) -> Measured:
    """
    The best of several runs after which nothing has changed.

    What was written in the two seconds before a run tells it nothing, the folder of the cache included; the first run
    after that notes that nothing has changed.
    """
    for _ in range(2):
        measure(command, directory)
        time.sleep(SETTLED)
    return best(command, directory, times)


def editor(bench: Bench) -> dict[str, Any]:
    """Files of about a thousand lines, whatever the sample, one after the other in a process that has linted before."""
    return dict(json.loads(_said(bench, "-c", THOUSAND, str(bench.files.whole), str(WARM_TIMES))))


def flake8(bench: Bench) -> dict[str, Any]:
    """flake8 as it is, and with torchlint installed beside it."""
    alone = environment(bench.work, "flake8", FLAKE8)
    taken: dict[str, Measured] = {}
    for kind, folder in (("without torch", bench.files.without_torch), ("with torch", bench.files.with_torch)):
        options = ["-m", "flake8", "-j1", "--isolated", "--exit-zero", "-q", "."]
        commands = {
            f"{kind}, {name}": ([scripts / "python", *options], folder)
            for name, scripts in (("alone", alone), ("with torchlint", bench.own))
        }
        taken |= by_turns(commands, TURNS)
    return _asdict(taken)


def growth(bench: Bench) -> list[dict[str, Any]]:
    """Programs of one, two and four times a size."""
    program = "import runpy, sys; sys.path.append(sys.argv[1]); runpy.run_path(sys.argv[2], run_name='__main__')"
    return list(json.loads(_said(bench, "-c", program, str(ROOT), str(Path(__file__).with_name("growth.py")))))


def _said(bench: Bench, *arguments: str) -> str:
    """What a program of ours prints; it is run where Python finds the torchlint that is installed, not the checkout."""
    command = [bench.own / "python", *arguments]
    return subprocess.run(command, cwd=bench.work, stdout=subprocess.PIPE, text=True, check=True).stdout


PARTS: dict[str, Callable[[Bench], Any]] = dict(
    zip(page.PARTS, (start, editor, warm, cold, flake8, growth), strict=True)
)


def about(bench: Bench) -> dict[str, Any]:
    """The machine, the tools and the files."""
    model = "unknown"
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as lines:
            model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    files = {key: value for key, value in asdict(bench.files).items() if isinstance(value, int)}
    tools = versions(bench.own, "torchlint", "libcst", "ruff", "flake8", "pip")
    tools |= versions(environment(bench.work, "torchfix", TORCHFIX), "TorchFix")
    python = subprocess.run([bench.own / "python", "-V"], capture_output=True, text=True, check=True).stdout.split()[1]
    return {"processor": model, "cores": os.cpu_count(), "python": python, "tools": tools, "files": files}


@contextmanager
def loads(into: dict[str, Any]) -> Iterator[None]:
    """How busy the machine was with other things before, and in all at the end."""
    into["load before"] = os.getloadavg()[0]
    yield
    into["load after"] = os.getloadavg()[0]


def _ruff(own: Path) -> list[str | Path]:
    return [own / "ruff", "check", "--isolated", "--quiet", "--exit-zero"]


def _asdict(taken: dict[str, Measured]) -> dict[str, Any]:
    return {name: asdict(measured) for name, measured in taken.items()}
