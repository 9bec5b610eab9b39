"""
Records what loaders hand out: the order of the samples, and what each worker made of them.

Runs inside the child. What a worker sees comes back through a pipe that it has inherited, in messages so short that
they arrive whole; a worker that was not forked is not heard. Only looks: no sample, no generator and no order is
changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any

import torch
from torch.utils.data import DataLoader, dataloader
from torch.utils.data._utils import fetch

from torchlint.verify.observe import sample
from torchlint.verify.protocol import Facts

ORDER = "loader-order"
"""The name under which a round over a loader is reported, where `Request.calls` asks for it."""
ROUNDS = 64
"""At most so many rounds are looked at."""
INDICES = 256
"""At most so many indices of a round are reported."""
FETCHES = 6
"""So many fetches of each worker are told."""
ELEMENTS = 4_096
"""Of a larger tensor a sample stands for all."""
GENERATORS = 8
DEPTH = 4
"""Datasets in datasets, and transforms in transforms, are looked through no further."""


class Loaders:
    """
    Watches every loader of torch in this process, and in the workers that are forked from it.

    Parameters
    ----------
    lines
        The program's lines on the stack.
    tell
        Takes a round when it begins: where, and what is known of it, which grows with it.
    """

    def __init__(self, lines: Callable[[], tuple[int, ...]], tell: Callable[[tuple[int, ...], Facts], None]) -> None:
        self.lines = lines
        self.tell = tell
        self.built: weakref.WeakKeyDictionary[Any, tuple[int, tuple[int, ...]]] = weakref.WeakKeyDictionary()
        self.count = 0
        self.fetches = 0
        self.rounds: dict[int, Facts] = {}
        self.drawn: dict[int, tuple[Any, list[int]]] = {}
        self.reader, self.writer = os.pipe()
        for end in (self.reader, self.writer):
            os.set_blocking(end, False)
        self.heard = b""
        self._wrap(DataLoader, "__init__", self._made)
        self._wrap(DataLoader, "__iter__", self._begun)
        self._wrap(dataloader._BaseDataLoaderIter, "_next_index", self._next)
        for kind in (fetch._MapDatasetFetcher, fetch._IterableDatasetFetcher):
            self._wrap(kind, "fetch", self._fetched)

    def listen(self) -> None:
        """Take what workers have told so far to the rounds that they belong to."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self.reader, 1 << 16):
                self.heard += data
        *whole, self.heard = self.heard.split(b"\n")
        for line in whole:
            told = json.loads(line)
            if told["round"] in self.rounds:
                self.rounds[told["round"]]["workers"].append(told)

    def _wrap(self, kind: Any, name: str, around: Callable[..., Any]) -> None:
        original = getattr(kind, name)

        @wraps(original)
        def replaced(owner: Any, *args: Any, **kwargs: Any) -> Any:
            return around(original, owner, *args, **kwargs)

        setattr(kind, name, replaced)

    def _made(self, original: Callable[..., Any], loader: Any, *args: Any, **kwargs: Any) -> None:
        original(loader, *args, **kwargs)
        self.count += 1
        self.built[loader] = (self.count, self.lines())

    def _begun(self, original: Callable[..., Any], loader: Any) -> Any:
        found = original(loader)
        if len(self.drawn) > ROUNDS:
            return found
        number, built = self.built.get(loader, (0, ()))
        sampler = loader.sampler
        shuffles, epoch = getattr(sampler, "shuffle", None), getattr(sampler, "epoch", None)
        _, indices = self._indices(found)
        told: Facts = {
            "kind": "other",
            "loader": number,
            "built": list(built),
            "dataset": type(loader.dataset).__name__,
            "sampler": type(sampler).__name__,
            "shuffles": shuffles if isinstance(shuffles, bool) else None,
            "epoch": epoch if isinstance(epoch, int) else None,
            "count": loader.num_workers,
            "indices": indices,
            "workers": [],
        }
        seed = getattr(found, "_base_seed", None)
        if isinstance(seed, int):
            self.rounds[seed] = told
        self.tell(self.lines(), told)
        return found

    def _indices(self, iterator: Any) -> tuple[Any, list[int]]:
        source = getattr(iterator, "_sampler_iter", None)
        return self.drawn.setdefault(id(source), (source, []))  # with the source, so that its identity stays its own

    def _next(self, original: Callable[..., Any], iterator: Any) -> Any:
        given = original(iterator)
        if len(self.drawn) >= ROUNDS:
            return given
        indices = self._indices(iterator)[1]
        for index in given if isinstance(given, (list, tuple)) else (given,):
            if isinstance(index, int) and len(indices) < INDICES:
                indices.append(index)
        return given

    def _fetched(self, original: Callable[..., Any], fetcher: Any, index: Any) -> Any:
        worker = torch.utils.data.get_worker_info()
        if worker is None:
            return original(fetcher, index)
        self.fetches += 1
        if self.fetches > FETCHES:
            return original(fetcher, index)
        before = _looked(generators, fetcher.dataset) or {}
        data = original(fetcher, index)
        after = _looked(generators, fetcher.dataset) or {}
        drawn = {name: [state, after.get(name, "")] for name, state in before.items()}
        part = {
            "round": worker.seed - worker.id,
            "worker": worker.id,
            "data": _looked(digest, data) or "",
            "samples": _looked(_samples, data) if fetcher.auto_collation else None,
            "states": drawn,
        }
        with contextlib.suppress(OSError):  # a full pipe: what came before will do
            os.write(self.writer, json.dumps(part).encode() + b"\n")
        return data


def _looked(look: Callable[[Any], Any], value: object) -> Any:
    """What is seen of a value; None if its own methods fail at it."""
    try:
        return look(value)
    except Exception:
        return None


def generators(dataset: object) -> dict[str, str]:
    """The state of each random generator that a dataset holds, or the module of its class, shortened."""
    found: dict[str, str] = {}
    module = sys.modules.get(type(dataset).__module__)
    for name, value in (*_held(dataset, DEPTH, set()), *(list(vars(module).items()) if module else ())):
        if len(found) == GENERATORS:
            break
        state = _state(value)
        if state is not None:
            found.setdefault(name, _short(state))
    return found


def _held(value: object, depth: int, seen: set[int]) -> Iterator[tuple[str, object]]:
    if depth == 0 or id(value) in seen or isinstance(value, (str, bytes, torch.Tensor, type)):
        return
    seen.add(id(value))
    inner: list[tuple[str, object]] = []
    if isinstance(value, Mapping):
        inner = [(str(key), each) for key, each in list(value.items())[:INDICES]]
    elif isinstance(value, (list, tuple)):
        inner = [("", each) for each in value[:64]]
    elif hasattr(value, "__dict__"):
        inner = list(vars(value).items())
    for name, each in inner:
        yield name, each
        yield from _held(each, depth - 1, seen)


def _state(value: object) -> str | None:
    if isinstance(value, torch.Generator):
        return repr(value.get_state().tolist())
    if isinstance(value, random.Random):
        return repr(value.getstate())
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.random.Generator):
        return repr(value.bit_generator.state)
    if numpy is not None and isinstance(value, numpy.random.RandomState):
        return repr([part.tolist() if hasattr(part, "tolist") else part for part in value.get_state()])
    return None


def digest(value: object) -> str:
    """What a sample or a batch is, shortened; "" where that cannot be told."""
    written = _written(value, DEPTH)
    return "" if written is None else _short(written)


def _samples(batch: object) -> list[str] | None:
    """What each sample of a batch is, where its parts are tensors of one length."""
    whole = list(batch.values()) if isinstance(batch, Mapping) else batch
    parts: list[Any] = list(whole) if isinstance(whole, (list, tuple)) else [whole]
    lengths = {len(part) if isinstance(part, torch.Tensor) and part.ndim else 0 for part in parts}
    if len(lengths) != 1 or not 0 < (length := lengths.pop()) <= INDICES:
        return None
    return [digest([part[row] for part in parts]) for row in range(length)]


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _written(value: object, depth: int) -> str | None:
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} {tuple(value.shape)} {sample(value) if value.numel() > ELEMENTS else value.tolist()}"
    if type(value).__module__ == "numpy" and hasattr(value, "tobytes"):
        return f"{getattr(value, 'dtype', '')} {getattr(value, 'shape', '')} {value.tobytes().hex()}"
    if depth and isinstance(value, Mapping):
        value = [item for pair in value.items() for item in pair]
    if depth and isinstance(value, (list, tuple)):
        parts = [_written(each, depth - 1) for each in value]
        return None if None in parts else f"[{', '.join(filter(None, parts))}]"
    return None
