"""However large a file is and whatever it is made of: linting it takes time in proportion, or a bounded time."""

from __future__ import annotations

import pytest

from tests.bench.growth import FAMILIES, grown

STEEP = 1.7
"""An exponent that noise does not reach where growth is linear, and that quadratic growth passes."""
SHORT = 0.25
"""CPU seconds below which the clock and the first run of everything say more than the growth does."""


@pytest.mark.parametrize("family", FAMILIES)
def test_growth(family: str) -> None:
    found = grown(family, times=2, fraction=0.2)
    assert found.seconds[-1] < SHORT or found.exponent < STEEP, found
