"""
Faulty programs of `tests/cases` that were once refuted, each for a cause of its own: torch bears every finding out.

`python -m tests.verdicts cases` asks it of all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import expectations
import pytest
import test_cases

from torchlint.rule import Verdict
from torchlint.syntax.tree import Source, Span
from torchlint.verify.verify import verify_findings

Verdicts = Callable[..., list[Verdict]]

ONCE_REFUTED = {
    "shuffled_and_whole": "each worker hands out the same samples in its own order",
    "several": "what is dropped is a list of handles",
    "discriminator_of_a_gan": "the result of the activation goes through a view",
    "outputs_stacked_frame_by_frame": "it is stacked and flattened, and has no graph",
    "labelled_pixels_alone": "it is indexed, and has no graph",
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


def test_what_torch_refuses_before_the_backward_is_not_refuted() -> None:
    """Torch refuses a view of what was written one statement later, and comes to no backward that reads it."""
    (case,) = [each for each in test_cases.CASES if each.name == "input_modified_after_the_call" and each.faulty]
    text = expectations.stripped(case.program)
    found = verify_findings(Source.parse("program.py", text), list(expectations.lint(text).findings))
    assert {each.code: each.verdict.status for each in found if each.verdict} == {
        "TLN512": "confirmed",
        "TLN201": "inconclusive",
    }


@pytest.mark.parametrize("name", ["copied_first_and_told_afterwards"])
def test_what_one_run_cannot_show_is_not_refuted(name: str) -> None:
    """A copy that requires grad only later."""
    (case,) = [each for each in test_cases.CASES if each.name == name and each.faulty]
    text = expectations.stripped(case.program)
    found = verify_findings(Source.parse("program.py", text), list(expectations.lint(text).findings))
    assert [each.verdict.status for each in found if each.verdict] == ["inconclusive"]


@pytest.mark.parametrize("name", ["frozen_parameter_converted"])
def test_what_no_graph_leads_to(name: str) -> None:
    """A frozen Parameter has none; that its Module does not know what was made of it shows all the same."""
    (case,) = [each for each in test_cases.CASES if each.name == name and each.faulty]
    text = expectations.stripped(case.program)
    found = verify_findings(Source.parse("program.py", text), list(expectations.lint(text).findings))
    assert [each.verdict.status for each in found if each.verdict] == ["confirmed"]


@pytest.mark.parametrize(
    "name", ["module_that_is_gone", "keyword_of_the_function", "contexts_of_the_other_way", "transform_of_real_numbers"]
)
def test_what_torch_itself_refuses_in_other_words(name: str) -> None:
    """A module that is gone names itself, and not what it had; a keyword may be refused as a value."""
    (case,) = [each for each in test_cases.CASES if each.name == name and each.faulty]
    text = expectations.stripped(case.program)
    found = verify_findings(Source.parse("program.py", text), list(expectations.lint(text).findings))
    assert [each.verdict.status for each in found if each.verdict] == ["confirmed"]


def test_a_value_that_has_no_name() -> None:
    """What a statement yields, and what it yields with the fix, are compared all the same."""
    (case,) = [each for each in test_cases.CASES if each.name == "exponents_that_may_be_positive"]
    text = expectations.stripped(case.program)
    found = verify_findings(
        Source.parse("program.py", text), list(expectations.lint(text, strict=True, codes=["TLN605"]).findings)
    )
    assert {each.verdict.status for each in found if each.verdict} == {"confirmed"}
    assert len(found) > 6


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


def test_what_an_optimizer_holds_may_be_no_modules_any_more() -> None:
    """All parameters that it was given are replaced: none of the Module's is left with it, and it is not refuted."""
    text = "\n".join(
        [
            "import torch",
            "from torch import nn",
            "class Net(nn.Module):",
            "    def __init__(self):",
            "        super().__init__()",
            "        self.fc = nn.Linear(4, 4)",
            "    def forward(self, x):",
            "        return self.fc(x)",
            "net = Net()",
            "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)",
            "net.fc = nn.Linear(4, 2)",
            "optimizer.zero_grad()",
            "net(torch.rand(3, 4)).sum().backward()",
            "optimizer.step()",
        ]
    )
    findings = list(expectations.lint(text, codes=["TLN305"]).findings)
    assert [f.span.line for f in findings] == [11, 14]
    status = [f.verdict.status for f in verify_findings(Source.parse("program.py", text), findings) if f.verdict]
    assert status == ["confirmed", "confirmed"]
    again = "net.fc = nn.Linear(4, 2)\n"
    early = text.replace(again, "").replace("optimizer = ", f"{again}optimizer = ")
    first = replace(findings[0], span=Span(10, 1, 10, 24), trace=(), fix=None)
    (found,) = verify_findings(Source.parse("program.py", early), [first])
    assert found.verdict is not None
    assert found.verdict.status != "confirmed"


def test_a_result_that_is_returned_is_looked_at() -> None:
    text = "\n".join(
        [
            "import torch",
            "def masked(x):",
            "    return torch.where(x > 0, torch.log(x), torch.zeros_like(x))",
            "v = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)",
            "masked(v).sum().backward()",
        ]
    )
    findings = list(expectations.lint(text, codes=["TLN604"]).findings)
    (found,) = verify_findings(Source.parse("program.py", text), findings)
    assert found.verdict is not None
    assert found.verdict.status == "confirmed", found.verdict.evidence
    (found,) = verify_findings(Source.parse("program.py", text.replace("0.0, 1", "3.0, 1")), findings)
    assert found.verdict is not None
    assert found.verdict.status != "confirmed", found.verdict.evidence


def test_a_gradient_whose_memory_is_shared_cannot_be_written() -> None:
    """The gradient of a sum is one number, expanded: torch refuses the write that the finding is about."""
    text = "\n".join(
        [
            "import torch",
            "w = torch.rand(3, requires_grad=True)",
            "def clip(grad):",
            "    grad.clamp_(-1, 1)",
            "h = w * 3",
            "h.register_hook(clip)",
            "h.sum().backward()",
        ]
    )
    findings = list(expectations.lint(text, codes=["TLN511"]).findings)
    (found,) = verify_findings(Source.parse("program.py", text), findings)
    assert found.verdict is not None
    assert found.verdict.status == "confirmed", found.verdict.evidence


def test_what_is_refused_only_where_nobody_looks_at_the_view(verdicts: Verdicts) -> None:
    """Its history is brought up to date by a look at it: then torch lets it be written."""
    (verdict,) = verdicts(
        """
        import torch
        values = torch.ones(3, requires_grad=True)
        matrix = torch.zeros(3, 3)
        row = matrix[1]
        matrix.copy_(values.expand(3, 3))
        row.mul_(2)  # error: [TLN203]
        """
    )
    assert verdict.status == "confirmed", verdict.evidence
