"""
Faulty programs of `tests/cases` that were once refuted, each for a cause of its own: torch bears every finding out.

`python -m tests.verdicts cases` asks it of all of them.
"""

from __future__ import annotations

from dataclasses import replace

import expectations
import pytest
import test_cases

from torchlint.syntax.tree import Source, Span
from torchlint.verify.verify import verify_findings

ONCE_REFUTED = {
    "shuffled_and_whole": "each worker hands out the same samples in its own order",
    "several": "what is dropped is a list of handles",
    "discriminator_of_a_gan": "the result of the activation goes through a view",
    "outputs_stacked_frame_by_frame": "it is stacked and flattened, and has no graph",
    "labelled_pixels_alone": "it is indexed, and has no graph",
    "input_modified_after_the_call": "torch refuses a view of what was written, one statement later",
    "generated_weight_copied_in": "the leaf that is written is an attribute named like its source",
    "written_through_data": "the leaf is written by way of its `.data`",
    "generated_weight": "the Parameter is bound to a name that no Module knows",
    "values_through_data": "what shares the memory of a tensor has a name of its own",
}


@pytest.mark.parametrize("name", ONCE_REFUTED)
def test_is_confirmed(name: str) -> None:
    (case,) = [each for each in test_cases.CASES if each.name == name and each.faulty]
    text = expectations.stripped(case.program)
    findings = list(expectations.lint(text).findings)
    assert findings
    for finding in verify_findings(Source.parse(findings[0].path, text), findings):
        assert finding.verdict is not None
        assert finding.verdict.status == "confirmed", f"{finding.code}: {finding.verdict.evidence}"


def test_an_activation_elsewhere_is_not_what_the_loss_is_given() -> None:
    text = "\n".join(
        [
            "import torch",
            "import torch.nn.functional as F",
            "logits = torch.rand(4, 3, requires_grad=True)",
            "probabilities = F.softmax(logits, dim=1)",
            "loss = F.cross_entropy((probabilities * 2).view(4, 3), torch.tensor([0, 1, 2, 0]))",
            "other = F.cross_entropy(logits.view(4, 3) + 0, torch.tensor([0, 1, 2, 0]))",
        ]
    )
    (template,) = expectations.lint(
        text.replace("(probabilities * 2).view(4, 3)", "probabilities"), codes=["TLN601"]
    ).findings
    found = [replace(template, span=Span(line, 1, line, 20), trace=(), fix=None) for line in (5, 6)]
    status = [f.verdict.status for f in verify_findings(Source.parse("program.py", text), found) if f.verdict]
    assert status == ["inconclusive", "refuted"]
