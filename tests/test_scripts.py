"""
Scripts as people write them: whole programs, correct ones, that run under torch and have no finding; and twins with
one fault each, that must be found.

A twin is a script with one piece of text replaced. Where torch refuses it, it is run, and raises what is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import expectations
import gradients
import pytest

FOLDER = Path(__file__).parent / "scripts"
SCRIPTS = sorted(FOLDER.glob("*.py"))


@dataclass(frozen=True)
class Twin:
    """
    A script with a fault.

    `finding` is expected (as "level CODE") in the line that holds the text `at`; `raises` is what torch says, "" where
    it runs to its end all the same. `missed` says why the linter doesn't find it, where that is known.
    """

    script: str
    before: str
    after: str
    finding: str
    at: str
    raises: str = ""
    missed: str = ""

    @property
    def text(self) -> str:
        """The twin's program."""
        text = (FOLDER / f"{self.script}.py").read_text(encoding="utf-8")
        assert text.count(self.before) == 1, "the text to replace stands there once"
        return text.replace(self.before, self.after)


FREED = "backward through the graph a second time"
TWINS = {
    "gradients never zeroed": Twin(
        "mnist", "        optimizer.zero_grad()\n", "", "warning TLN402", "optimizer.step()"
    ),
    "loss kept with its graph": Twin(
        "vae", "train_loss += loss.item()", "train_loss += loss", "warning TLN106", "train_loss += loss"
    ),
    "fake not detached": Twin("dcgan", "netD(fake.detach())", "netD(fake)", "error TLN101", "errG.backward()", FREED),
    "state not detached": Twin(
        "word_language_model",
        "model.zero_grad()\n        hidden = repackage_hidden(hidden)\n",
        "model.zero_grad()\n",
        "error TLN101",
        "loss.backward()",
        FREED,
    ),
    "mask dropped": Twin(
        "transformer_language_model",
        "scores = scores.masked_fill(mask",
        "scores.masked_fill(mask",
        "warning TLN212",
        "scores.masked_fill(mask",
    ),
    "softmax without dim": Twin(
        "reinforce", "F.softmax(action_scores, dim=1)", "F.softmax(action_scores)", "strict TLN602", "F.softmax("
    ),
    "zeroed before the step": Twin(
        "actor_critic",
        "    loss.backward()\n    optimizer.step()",
        "    loss.backward()\n    optimizer.zero_grad()\n    optimizer.step()",
        "error TLN403",
        "    optimizer.step()",
    ),
    "no super().__init__()": Twin(
        "super_resolution",
        "super().__init__()\n        self.relu",
        "self.relu",
        "error TLN308",
        "self.relu = ",
        "cannot assign module before Module.__init__() call",
    ),
    "flag misspelt": Twin(
        "neural_style",
        "param.requires_grad = False",
        "param.require_grad = False",
        "warning TLN310",
        "param.require_grad",
        FREED,  # by the first backward: the features of the style have a graph now
    ),
    "picture clamped in the graph": Twin(
        "image_optimisation",
        "            with torch.no_grad():\n                input_img.clamp_(0, 1)",
        "            input_img.clamp_(0, 1)",
        "error TLN203",
        "            input_img.clamp_(0, 1)",
        "a leaf Variable that requires grad is being used in an in-place operation",
    ),
    "closure never zeroes": Twin(
        "time_sequence_prediction",
        "        optimizer.zero_grad()\n",
        "",
        "warning TLN402",
        "optimizer.step(closure)",
        missed="a loop's zeroing is looked for around a backward in the loop itself, not in a closure",
    ),
    "sigmoid before logits": Twin(
        "siamese", "criterion = nn.BCELoss()", "criterion = nn.BCEWithLogitsLoss()", "warning TLN601", "criterion(out"
    ),
    "weights remembered by reference": Twin(
        "maml",
        "p.detach().clone() for name, p",
        "p.detach() for name, p",
        "warning TLN206",
        "copy_(",
        missed="a dict of detached parameters is one value that stands for all of them",
    ),
    "penalty without create_graph": Twin(
        "wgan_gp",
        "        create_graph=True,\n",
        "",
        "error TLN104",
        "gradient_penalty.backward()",
        "does not require grad",
    ),
    "shadow is no copy": Twin(
        "byol",
        "n: p.detach().clone() for n, p",
        "n: p.detach() for n, p",
        "warning TLN206",
        "add_(",
        missed="an alias kept on an object by one method and written by another",
    ),
    "residual without a graph": Twin(
        "pinn",
        "torch.ones_like(u_x), retain_graph=True, create_graph=True)",
        "torch.ones_like(u_x), retain_graph=True)",
        "warning TLN107",
        "u_xx = ",
        missed="the constant is squared together with terms that have a gradient, which may be meant so",
    ),
    "clipped before unscaling": Twin(
        "accumulation_amp",
        "            scaler.unscale_(optimizer)\n",
        "",
        "warning TLN404",
        "clip_grad_norm_(",
    ),
    "running loss with its graph": Twin(
        "accumulation_amp",
        "running += loss.detach() * ACCUMULATE",
        "running = running + loss * ACCUMULATE",
        "warning TLN106",
        "running = running + loss",
    ),
    "outputs collected with their graphs": Twin(
        "trainer", "append(loss.detach())", "append(loss)", "warning TLN106", "append(loss)"
    ),
    "step not called": Twin("hogwild", "optimizer.step()", "optimizer.step", "error TLN110", "optimizer.step"),
    "parameter that is none": Twin(
        "gcn",
        "nn.Parameter(torch.empty(2 * out_features, 1))",
        "nn.Parameter(torch.empty(2 * out_features, 1)) * 0.1",
        "error TLN301",
        "self.a = ",
    ),
    "layers trained through": Twin(
        "forward_forward",
        "return self(x_pos).detach(), self(x_neg).detach()",
        "return self(x_pos), self(x_neg)",
        "error TLN101",
        "loss.backward()",
        FREED,
    ),
    "token written for all": Twin(
        "vision_transformer",
        "x = torch.cat((cls, x)",
        "cls += self.pos_embed[:, :1]\n        x = torch.cat((cls, x)",
        "error TLN203",
        "cls += ",
        "a view of a leaf Variable that requires grad is being used in an in-place operation",
    ),
}


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in SCRIPTS])
def test_a_correct_script_has_no_finding(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    report = expectations.lint(text)
    assert not report.findings, expectations.described(text, report.findings)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in SCRIPTS])
def test_it_runs(path: Path) -> None:
    assert gradients.run(path.read_text(encoding="utf-8")).raised == ""


@pytest.mark.parametrize("twin", [pytest.param(twin, id=name) for name, twin in TWINS.items()])
def test_the_fault_of_a_twin_is_found(twin: Twin) -> None:
    report = expectations.lint(twin.text, strict=twin.finding.startswith("strict"))
    lines = twin.text.splitlines()
    found = {
        f"{finding.level.value} {finding.code}"
        for finding in report.findings
        if twin.at in lines[finding.span.line - 1]
    }
    if twin.missed:
        assert twin.finding not in found, "found at last: `missed` is to go"
        return
    assert twin.finding in found, expectations.described(twin.text, report.findings)


@pytest.mark.parametrize("twin", [pytest.param(twin, id=name) for name, twin in TWINS.items()])
def test_torch_says_the_same_of_a_twin(twin: Twin) -> None:
    raised = gradients.run(twin.text).raised
    assert twin.raises in raised if twin.raises else not raised
