"""
Where no refusal says more: all that an argument may be is tried, of the arguments that the refused statement was
computed of.
"""

from __future__ import annotations

import ast
import itertools
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch

from torchlint.verify import attempt, menu, origins, usage, variety
from torchlint.verify.inputs import Inputs
from torchlint.verify.protocol import STOOD_IN, Outcome, Request
from torchlint.verify.server import shared
from torchlint.verify.usage import Use
from torchlint.verify.waiting import Waiting

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\nimport numpy as np\n"


def driven(text: str, name: str, path: str = "snippet.py") -> Outcome:
    return shared().run(Request(text=HEAD + textwrap.dedent(text), path=path, module=name, timeout=20.0))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(
            """
            def greedy(scores, vocab, blank=0):
                texts = []
                for row in scores.argmax(-1).tolist():
                    out = []
                    for i in row:
                        if i != blank:
                            out.append(vocab[i])
                    texts.append("".join(out))
                return texts, torch.tensor([len(each) for each in texts])
            """,
            "greedy",
            id="words, by what is joined of them",
        ),
        pytest.param(
            """
            def collate(batch):
                ids = [torch.as_tensor(item["input_ids"], dtype=torch.long) for item in batch]
                return torch.stack(ids), torch.tensor([item["label"] for item in batch])
            """,
            "collate",
            id="a list of dictionaries, by the keys of its parts",
        ),
        pytest.param(
            """
            def surrogate(policy, batch, clip=0.2):
                distribution, value = policy(batch["obs"])
                ratio = torch.exp(distribution.log_prob(batch["actions"]) - batch["before"])
                clipped = torch.clamp(ratio, 1 - clip, 1 + clip)
                return -clipped.mean() + F.mse_loss(value.squeeze(-1), batch["returns"].mean())
            """,
            "surrogate",
            id="a callable that gives back no tensor",
        ),
        pytest.param(
            """
            def freeze(model, names):
                for name, parameter in model.named_parameters():
                    if any(name.startswith(each) for each in names):
                        parameter.requires_grad = False
                return torch.zeros(())
            """,
            "freeze",
            id="a list of words",
        ),
        pytest.param(
            """
            def normalized(edge_index, edge_weight, count):
                row, col = edge_index
                degree = torch.zeros(count).scatter_add_(0, row, edge_weight)
                return degree[row] * edge_weight * degree[col]
            """,
            "normalized",
            id="edges",
        ),
        pytest.param(
            """
            def calibration(probabilities, labels):
                confidence = np.max(probabilities, axis=1)
                right = np.argmax(probabilities, axis=1) == labels
                return torch.tensor(np.abs(right.mean() - confidence.mean()))
            """,
            "calibration",
            id="arrays",
        ),
        pytest.param(
            """
            def kept(function):
                import functools
                @functools.wraps(function)
                def called(*args, **kwargs):
                    return function(*args, **kwargs)
                del called.__wrapped__
                return called

            @kept
            def trace(x, *, offset=0):
                return torch.linalg.diagonal(x, offset=offset).sum(-1)
            """,
            "trace",
            id="what is missing, of a function that takes any keywords",
        ),
    ],
)
def test_functions_are_driven(text: str, name: str) -> None:
    outcome = driven(text, name)
    assert outcome.ending == "ended", (outcome.ending, outcome.note, outcome.raised)


def test_an_import_that_a_flag_refuses_is_stood_in_for(tmp_path: Path) -> None:
    text = """
        try:
            import nowhere_to_be_found as solver
            HAS_SOLVER = True
        except ImportError:
            HAS_SOLVER = False

        def distance(x, y):
            if not HAS_SOLVER:
                raise ImportError("please install the solver")
            return solver.distance(x, y) * torch.cdist(x, y)
    """
    outcome = driven(text, "distance")
    assert outcome.ending == "ended", (outcome.note, outcome.raised)
    assert STOOD_IN in outcome.driven


def test_arguments_that_nobody_asked_for_show_nothing_of_autograd() -> None:
    """A loss that is no loss makes a backward raise: that is of the driver's making."""
    text = """
        def step(batch, weights, loss_of):
            if not isinstance(weights, list) or not isinstance(weights[0], str):
                raise RuntimeError("no")
            loss_of(batch).backward()
            return torch.zeros(())
    """
    outcome = driven(text, "step")
    assert outcome.raised is None, outcome.raised


def test_a_text_whose_strings_begin_further_left_is_read() -> None:
    class Kept:
        def method(self, table: dict[str, int], flag: bool) -> str:
            return (
                "one \
two"
                if flag and table["a"]
                else ""
            )

    node = usage.source_of(Kept.method)
    assert isinstance(node, ast.FunctionDef)
    assert node.name == "method"


def test_the_arguments_of_a_refused_statement_are_found() -> None:
    def refused(first: int, second: list[int], third: int) -> int:
        found = []
        for part in second:
            found.append(part + 1)
        other = first * 2
        assert other
        return sum(found) + "a"  # type: ignore[operator]

    with pytest.raises(TypeError) as caught:
        refused(1, [1], 2)
    assert origins.blamed(caught.value, {"first": 1, "second": [1], "third": 2}) == ["second"]


def test_what_an_annotation_leaves_no_doubt_of_is_not_tried_otherwise() -> None:
    def function(x: torch.Tensor, count: int, other) -> None:  # type: ignore[no-untyped-def]
        pass

    known = Inputs((2, 8), ("x",), others=(("count", Use("integer")), ("other", Use("list"))))
    for found in menu.others(known, function, ["x", "count"], ""):
        kinds = dict(found.others)
        assert "x" in (*found.names, *found.integers) or kinds["x"].kind in ("mask", "complex")
        assert kinds["count"].kind == "integer" or isinstance(kinds["count"].value, (int, float))
    tried = {use.kind for found in menu.others(known, function, ["other"], "") for name, use in found.others}
    assert {"several", "callable", "dict", "array", "anything"} <= tried


def test_what_a_refusal_speaks_of_comes_first() -> None:
    def function(x) -> None:  # type: ignore[no-untyped-def]
        pass

    known = Inputs((2, 8), ("x",))
    first = next(menu.others(known, function, ["x"], "op must be callable, but found Tensor"))
    assert dict(first.others)["x"].kind == "callable"


def test_everything_is_tried_by_turns_and_not_for_ever() -> None:
    tried: list[Inputs] = []
    start = Inputs((2, 8), ("x",))
    waiting = Waiting(lambda known, blamed, message: iter([Inputs((size,), ("x",)) for size in range(1, 9)]))
    waiting.guess([start])
    assert waiting.next() is start
    waiting.refused((1, 0, 99), "size 3", start, ["x"])
    assert not waiting
    waiting.deepen(60.0)
    while waiting:
        tried.append(waiting.next())
        assert len(tried) < 20
    assert sorted(each.shape for each in tried) == [(size,) for size in range(1, 9)]
    waiting.deepen(0.0)
    assert not waiting


@pytest.mark.parametrize("held", ["numbers", "fractions", "strings", "dicts", "pairs", "lists", "arrays", "anything"])
def test_lists_are_made_anew(held: str) -> None:
    def made() -> Any:
        return variety.make("x", Use("several", held=held), (2, 8), 8, False, computes=True)

    assert len(made()) == 2
    assert made() is not made()


def test_a_call_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(attempt.TooLong), attempt.limited(0.05):
        for _ in itertools.count():
            pass
