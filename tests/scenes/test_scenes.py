"""The second generator: its programs are the same for the same seed, and torch and the linter agree on them."""

from __future__ import annotations

from collections import Counter

from scenes.judge import compare
from scenes.programs import program

FIXED_SEEDS = range(1_000, 1_150)
AGREEMENT = 0.9
"""The least share of the programs of the fixed seeds on which both sides say the same."""


def test_a_seed_is_a_program() -> None:
    assert program(7) == program(7)
    assert len({program(seed) for seed in range(50)}) == 50


def test_torch_and_the_linter_agree() -> None:
    found = [compare(seed, program(seed)) for seed in FIXED_SEEDS]
    verdicts = Counter(each.verdict for each in found)
    valid = len(found) - verdicts["invalid"]
    refused = [each for each in found if each.refusal is not None and each.verdict != "invalid"]
    assert valid >= 0.9 * len(found)
    assert valid / 4 <= len(refused) <= valid * 3 / 4, "both kinds of programs are drawn"
    assert [each.text for each in found if each.verdict == "false alarm"] == []
    assert verdicts["agree"] >= AGREEMENT * valid
