"""
What changes of the operation table from one release of torch to another: `python -m torchlint.optable.releases DIR`.

DIR holds the `torchgen` folder of another release, unpacked from its wheel (nothing of that wheel is run but its
generator, so a wheel of any platform will do: the smallest is that for macOS). Compares the part of the table that
comes from the yaml files, overload by overload, with that of the installed torch. See docs/op-table.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from torchlint.optable.derivatives import Record, read_native

Facts = Mapping[str, Mapping[str, Mapping[str, object]]]
"""By spelling and by parameters, what the table says of an overload."""

SIGNATURE = ("name", "parameters")


def facts() -> Facts:
    """The facts of the torchgen that this process imports, as plain data; names that begin with `_` are left out."""
    native = read_native()
    spelled = {f"torch.Tensor.{name}": records for name, records in native.methods.items()}
    for module, functions in native.functions.items():
        prefix = f"torch.{module}." if module else "torch."
        spelled.update({prefix + name: records for name, records in functions.items()})
    spelled.update(native.indexing)
    return {
        spelling: {
            record.parameters: _comparable(replace(record, saves=tuple(sorted(record.saves)))) for record in records
        }
        for spelling, records in spelled.items()
        if not spelling.rpartition(".")[2].startswith("_")
    }


def _comparable(record: Record) -> dict[str, object]:
    return {key: value for key, value in record.entry().items() if key not in SIGNATURE}


def facts_of(folder: Path) -> Facts:
    """
    As `facts`, of the `torchgen` in a folder: read in a process of its own.

    Raises
    ------
    subprocess.CalledProcessError
        if there is none, or if its generator has another interface.
    """
    path = os.pathsep.join([str(folder.resolve()), str(Path(__file__).parents[2])])
    child = subprocess.run(
        [sys.executable, "-m", "torchlint.optable.releases", "--print"],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    found: Facts = json.loads(child.stdout)
    return found


def changes(before: Facts, after: Facts) -> Iterator[tuple[str, str]]:
    """Spelling and change, of what both releases have or only one of them."""
    for spelling in sorted(before.keys() | after.keys()):
        if spelling not in before or spelling not in after:
            yield spelling, "only after" if spelling in after else "only before"
            continue
        olds, news = before[spelling], after[spelling]
        for parameters in sorted(olds.keys() & news.keys()):
            old, new = olds[parameters], news[parameters]
            words = [
                f"{key} {old.get(key, '-')} -> {new.get(key, '-')}"
                for key in sorted(old.keys() | new.keys())
                if old.get(key) != new.get(key)
            ]
            if words:
                yield spelling, f"({parameters}): {'; '.join(words)}"


def main(arguments: list[str] | None = None) -> int:
    """The command; exit status 0 whatever has changed."""
    parser = argparse.ArgumentParser(prog="python -m torchlint.optable.releases", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="folders with the `torchgen` of other releases")
    parser.add_argument("--print", action="store_true", help="print the facts of the torchgen imported, as JSON")
    options = parser.parse_args(arguments)
    if options.print:
        json.dump(facts(), sys.stdout)
        return 0
    installed = json.loads(json.dumps(facts()))  # tuples as lists, as the others come
    for folder in options.folders:
        other = facts_of(folder)
        common = sum(len(other.get(spelling, {}).keys() & records.keys()) for spelling, records in installed.items())
        found = list(changes(other, installed))
        print(f"{folder.name}: {common} overloads in both; the installed torch differs in {len(found)} places")
        for spelling, change in found:
            print(f"  {spelling} {change}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
