"""Lambdas that a loader cannot send to its workers, moved to the top of the file (TLN805)."""

from __future__ import annotations

import expectations
import pytest

from torchlint.lint import fixpoint
from torchlint.lint.engine import check_text
from torchlint.lint.registry import Selection
from torchlint.syntax.text import Decoded

HEAD = "import torch\nfrom torch.utils.data import DataLoader\n"


def fixed(program: str) -> str:
    chosen = expectations.own()
    selection = Selection(frozenset({"TLN805"}))
    return fixpoint.fix(Decoded(program), lambda text: check_text("/a.py", text, chosen, selection), unsafe=True).text


def test_a_lambda_that_reads_names_of_the_file_becomes_a_function_of_it() -> None:
    """Before the statement of the file in which it stood."""
    program = f"""{HEAD}

def loader(data):
    return DataLoader(data, num_workers=2, worker_init_fn=lambda worker: torch.manual_seed(worker + START))


START = 3
"""
    assert (
        fixed(program)
        == f"""{HEAD}

def init_worker(worker):
    return torch.manual_seed(worker + START)

def loader(data):
    return DataLoader(data, num_workers=2, worker_init_fn=init_worker)


START = 3
"""
    )


@pytest.mark.parametrize(
    "body",
    [
        "def f(data, pad):\n    return DataLoader(data, num_workers=2, collate_fn=lambda b: b + [pad])\n",
        "def f(data):\n    pad = 3\n    return DataLoader(data, num_workers=2, collate_fn=lambda b: b + [pad])\n",
        "all = [DataLoader(range(8), num_workers=2, collate_fn=lambda b: b + [pad]) for pad in (1, 2)]\n",
        "def collate(x):\n    pass\n\n\none = DataLoader(range(8), num_workers=2, collate_fn=lambda b: b)\n",
        "same = lambda b: b\none = DataLoader(range(8), num_workers=2, collate_fn=same)\n",
        "one = DataLoader(range(8), num_workers=2, collate_fn=lambda b, k=len('a'): b)\n",
        "one = DataLoader(range(8), num_workers=2, collate_fn=lambda b: torch.tensor(\n    b))\n",
    ],
)
def test_no_fix_where_it_might_mean_something_else(body: str) -> None:
    """Variables of a function, a name that is taken, a default that is evaluated where it stands, another layout."""
    program = f"{HEAD}{body}"
    chosen = expectations.own()
    found = check_text("/a.py", program, chosen, Selection(frozenset({"TLN805"})))
    assert [each.code for each in found.findings] == ["TLN805"]
    assert fixed(program) == program


def test_of_two_one_is_moved() -> None:
    """Both would get one name."""
    program = f"{HEAD}one = DataLoader(range(8), num_workers=2, collate_fn=lambda b: b)\n"
    twice = program + "two = DataLoader(range(8), num_workers=2, collate_fn=lambda b: b[::-1])\n"
    after = fixed(twice)
    assert after.count("def collate") == 1
    assert "collate_fn=lambda b: b[::-1]" in after
