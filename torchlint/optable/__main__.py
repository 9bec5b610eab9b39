"""
Generates the operation table that `torchlint.knowledge.ops.find` reads.

    python -m torchlint.optable.__main__ --write    writes torchlint/knowledge/op_table.json
    python -m torchlint.optable.__main__ --check    generates it anew and compares; exit status 1 where they differ

Two sources: what torch's own derivatives.yaml says (`op_derivatives`), and, for operations composed of others, what
running them shows (`op_probe`). Nothing here is used while linting. See docs/op-table.md.
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from torchlint.knowledge.ops.binding import bind, plain
from torchlint.knowledge.ops.description import Parameter, read_parameters
from torchlint.knowledge.ops.find import TABLE
from torchlint.optable.derivatives import Native, Record, read_native
from torchlint.optable.fit import Run, grow, run_of
from torchlint.optable.probe import Call, observe_all
from torchlint.optable.samples import kind_of, opinfo_calls, own_calls, resolve
from torchlint.optable.signatures import python_records, signature_of

SAMPLES = 40
MOVES = frozenset({"torch.Tensor.to", "torch.Tensor.cpu", "torch.Tensor.type", "torch.Tensor.type_as"})
ABSENT = object()

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
    return {spelling: list(_reachable(records)) for spelling, records in found.items()}


def _reachable(records: Sequence[Record]) -> Iterator[Record]:
    """Without overloads for a number that an overload for a tensor takes first (`multiply.Scalar`)."""
    taken = {
        record.parameters.replace("tensor|number", "number") for record in records if "|number" in record.parameters
    }
    return (record for record in records if record.parameters not in taken)


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


def calls_by_spelling(limit: int) -> dict[str, list[Call]]:
    """All calls there are of operations in the public namespaces, at most `limit` of OpInfo's samples per entry."""
    calls: dict[str, list[Call]] = {}
    for spelling, call in itertools.chain(own_calls(), opinfo_calls(limit)):
        if spelling.rpartition(".")[0] in (*NAMESPACES, "torch.Tensor", "getitem", "setitem"):
            calls.setdefault(spelling, []).append(call)
    return calls


def halves(spelling: str, calls: Sequence[Call]) -> tuple[list[Call], list[Call]]:
    """The calls of one spelling, with their layouts, dealt out at random (but always alike): to fit, and to try."""
    variants = [variant for call in calls for variant in layouts(call)]
    random.Random(spelling).shuffle(variants)
    middle = (len(variants) + 1) // 2
    return variants[:middle], variants[middle:]


def complete_table(limit: int = SAMPLES, held_out: bool = False) -> dict[str, list[Record]]:
    """
    The whole table: composites filled in, and functions written in Python added, by running them.

    Parameters
    ----------
    limit
        At most so many of OpInfo's samples per operation.
    held_out
        Fit to the first of the `halves` only, so that the table can be tried on the other.
    """
    table = derivative_table()
    for spelling, tried in calls_by_spelling(limit).items():
        records = table.get(spelling) or _python_records(spelling, tried)
        if any(record.composite for record in records):
            first, second = halves(spelling, tried)
            table[spelling] = _probed(records, first if held_out else first + second)
    for spelling in MOVES & table.keys():
        table[spelling] = [_moved(record) for record in table[spelling]]
    parameters = "self:tensor device:other|none= non_blocking:bool="
    table["torch.Tensor.cuda"] = [replace(record, parameters=parameters) for record in table["torch.Tensor.cpu"]]
    return table


def _moved(record: Record) -> Record:
    """Run on a CPU, a move to the CPU is always the tensor itself; from or to another device it is a copy."""
    return replace(record, aliases=tuple(name.rstrip("?") + "?" for name in record.aliases), node="")


def _python_records(spelling: str, calls: Sequence[Call]) -> list[Record]:
    function = resolve(spelling)
    signature = signature_of(function) if function is not None else None
    observed = []
    for call in calls:
        if signature is not None:
            try:
                arguments = signature.bind(*call.positional, **call.keywords).arguments
            except TypeError:
                continue
            observed.append({name: kind_of(value) for name, value in arguments.items()})
    return python_records(spelling, function, observed) if function is not None else []


def _probed(records: Sequence[Record], calls: Sequence[Call]) -> list[Record]:
    parameters = [read_parameters(record.parameters) for record in records]
    runs: list[list[Run]] = [[] for _ in records]
    for number, call in enumerate(calls):
        bound = bind_call(parameters, call)
        if bound is None or not records[bound[0]].composite:
            continue
        at, names = bound
        features = features_of(call, names, parameters[at], records[at].defaults)
        slots = {slot: names[slot[0]] for slot in call.slots()}
        runs[at].extend(run_of(number, features, seen, slots) for seen in observe_all(call))
    filled: list[Record] = []
    for record, seen in zip(records, runs, strict=True):
        filled.extend(grow(record, seen) if seen else [record])
    return filled


def bind_call(overloads: Sequence[Sequence[Parameter]], call: Call) -> tuple[int, dict[str | int, str]] | None:
    """Which overload a call runs, and the parameter that each of its positions and keywords goes to."""
    positional = [kind_of(value) for value in call.positional]
    keywords = {name: kind_of(value) for name, value in call.keywords.items()}
    for at, parameters in enumerate(overloads):
        bound = bind(parameters, positional, keywords)
        if bound is not None:
            names = {place: name for name, place in bound[0].items()}
            variadic = next((p.name for p in parameters if p.variadic), "")
            return at, names | {n: variadic for n in range(len(positional)) if n not in names}
    return None


def features_of(
    call: Call, names: Mapping[str | int, str], parameters: Sequence[Parameter], defaults: Mapping[str, object]
) -> dict[str, object]:
    """What a caller may know of the arguments: see `op_fit.Run`."""
    features: dict[str, object] = {}
    given = {name: place for place, name in names.items()}
    for parameter in parameters:
        name = parameter.name
        place = given.get(name)
        value = (
            defaults.get(name, ABSENT)
            if place is None
            else call.positional[place]
            if isinstance(place, int)
            else call.keywords[place]
        )
        if parameter.kind == "tensor":
            if not parameter.required:
                features[f"{name}.given"] = isinstance(value, torch.Tensor)
            if isinstance(value, torch.Tensor):
                features[f"{name}.rank"] = value.dim()
                features[f"{name}.contiguous"] = value.is_contiguous()
                features[f"{name}.floating"] = value.is_floating_point() or value.is_complex()
                features[f"{name}.dtype"] = str(value.dtype)
        elif isinstance(value, torch.dtype):
            features[f"{name}.floating"] = value.is_floating_point or value.is_complex
        else:
            if parameter.kind == "other" and not parameter.required:
                features[f"{name}.given"] = place is not None and value is not None
            if (literal := plain(value)) is None or isinstance(literal, (bool, int, float, str)):
                features[name] = literal
    return features


def layouts(call: Call) -> Iterator[Call]:
    """The call as it is, and with each of its matrices laid out column by column."""
    yield call
    for place, value in (*enumerate(call.positional), *call.keywords.items()):
        if isinstance(value, torch.Tensor) and value.dim() >= 2 and min(value.shape[-2:]) > 1:
            other = value.mT.contiguous().mT
            positional = tuple(other if at == place else v for at, v in enumerate(call.positional))
            keywords = {name: other if name == place else v for name, v in call.keywords.items()}
            yield Call(call.function, positional, keywords)


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
    parser = argparse.ArgumentParser(prog="python -m torchlint.optable.__main__", description=__doc__.split("\n\n")[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="write the table")
    action.add_argument("--check", action="store_true", help="compare with the committed table")
    options = parser.parse_args(arguments)
    text = render(complete_table())
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
