"""
Which torch the packages around it require, release by release: `python -m torchlint.optable.companions --write`.

Asks pip, which reads what the wheel of each release says of itself (`Requires-Dist`); nothing of it is installed or
run. Of each minor release the first and the last wheel are asked for, and the others where these two name different
releases of torch. What the table has is not asked for again: a wheel does not change. `--check` asks for a few of the
rows (`--rows`), and says which differ. Needs the index that pip is set up with. `torchlint.project.companions` reads
the rows.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

TABLE = Path(__file__).parents[1] / "knowledge/api/companions.json"
PACKAGES = ("torchvision", "torchaudio", "torchtext", "pytorch-lightning", "lightning")
PYTHONS = ("3.10", "3.8", "3.12", "3.7")
"""Those that the wheels are made for, one for each time."""
PLATFORMS = ("manylinux1_x86_64", "manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64", "any")
FINAL = re.compile(r"\d+(\.\d+){1,2}")
TORCH = re.compile(r"torch\s*(?:$|[(<>=!~;])")
REQUIRED = re.compile(r"(?:==|>=)\s*(\d+\.\d+)")


def pip(*arguments: str) -> str:
    """What pip prints; "" where it finds nothing."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout


def versions(package: str) -> list[str]:
    """The final releases of a package, the oldest first."""
    found = set[str]()
    for python in PYTHONS:
        reply = pip("index", "versions", "--only-binary=:all:", "--python-version", python, *_platforms(), package)
        listed = reply.partition("Available versions:")[2].partition("\n")[0]
        found |= set(filter(FINAL.fullmatch, map(str.strip, listed.split(","))))
    return sorted(found, key=_number)


def _platforms() -> list[str]:
    return [part for each in PLATFORMS for part in ("--platform", each)]


def required(package: str, version: str) -> str | None:
    """What a release says of torch, in its own words ("" if nothing); None where there is no wheel."""
    for python in PYTHONS:
        with tempfile.TemporaryDirectory() as folder:
            options = [
                "--no-deps",
                "--only-binary=:all:",
                "--python-version",
                python,
                "--target",
                folder,
                *_platforms(),
            ]
            reply = pip(
                "install",
                "--dry-run",
                "--ignore-installed",
                "--quiet",
                *options,
                "--report",
                "-",
                f"{package}=={version}",
            )
        if reply:
            requires = json.loads(reply)["install"][0]["metadata"].get("requires_dist", [])
            return next((each.partition(";")[0].strip() for each in requires if TORCH.match(each)), "")
    return None


def rows(package: str, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Versions, and what they require; those that are known are not asked for."""

    def said(version: str) -> str | None:
        return known[version] if version in known else required(package, version)

    for _, group in groupby(versions(package), key=lambda version: _number(version)[:2]):
        patches = list(group)
        ends = {version: said(version) for version in (patches[0], patches[-1])}
        if len({str(REQUIRED.findall(each or "")) for each in ends.values()}) > 1:
            ends |= {version: said(version) for version in patches}
        for version in sorted(ends, key=_number):
            requirement = ends[version]
            if requirement is not None:
                yield version, requirement


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def main(arguments: Iterable[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m torchlint.optable.companions", description=__doc__)
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--write", action="store_true", help="write the table")
    kind.add_argument("--check", action="store_true", help="ask for a few rows again")
    parser.add_argument("--rows", type=int, default=5, help="how many (default: 5)")
    parser.add_argument("--seed", type=int, default=0, help="which")
    options = parser.parse_args(None if arguments is None else list(arguments))
    known: dict[str, dict[str, str]] = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    if options.write:
        for package in PACKAGES:
            known[package] = dict(rows(package, known.get(package, {})))
            TABLE.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        return 0
    everything = [(package, version) for package, said in known.items() for version in said]
    differing = 0
    for package, version in random.Random(options.seed).sample(everything, min(options.rows, len(everything))):
        now = required(package, version)
        print(f"{package} {version}: {now}" + ("" if now == known[package][version] else "  DIFFERS"))
        differing += now != known[package][version]
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
