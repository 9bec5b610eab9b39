"""
Recall by injection, as a command.

    python -m tests.injection install DIR                    the packages of the list, without dependencies on torch
    python -m tests.injection measure --packages DIR         torch and the linter on every mutant; prints the figures
    python -m tests.injection measure --packages DIR --confirm   and what the runtime mode says of those reported
    python -m tests.injection discover --packages DIR        makes the list of Modules anew

Any directory in which the packages are importable will do, with the versions that the list names.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from .subjects import CATALOGUE, load, save

DEPENDENCIES = (
    "pyyaml", "requests", "urllib3", "idna", "certifi", "charset-normalizer", "huggingface_hub<1.0", "safetensors",
    "tokenizers<0.22", "regex", "tqdm", "kornia_rs", "einops", "linear_operator", "jaxtyping", "wadler-lindig", "scipy",
    "pyro-api", "pyparsing", "opt_einsum", "multipledispatch", "typing_extensions", "pillow", "psutil", "matplotlib",
    "opencv-python-headless", "pyre-extensions", "polars", "threadpoolctl", "packaging", "filelock", "fsspec", "numpy",
)  # fmt: skip


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.injection", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    install = commands.add_parser("install")
    install.add_argument("directory")
    measure = commands.add_parser("measure")
    measure.add_argument("--packages", required=True, help="directory with the packages")
    measure.add_argument("--seed", type=int, default=0)
    measure.add_argument("--each", type=int, default=4, help="mutants of a Module")
    measure.add_argument("--jobs", type=int, default=2, help="processes")
    measure.add_argument("--only", default="", help="Modules whose qualified name holds this")
    measure.add_argument("--show", type=int, default=0, help="misses to show with their code")
    measure.add_argument("--subjects", metavar="FILE", help="another list of Modules than the one that is committed")
    measure.add_argument("--confirm", action="store_true", help="run each that is reported under --verify, too")
    measure.add_argument("--verdicts", help="file that keeps torch's verdicts between runs")
    discover = commands.add_parser("discover")
    discover.add_argument("--packages", required=True)
    discover.add_argument("--seed", type=int, default=0)
    discover.add_argument("--wanted", nargs="+", help="timm=40 kornia=20 …", required=True)
    arguments = parser.parse_args()
    if arguments.command == "install":
        return _install(arguments.directory)
    if arguments.command == "discover":
        from .discover import main as run_discovery

        wanted = {name: int(count) for name, _, count in (each.rpartition("=") for each in arguments.wanted)}
        found = run_discovery(wanted, arguments.seed, arguments.packages)
        kept = [s for s in load() if s.package.partition("==")[0] not in wanted] if CATALOGUE.exists() else []
        save([*kept, *found])
        return 0
    from .measure import measure as run_measure
    from .measure import report

    verdicts = Path(arguments.verdicts) if arguments.verdicts else None
    subjects = load(Path(arguments.subjects)) if arguments.subjects else load()
    subjects = [each for each in subjects if arguments.only in f"{each.module}.{each.name}"]
    found_ = run_measure(subjects, arguments.packages, arguments.seed, arguments.each, arguments.jobs, verdicts)
    print(report(found_, arguments.show))
    if arguments.confirm:
        from .confirm import confirmed

        print(confirmed(found_, arguments.packages))
    return 1 if any(each.verdict == "false alarm" for each in found_.judged) else 0


def _install(directory: str) -> int:
    packages = sorted({subject.package for subject in load()})
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", directory]
    return subprocess.run([*command, *packages, *DEPENDENCIES], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
