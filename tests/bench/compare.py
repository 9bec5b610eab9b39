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
from tests.bench.clock import Measured, best, measure
from tests.bench.tools import FLAKE8, ROOT, RUFF, TORCHFIX, Files, environment, own_wheel, versions

SETTLED = 2.5
"""Seconds after which times of files are believed."""
START_TIMES = 9
WARM_TIMES = 5

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
from torchlint import config, registry
from torchlint.engine import check_text
rules = registry.load()
selection = rules.select(config.Config(), config.Overrides())
taken = []
whole, chosen = map(pathlib.Path, sys.argv[1:])
for path in sorted(whole / each.relative_to(chosen) for each in chosen.rglob("*.py")):
    text = path.read_text(encoding="utf-8", errors="replace")
    if 900 <= text.count("\\n") <= 1100 and len(taken) < 40:
        runs = []
        for _ in range(3):
            start = time.perf_counter()
            check_text(str(path), text, rules, selection)
            runs.append(time.perf_counter() - start)
        taken.append((min(runs), runs[0]))
again, first = zip(*taken)
print(json.dumps({"files": len(taken), "median": statistics.median(again), "largest": max(again),
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

    def torchlint(self, *options: str, compiled: bool = True) -> list[str | Path]:
        """The command."""
        command = (self.own if compiled else self.python) / "torchlint"
        return [command, "check", "--exit-zero", "--output-format", "concise", *options, *self.files.sample]


def cold(bench: Bench) -> dict[str, Any]:
    """All files, nothing known of them: torchlint on one core and on all, bare parsing, TorchFix, ruff."""
    own, files = bench.own, bench.files
    torchfix = environment(bench.work, "torchfix", TORCHFIX)
    every = files.whole
    one = measure(bench.torchlint("--no-cache", "--jobs", "1"), every)
    taken: dict[str, Measured] = {
        "torchlint, one job": one,
        page.AS_PYTHON: measure(bench.torchlint("--no-cache", "--jobs", "1", compiled=False), every),
        "torchlint, all cores": measure(bench.torchlint("--no-cache", "--jobs", str(bench.jobs)), every),
        "libcst.parse_module": measure([own / "python", "-c", PARSE, files.with_torch], every),
        "ruff check": measure([*_ruff(own), "--no-cache", *files.sample], every),
        "TorchFix, one job": measure([torchfix / "torchfix", "--jobs", "1", "--select", "ALL", *files.sample], every),
    }
    return _asdict(taken)


def warm(bench: Bench) -> dict[str, Any]:
    """All files, nothing changed since the run before."""
    every = bench.files.whole
    shutil.rmtree(every / ".torchlint_cache", ignore_errors=True)
    shutil.rmtree(every / ".ruff_cache", ignore_errors=True)
    taken = {"torchlint, filling": measure(bench.torchlint("--jobs", str(bench.jobs)), every)}
    taken["torchlint, unchanged"] = _unchanged(bench.torchlint(), every, WARM_TIMES)
    for name, select in (("ruff check", ()), ("ruff check --select E9,F63,F7", ("--select", "E9,F63,F7"))):
        command = [*_ruff(bench.own), *select, *bench.files.sample]
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
    """Files of about a thousand lines, one after the other in a process that has linted before."""
    command = [bench.own / "python", "-c", THOUSAND, bench.files.whole, bench.files.with_torch]
    return dict(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def flake8(bench: Bench) -> dict[str, Any]:
    """flake8 as it is, and with torchlint installed beside it; by turns, so that both meet the same machine."""
    alone = environment(bench.work, "flake8", FLAKE8)
    taken: dict[str, Measured] = {}
    for kind, folder in (("without torch", bench.files.without_torch), ("with torch", bench.files.with_torch)):
        runs: dict[str, list[Measured]] = {"alone": [], "with torchlint": []}
        for _ in range(3):
            for name, scripts in (("alone", alone), ("with torchlint", bench.own)):
                command = [scripts / "python", "-m", "flake8", "-j1", "--isolated", "--exit-zero", "-q", "."]
                runs[name].append(measure(command, folder))
        for name, several in runs.items():
            taken[f"{kind}, {name}"] = Measured(
                min(run.cpu for run in several),
                min(run.wall for run in several),
                max(run.memory for run in several),
                several[0].status,
            )
    return _asdict(taken)


def growth(bench: Bench) -> list[dict[str, Any]]:
    """Programs of one, two and four times a size."""
    program = "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_path(sys.argv[2], run_name='__main__')"
    command = [bench.own / "python", "-c", program, str(ROOT), str(Path(__file__).with_name("growth.py"))]
    return list(json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout))


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
