"""
Generates the operation table that `torchlint.knowledge.ops` reads.

    python -m torchlint.runtime.op_table --write    writes torchlint/knowledge/op_table.json
    python -m torchlint.runtime.op_table --check    generates it anew and compares; exit status 1 where they differ

Two sources: what torch's own derivatives.yaml says (`op_derivatives`), and, for operations composed of others, what
running them shows (`op_probe`). Nothing here is used while linting. See docs/op-table.md.
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from torchlint.knowledge.ops import TABLE
from torchlint.runtime.op_derivatives import Native, Record, read_native

NAMESPACES: Mapping[str, Any] = {
    "torch": torch,
    "torch.nn.functional": torch.nn.functional,
    "torch.special": torch.special,
    "torch.linalg": torch.linalg,
    "torch.fft": torch.fft,
}

# Where the yaml's `python_module` is bound.
_BOUND = {
    "torch._C._nn": "nn",
    "torch._C._special": "special",
    "torch._C._linalg": "linalg",
    "torch._C._fft": "fft",
}


def native_spellings(native: Native) -> dict[str, list[Record]]:
    """Per spelling that is bound straight to native functions, their records; composites included."""
    found: dict[str, list[Record]] = {}
    for name, records in native.methods.items():
        if not inspect.isfunction(inspect.getattr_static(torch.Tensor, name, None)):
            found[f"torch.Tensor.{name}"] = records
    for prefix, name, function in public_functions():
        if inspect.isbuiltin(function):
            module = _BOUND.get(getattr(function, "__module__", None) or "", "")
            records = native.functions.get(module, {}).get(function.__name__, [])
            if records:
                found[f"{prefix}.{name}"] = records
    found.update(native.indexing)
    return found


def public_functions() -> Iterator[tuple[str, str, Any]]:
    """Namespace, name and function of everything callable and public in the namespaces of torch."""
    for prefix, module in NAMESPACES.items():
        for name in sorted(vars(module)):
            function = getattr(module, name)
            if not name.startswith("_") and (inspect.isbuiltin(function) or inspect.isfunction(function)):
                yield prefix, name, function


def derivative_table() -> dict[str, list[Record]]:
    """The part of the table that comes from the yaml files alone, by spelling; composites are opaque in it."""
    return native_spellings(read_native())


def render(table: Mapping[str, list[Record]]) -> str:
    """The table as JSON, equal records once, one record and one spelling per line."""
    lines: dict[str, int] = {}
    spelled = []
    for spelling in sorted(table):
        numbers = []
        for record in table[spelling]:
            line = json.dumps(record.entry(), separators=(",", ":"), sort_keys=True)
            numbers.append(lines.setdefault(line, len(lines)))
        spelled.append(f"{json.dumps(spelling)}:{json.dumps(numbers, separators=(',', ':'))}")
    version = torch.__version__.partition("+")[0]
    return (
        f'{{"torch":"{version}",\n"records":[\n'
        + ",\n".join(lines)
        + '\n],\n"spellings":{\n'
        + ",\n".join(spelled)
        + "\n}}\n"
    )


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m torchlint.runtime.op_table", description=__doc__.split("\n\n")[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="write the table")
    action.add_argument("--check", action="store_true", help="compare with the committed table")
    options = parser.parse_args(arguments)
    text = render(derivative_table())
    if options.write:
        TABLE.write_text(text, encoding="utf-8")
        return 0
    old, new = TABLE.read_text(encoding="utf-8").splitlines(), text.splitlines()
    if old == new:
        return 0
    changed = sorted(set(old) ^ set(new))
    sys.stderr.write(f"{TABLE} is not what torch {torch.__version__} gives; {len(changed)} lines differ:\n")
    sys.stderr.writelines(f"{'-' if line in set(old) else '+'} {line}\n" for line in changed[:40])
    return 1


if __name__ == "__main__":
    sys.exit(main())
