"""
Torch's word on mutants: builds a Module, runs it forward and backward, and says whether autograd objects.

Runs in a process of its own (`python -m tests.injection.oracle --packages DIR`): reads jobs from standard input and
writes verdicts to standard output, one JSON object per line. Every subject runs in a forked child, so that a crash or
an endless loop costs that subject alone. A mutated `forward` is compiled from the mutated file and put in the place of
the original's code, so nothing is registered twice and closures stay.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib
import importlib.util
import inspect
import json
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Mapping
from types import CodeType, FrameType, FunctionType
from typing import Any

import torch

from .subjects import Mutant, Subject

ABOUT_AUTOGRAD = (
    "modified by an inplace operation",
    "a leaf Variable that requires grad",
    "is a view and is being modified inplace",
    "is a view and its base or another view",
    "more than one element of the written-to tensor refers to a single memory location",
)
"""Parts of the messages by which torch refuses an in-place write, or a backward after one."""
SECONDS = 8
"""For one run."""
_LIBRARIES: list[torch.library.Library] = []


@dataclasses.dataclass
class Run:
    """
    What came of one forward and backward: "ok", "breaks" (autograd objected to a write) or "fails".

    `lines` are those that ran of the files of the subject's package, by their paths in the folder of the packages.
    """

    verdict: str
    message: str = ""
    differentiated: bool = False
    lines: dict[str, list[int]] = dataclasses.field(default_factory=dict)


class _TooLongError(Exception):
    pass


def vocabulary(requires_grad: bool) -> dict[str, Any]:
    """The words in which subjects say how they are built and called."""
    generator = torch.Generator().manual_seed(1)

    def rand(*shape: int) -> torch.Tensor:
        leaf = torch.rand(shape, generator=generator) + 0.1
        # a clone, because inputs inside a network are no leaves; it saves nothing and shares nothing
        return leaf.requires_grad_().clone() if requires_grad else leaf

    def ints(*shape: int, below: int) -> torch.Tensor:
        return torch.randint(0, below, shape, generator=generator)

    def config(kind: type[Any], **settings: Any) -> Any:
        made = kind(**settings)
        made._attn_implementation = "eager"
        return made

    return {"torch": torch, "nn": torch.nn, "rand": rand, "ints": ints, "config": config}


def prepare(packages: str) -> None:
    """Make the packages importable."""
    sys.path.append(packages)
    warnings.simplefilter("ignore")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    # Wheels of torchvision are built against one torch (with CUDA, on PyPI); beside another one its operators cannot be
    # loaded, but its Python is good as soon as these names exist.
    if importlib.util.find_spec("torchvision") is not None:
        library = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _LIBRARIES.append(library)


def run(subject: Subject, *, requires_grad: bool, packages: str = "") -> Run:
    """Build, call, differentiate; with the folder of the packages, note the lines that run."""
    torch.manual_seed(0)
    lines: dict[str, set[int]] = {}
    differentiated = False
    try:
        with _limited(), _lines(subject, packages, lines) if packages else contextlib.nullcontext():
            words = vocabulary(requires_grad)
            scope = {**vars(sys.modules[subject.module]), **words}
            module = eval(subject.construct, scope)
            inputs = {name: eval(text, scope) for name, text in subject.inputs.items()}
            outputs = [each for each in tensors(module(**inputs)) if each.requires_grad]
            if outputs:
                differentiated = True
                sum(_total(each) for each in outputs).backward()
    except Exception as error:
        message = str(error).strip()
        breaks = any(part in message for part in ABOUT_AUTOGRAD)
        return Run("breaks" if breaks else "fails", f"{type(error).__name__}: {message}"[:1000], False, _sorted(lines))
    return Run("ok", "", differentiated, _sorted(lines))


def _sorted(lines: dict[str, set[int]]) -> dict[str, list[int]]:
    return {file: sorted(numbers) for file, numbers in lines.items()}


def _total(tensor: torch.Tensor) -> Any:
    return torch.view_as_real(tensor).sum() if tensor.is_complex() else tensor.sum()


def tensors(value: Any, depth: int = 4) -> Iterator[torch.Tensor]:
    """The tensors in what a `forward` returned."""
    inner: Any = ()
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        inner = value.values()
    elif isinstance(value, (list, tuple, set)):
        inner = value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = vars(value).values()
    for each in inner if depth else ():
        yield from tensors(each, depth - 1)


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def expired(number: int, frame: FrameType | None) -> None:
        raise _TooLongError(f"more than {SECONDS} s")

    former = signal.signal(signal.SIGALRM, expired)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, former)


@contextlib.contextmanager
def _lines(subject: Subject, packages: str, found: dict[str, set[int]]) -> Iterator[None]:
    """Note the lines of a subject's package that run."""
    files: dict[str, str | None] = {}

    def inside(frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            file = files[frame.f_code.co_filename]
            assert file is not None
            found.setdefault(file, set()).add(frame.f_lineno)
        return inside

    def calls(frame: FrameType, event: str, argument: object) -> Any:
        name = frame.f_code.co_filename
        if name not in files:
            files[name] = subject.file_of(name, packages)
        return inside if files[name] is not None else None

    sys.settrace(calls)
    try:
        yield
    finally:
        sys.settrace(None)


def forward_of(cls: type[Any]) -> FunctionType:
    """The function that a class's `forward` is, below its decorators."""
    function = inspect.unwrap(cls.__dict__["forward"])
    assert isinstance(function, FunctionType)
    return function


def _code(whole: CodeType, wanted: CodeType) -> CodeType | None:
    pending = [whole]
    while pending:
        code = pending.pop()
        if (code.co_name, code.co_firstlineno) == (wanted.co_name, wanted.co_firstlineno):
            return code
        pending += [each for each in code.co_consts if isinstance(each, CodeType)]
    return None


def judge(subject: Subject, mutants: list[Mutant], packages: str) -> dict[str, Any]:
    """The verdicts on a subject as it is and on its mutants."""
    module = importlib.import_module(subject.module)
    cls = getattr(module, subject.name)
    function = forward_of(cls)
    original = function.__code__
    with open(original.co_filename, encoding="utf-8") as file:
        text = file.read()
    plain = [run(subject, requires_grad=grad) for grad in (True, False)]
    if any(each.verdict != "ok" for each in plain) or not plain[0].differentiated:
        return {"sound": False, "message": " | ".join(each.message for each in plain), "mutants": []}
    found = []
    for mutant in mutants:
        code = _code(compile(mutant.applied(text), original.co_filename, "exec", dont_inherit=True), original)
        if code is None:
            return {"sound": False, "message": "`forward` is not where the file says", "mutants": []}
        function.__code__ = code
        try:
            grad = run(subject, requires_grad=True, packages=packages)
            rest = run(subject, requires_grad=False)
        finally:
            function.__code__ = original
        found.append({"mutant": dataclasses.asdict(mutant), "grad": dataclasses.asdict(grad), "plain": rest.verdict})
    return {"sound": True, "message": "", "mutants": found}


def in_child(work: Any, *arguments: Any, seconds: int = 120) -> Any:
    """The JSON value of a call made in a forked child, or None if the child died."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with open(os.devnull, "w") as nothing:
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
        try:
            answer = json.dumps(work(*arguments))
        except BaseException as error:
            answer = json.dumps({"sound": False, "message": f"{type(error).__name__}: {error}", "mutants": []})
        with os.fdopen(writing, "w") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(writing)
    former = signal.signal(signal.SIGALRM, lambda number, frame: os.kill(child, signal.SIGKILL))
    signal.alarm(seconds)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, former)
    return json.loads(answer) if answer else None


def main() -> None:
    """Answer jobs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--packages", required=True)
    packages = parser.parse_args().packages
    prepare(packages)
    torch.set_num_threads(1)
    # what packages print, also from threads of theirs, must not get between the answers
    answers = os.fdopen(os.dup(1), "w")
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)
    for line in sys.stdin:
        job = json.loads(line)
        subject = Subject(**job["subject"])
        with contextlib.suppress(Exception):
            importlib.import_module(subject.module)
        answer = in_child(judge, subject, [Mutant(**each) for each in job["mutants"]], packages)
        answer = answer or {"sound": False, "message": "the child died", "mutants": []}
        print(json.dumps({"subject": dataclasses.asdict(subject), **answer}), file=answers, flush=True)


if __name__ == "__main__":
    main()
