"""
The operation table against running torch: what is saved, whether a second backward raises, what is written, whose
memory the result shares, whether it requires grad, which node it gets.

The default run tries our own calls and the first of the samples that torch tests each operation with; `pytest -m slow`
all there are, in several layouts, and a table fitted to one half of the calls on the other half.
Figures: `python -m torchlint.optable.agreement`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="torch's own sample inputs need it: pip install 'torchlint[dev]'")

from torchlint.knowledge.ops import find as ops  # noqa: E402
from torchlint.optable.__main__ import complete_table, render  # noqa: E402
from torchlint.optable.agreement import EXPLAINED, Tally, calls, choose, facts, measure  # noqa: E402
from torchlint.optable.probe import Call, choices, observe  # noqa: E402

pytestmark = pytest.mark.skipif(
    ops.torch_version() != torch.__version__.partition("+")[0],
    reason=f"the table is of torch {ops.torch_version()}, installed is {torch.__version__}",
)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def share_open(tally: Tally) -> float:
    left = sum(tally.open.values())
    return left / (left + sum(tally.agreed.values()))


def test_a_sample_of_every_operation() -> None:
    tallies = measure(calls(limit=1, every_layout=False))
    for informed, tally in tallies.items():
        assert not tally.unexplained(), informed
        assert sum(tally.agreed.values()) > 50_000
        assert len(tally.spellings) > 1150
    assert share_open(tallies[False]) < 0.08
    assert share_open(tallies[True]) < 0.03


@pytest.mark.slow
def test_every_call_in_every_layout() -> None:
    for informed, tally in measure(calls(limit=40)).items():
        assert not tally.unexplained(), informed
        assert sum(tally.agreed.values()) > 300_000


@pytest.mark.slow
def test_a_table_fitted_to_one_half_of_the_calls_holds_for_the_other(tmp_path: Path) -> None:
    half = tmp_path / "op_table.json"
    half.write_text(render(complete_table(held_out=True)), encoding="utf-8")
    committed = ops.TABLE
    ops.use_table(half)
    try:
        tally = measure(calls(limit=40, held_out=True))[True]
    finally:
        ops.use_table(committed)
    wrong = sum(count for (spelling, topic, _, _), count in tally.wrong.items() if (spelling, topic) not in EXPLAINED)
    assert wrong / sum(tally.agreed.values()) < 0.001


def test_the_measurement_finds_a_wrong_table(tmp_path: Path) -> None:
    """Of a table that says `sigmoid` saves its input, `mul` nothing, and `detach` is a copy, all is found."""
    x = torch.rand(3)
    tried = [
        ("torch.sigmoid", Call(torch.sigmoid, (x,))),
        ("torch.mul", Call(torch.mul, (x, x + 1))),
        ("torch.Tensor.detach", Call(torch.Tensor.detach, (x,))),
        ("torch.Tensor.add_", Call(torch.Tensor.add_, (x, x + 1))),
    ]
    assert not any(tally.wrong for tally in measure(tried).values())
    table = json.loads(ops.TABLE.read_text(encoding="utf-8"))
    for spelling, lie in (
        ("torch.sigmoid", {"saves": "self"}),
        ("torch.mul", {"saves": ""}),
        ("torch.Tensor.detach", {"aliases": ""}),
    ):
        for number in table["spellings"][spelling]:
            table["records"][number].update(lie)
    bent = tmp_path / "op_table.json"
    bent.write_text(json.dumps(table), encoding="utf-8")
    committed = ops.TABLE
    ops.use_table(bent)
    try:
        wrong = {(spelling, topic, detail) for spelling, topic, detail, _ in measure(tried)[False].wrong}
    finally:
        ops.use_table(committed)
    assert wrong == {
        ("torch.sigmoid", "saves", "result"),
        ("torch.sigmoid", "saves", "self 0"),
        ("torch.mul", "saves", "self 0"),
        ("torch.mul", "saves", "other 0"),
        ("torch.Tensor.detach", "shares memory", "self"),
    }


def test_which_inputs_are_let_require_grad() -> None:
    x, i = torch.rand(2), torch.tensor([0, 1])
    slots = [sorted(choice, key=str) for choice in choices(Call(torch.stack, ([x, x, i, x, x],)))]
    assert slots[0] == [(0, 0), (0, 1), (0, 3), (0, 4)]
    assert len(slots) == 9
    assert list(choices(Call(torch.neg, (i,)))) == [frozenset()]


def test_a_call_that_torch_refuses_shows_nothing() -> None:
    assert observe(Call(torch.matmul, (torch.rand(2, 3), torch.rand(2, 3))), frozenset({(0, 0)})) is None


def test_an_operation_without_a_derivative_is_recorded_and_nothing_more() -> None:
    call = Call(torch.floor_divide, (torch.rand(3), 2.0))
    seen = observe(call, frozenset({(0, 0)}))
    assert seen is not None
    assert seen.outputs == (True,)
    assert not seen.derivable
    chosen = choose("torch.floor_divide", call, informed=True)
    assert chosen is not None
    assert {fact.topic for fact in facts(*chosen, call, seen)} == {"writes", "shares memory", "requires grad", "node"}


@pytest.mark.filterwarnings("ignore")
def test_functions_that_take_no_number_raise() -> None:
    """`takes_no_number` ends a path of the model: every function it names is called with a number."""
    named = [each for each in ops.spellings() if not each.startswith("torch.Tensor.") and ops.takes_no_number(each)]
    called = 0
    for spelling in named:
        function: object = torch
        for part in spelling.split(".")[1:]:
            function = getattr(function, part, None)
        if callable(function):
            called += 1
            with pytest.raises((TypeError, AttributeError)):
                function(0.5)
    assert called > 300
