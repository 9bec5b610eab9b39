"""
Generates the table of changes of torch's API that `torchlint.knowledge.api.find` reads.

    python -m torchlint.optable.api --sources DIR --write    writes torchlint/knowledge/api/changes.json
    python -m torchlint.optable.api --sources DIR --check    generates it anew and compares; status 1 where they differ
    python -m torchlint.optable.api --facts --write          only puts the facts into the table that is there
    python -m torchlint.optable.api --facts --check          says whether they are in it

DIR holds the Python files of each release, from its wheel; what is missing is downloaded. Nothing of them is run. With
`--facts` what the sources say is taken from the table that is there: no wheel is needed, a second is enough, and a row
that nothing says any more stays. What
the sources tell (names that came and went, parameters, places that say that something is deprecated) is merged with
`api_facts` and `api_came`; the torch that is installed, the newest of the releases, has the last word on what is there.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import json
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from torchlint.optable import api_came as came
from torchlint.optable import api_facts as facts
from torchlint.optable.api_sources import Release, Signature, download
from torchlint.target import release

RELEASES = ("1.13.0", *(f"2.{minor}.0" for minor in range(14)))
TABLE = Path(__file__).parents[1] / "knowledge" / "api" / "changes.json"
_JUNK = re.compile(
    r"^functorch\.(setup|dim|compile|experimental|einops)|^torch\.(return_types|types|utils\.(hipify|benchmark|data\."
    r"communication|data\.datapipes\.gen_pyi))|\.torch$|^torch\.(fx\.experimental|ao\.quantization\.fx|distributed\.elastic)"
    r"|^torch\.linalg\.Tensor$|^torch\.(xpu|mtia)\."
)
"""What nobody refers to: parts of the build, of tools, of torch's own machinery that bear a public name."""
_SHOWN = frozenset({"FutureWarning", "UserWarning"})
"""Warnings that Python shows unless told otherwise."""


def minor(number: str) -> str:
    """ "2.1" of "2.1.0"."""
    return ".".join(number.split(".")[:2])


def is_there(dotted: str) -> bool:
    """Whether the torch that is installed has a name."""
    return of_torch(dotted) is not _NOTHING


_NOTHING = object()


@cache
def of_torch(dotted: str) -> Any:
    """What the torch that is installed has by a name; `_NOTHING` if there is none."""
    parts = dotted.split(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for length in range(len(parts), 0, -1):
            try:
                found: Any = importlib.import_module(".".join(parts[:length]))
            except Exception:
                continue
            for part in parts[length:]:
                found = getattr(found, part, _NOTHING)
                if found is _NOTHING:
                    return _NOTHING
            return found
    return _NOTHING


def table(folder: Path) -> dict[str, Any]:
    """The whole table, as it is written."""
    releases = {number: Release(download(number, folder)) for number in RELEASES}
    public = {number: set(each.public()) for number, each in releases.items()}
    read = {
        "names": dict(_generated(releases, public)),
        "since": dict(_since(releases, public)),
        "arguments": _arguments(releases, public),
        "new_arguments": _new_arguments(releases, public),
        "unsaid": {},
    }
    return _with_facts(read, tuple(releases.values()))


def with_facts(kept: Mapping[str, Any]) -> dict[str, Any]:
    """
    The table that is there with the facts of `api_facts` and `api_came` in it.

    Where an argument stands that no row tells of yet is read from the torch that is installed.

    Parameters
    ----------
    kept
        The table.
    """
    import torch

    return _with_facts(kept, (Release(Path(torch.__file__).parents[1]),))


def _with_facts(read: Mapping[str, Any], releases: Sequence[Release]) -> dict[str, Any]:
    """What sources say, merged with facts; `releases`, in order, say where arguments stand that no row tells of."""
    names: dict[str, dict[str, object]] = {name: dict(row) for name, row in read["names"].items()}
    for name in list(names):
        module, _, last = name.rpartition(".")
        if f"{facts.SAME.get(module)}.{last}" in facts.DEPRECATED:
            del names[name]
    for name, (gone, before, instead, how, source) in facts.REMOVED.items():
        names[name] = _row(removed=gone, deprecated=before, instead=instead, how=how, source=source)
    for name, (when, instead, how, shown, source) in facts.DEPRECATED.items():
        known = {key: names[name][key] for key in ("removed",) if key in names.get(name, {})}
        names[name] = _row(deprecated=when, instead=instead, how=how, quiet=not shown, source=source) | known
    private = {
        name: _row(instead=twin, how="rename" if same else "twin" if name in facts.TWINS else "", private=when)
        for name, (twin, when, same) in facts.PRIVATE.items()
        if twin
    }
    for name, row in private.items():
        names[name] = row | {key: value for key, value in names.get(name, {}).items() if key in ("removed",)}
    for name, row in names.items():
        if "removed" in row and is_there(name):
            row["stub"] = True
        if name in facts.DERIVED:
            row["derived"] = True
        row |= facts.DIFFERS.get(name, {})
        if name.startswith(f"{row.get('instead')}."):  # a module says that another part of it is to be used, or none
            del row["instead"]
    return {
        "names": dict(sorted(names.items())),
        "since": dict(sorted((read["since"] | came.SINCE).items())),
        "importable": came.IMPORTABLE,
        "arguments": _with_arguments(read["arguments"], releases),
        "new_arguments": dict(sorted((read["new_arguments"] | _new_natively()).items())),
        "new_positions": {each[0]: {each[1]: list(each[3:])} for each in came.NEW_ARGUMENTS},
        "unsaid": _unsaid(read["unsaid"], releases[-1]),
        "same": _same([*names, *(f["function"] for f in facts.UNSAID), *_functions()]),
    }


def _new_natively() -> dict[str, dict[str, str]]:
    """By function of the native library: arguments that came later than itself."""
    return {function: {argument: when} for function, argument, when, _, _ in came.NEW_ARGUMENTS}


def _functions() -> list[str]:
    return [function for fact in facts.ARGUMENTS for function in fact["functions"]]


def _same(names: Iterable[str]) -> dict[str, str]:
    """Other ways to the very same object."""
    found = {}
    for name in names:
        module, _, last = name.rpartition(".")
        for other, same in facts.SAME.items():
            if same == module and (one := of_torch(name)) is not _NOTHING and of_torch(f"{other}.{last}") is one:
                found[f"{other}.{last}"] = name
    return dict(sorted(found.items()))


def _row(**values: object) -> dict[str, object]:
    return {key: value for key, value in values.items() if value}


def _since(releases: Mapping[str, Release], public: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """The release in which each name came that has come since the first."""
    newest = RELEASES[-1]
    for name in public[newest]:
        if _JUNK.search(name) or name in came.STUB_CAME_LATE or not is_there(name):
            continue
        having = [number for number in RELEASES if releases[number].has(name)]
        first = having[0] if having else newest
        at = RELEASES.index(first)
        if at == 0 or len(having) != len(RELEASES) - at or not releases[first].is_read_with_certainty(name):
            continue
        yield name, minor(first)


def _generated(
    releases: Mapping[str, Release], public: Mapping[str, set[str]]
) -> Iterator[tuple[str, dict[str, object]]]:
    """What went, and what says that it will go."""
    newest = releases[RELEASES[-1]]
    for name in sorted(set().union(*public.values())):
        if _JUNK.search(name):
            continue
        row: dict[str, object] = {}
        there = [number for number in RELEASES if name in public[number] and not releases[number].only_raises(name)]
        if not there:
            continue
        last = RELEASES.index(there[-1])
        if last + 1 < len(RELEASES):
            follows = releases[RELEASES[last + 1]]
            gone = follows.only_raises(name) or not (follows.has(name) or newest.has(name) or is_there(name))
            if gone and _is_worth_a_row(releases[there[-1]], name):
                row["removed"] = minor(RELEASES[last + 1])
        said = [number for number in there if releases[number].deprecation(name) is not None]
        if said:
            notice = releases[said[-1]].deprecation(name)
            assert notice is not None
            if said[-1] == there[-1]:
                row["deprecated"] = minor(said[0])
                row["earlier"] = said[0] == RELEASES[0]
                row["quiet"] = notice.category not in _SHOWN
                row["instead"] = _instead(notice.message, name, releases[said[-1]])
        if row:
            row["source"] = f"https://github.com/pytorch/pytorch/tree/v{there[-1]}"
            yield name, _row(**row)


def _is_worth_a_row(of: Release, name: str) -> bool:
    """Functions, classes and modules: nobody asks for the variables of a module."""
    defined = isinstance(of.definition(name), (ast.FunctionDef, ast.ClassDef))
    return defined or of.module(name) is not None or name.startswith("torch.Tensor.")


def _instead(message: str, name: str, of: Release) -> str:
    """The public name that a warning tells to use, if there is one of that name, and it is not what it warns of."""
    own = of.definition(name)
    for word in re.findall(r"(?:torch|functorch)(?:\.\w+)+", message):
        if "._" not in word and word != name and is_there(word) and (own is None or of.definition(word) is not own):
            return str(word)
    return ""


def _arguments(
    releases: Mapping[str, Release], public: Mapping[str, set[str]]
) -> dict[str, dict[str, dict[str, object]]]:
    """By function and argument: since when it is deprecated, when it went, where it stands."""
    found: dict[str, dict[str, dict[str, object]]] = {}
    newest = releases[RELEASES[-1]]
    for before, after in pairwise(RELEASES):
        for name in sorted(public[before]):
            old, new = releases[before].parameters(name), releases[after].parameters(name)
            if old is None or new is None or new.open or _JUNK.search(name) or not _in_python(releases[after], name):
                continue
            if _dispatches(name):
                continue
            last = newest.parameters(name)
            for argument in old.defaults:
                lasts = last is not None and (argument in last.defaults or last.open)
                if argument not in new.defaults and not lasts and not argument.startswith("_"):
                    row = _row(removed=minor(after), source=f"https://github.com/pytorch/pytorch/tree/v{after}")
                    found.setdefault(name, {})[argument] = row
    return found


def _with_arguments(
    read: Mapping[str, Mapping[str, Mapping[str, object]]], releases: Iterable[Release]
) -> dict[str, dict[str, Mapping[str, object]]]:
    found = {function: dict(rows) for function, rows in read.items() if not _dispatches(function)}
    for fact in facts.ARGUMENTS:
        for function in fact["functions"]:
            for argument in fact["arguments"]:
                row = _row(**{key: value for key, value in fact.items() if key not in ("functions", "arguments")})
                known = found.get(function, {}).get(argument, {}).get("at", -1)
                assert isinstance(known, int)
                places = (known, *(_at(each, function, argument) for each in releases if known < 0))
                at = next((place for place in places if place >= 0), -1)
                found.setdefault(function, {})[argument] = row | ({"at": at} if at >= 0 else {})
    return dict(sorted(found.items()))


def _dispatches(name: str) -> bool:
    """Whether a function takes other arguments for other types of its first (`functools.singledispatch`)."""
    return hasattr(of_torch(name), "registry")


def _in_python(of: Release, name: str) -> bool:
    """Whether what is read of a function are its own parameters, and not those of a stub."""
    return of.is_written_in_python(name)


def _at(of: Release, function: str, argument: str) -> int:
    signature = of.parameters(function)
    return signature.positional.index(argument) if signature and argument in signature.positional else -1


def _new_arguments(releases: Mapping[str, Release], public: Mapping[str, set[str]]) -> dict[str, dict[str, str]]:
    """By function: arguments that came in a later release than the function itself."""
    found: dict[str, dict[str, str]] = {}
    newest = RELEASES[-1]
    for name in sorted(public[newest]):
        if _JUNK.search(name):
            continue
        signatures: list[Signature | None] = [
            each.parameters(name) if _in_python(each, name) else None for each in releases.values()
        ]
        last = signatures[-1]
        if last is None:
            continue
        for argument in last.defaults:
            missing = [
                number
                for number, each in zip(RELEASES, signatures, strict=True)
                if each is not None and argument not in each.defaults
            ]
            opened = any(each is not None and each.open for each in signatures)
            if not missing or opened or argument.startswith("_"):
                continue
            after = RELEASES.index(missing[-1]) + 1
            if all(each is not None and argument in each.defaults for each in signatures[after:]):
                found.setdefault(name, {})[argument] = minor(RELEASES[after])
    return found


def _unsaid(read: Mapping[str, Mapping[str, Any]], newest: Release) -> dict[str, dict[str, object]]:
    found = {}
    for fact in facts.UNSAID:
        known = read.get(fact["function"], {})
        same = known.get("argument") == fact["argument"]
        at = known.get("at", -1) if same else _at(newest, fact["function"], fact["argument"])
        found[fact["function"]] = _row(**{k: v for k, v in fact.items() if k != "function"}) | (
            {"at": at} if at >= 0 else {}
        )
    return found


def text(of: Mapping[str, Any]) -> str:
    """The table as it stands in the file: a row a line."""
    parts = []
    for section, rows in of.items():
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in rows.items())
        parts.append(f"{json.dumps(section)}: {{\n{lines}\n}}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(arguments: Iterable[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m torchlint.optable.api", description=__doc__)
    of = parser.add_mutually_exclusive_group(required=True)
    of.add_argument("--sources", type=Path, help="where the Python files of the releases are kept")
    of.add_argument("--facts", action="store_true", help="take what the sources say from the table that is there")
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--write", action="store_true", help="write the table")
    kind.add_argument("--check", action="store_true", help="compare it with the one that is there")
    options = parser.parse_args(None if arguments is None else list(arguments))
    gc.disable()  # the trees of all releases are kept, and the collector would go over them again and again
    kept = TABLE.read_text(encoding="utf-8")
    made = text(with_facts(json.loads(kept)) if options.facts else table(options.sources))
    if options.write:
        TABLE.write_text(made, encoding="utf-8")
        return 0
    same = kept == made
    print(
        "the table is as it would be generated"
        if same
        else "the table differs: python -m torchlint.optable.api --write"
    )
    return int(not same)


assert [minor(number) for number in RELEASES] == sorted(map(minor, RELEASES), key=release)

if __name__ == "__main__":
    sys.exit(main())
