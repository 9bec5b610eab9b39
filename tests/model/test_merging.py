"""Events of one place that several entry points raise become one."""

from __future__ import annotations

from typing import get_args

from torchlint.model.events import RetainedUse
from torchlint.model.scheduling import merging


def test_every_use_of_a_retained_graph_has_its_rank() -> None:
    assert sorted(merging._USES) == sorted(get_args(RetainedUse))
