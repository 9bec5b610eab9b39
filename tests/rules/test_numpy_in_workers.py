"""TLN801 of NumPy's global generator: torch 1.9 and later seed it in each worker, so no torch of today shows it."""

from __future__ import annotations

import expectations
import pytest

PROGRAM = """\
# /// script
# dependencies = ["torch{range}"]
# ///
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        {seed}
        return self.draw(i)

    def draw(self, i):
        return i + np.random.normal()

def loader(workers):
    return DataLoader(Noisy(), num_workers={workers}{more})
"""


def _found(**parts: str) -> list[str]:
    text = PROGRAM.format(**{"range": ">=1.4", "seed": "pass", "workers": "2", "more": ""} | parts)
    return [finding.message for finding in expectations.lint(text).findings if finding.code == "TLN801"]


def test_an_older_torch_does_not_seed_it() -> None:
    (message,) = _found()
    assert message == (
        "every worker has a copy of `np.random`: all draw the same numbers for `Noisy`, before torch 1.9, "
        "and this project allows 1.4 (torch>=1.4 in the script's own metadata)"
    )


@pytest.mark.parametrize(
    "parts",
    [
        {"range": ">=1.9"},
        {"range": ""},
        {"workers": "0"},
        {"seed": "np.random.seed(i)"},
        {"more": ", worker_init_fn=lambda i: np.random.seed(i)"},
    ],
)
def test_silent_where_it_is_seeded(parts: dict[str, str]) -> None:
    assert not _found(**parts)
