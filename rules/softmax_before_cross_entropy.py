from collections.abc import Iterator

from torchlint.fixes.rewrites import code, shown
from torchlint.model.events import numerics
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule

_TWICE = {
    ("cross_entropy", "softmax"): "the loss takes logits and applies `log_softmax` itself",
    ("cross_entropy", "sigmoid"): "the loss takes logits and applies `log_softmax` itself",
    ("cross_entropy", "log_softmax"): "the loss applies `log_softmax` itself: twice is the same, and more work",
    ("nll_loss", "softmax"): "the loss takes logarithms of probabilities: use `log_softmax`",
    ("nll_loss", "sigmoid"): "the loss takes logarithms of probabilities: use `log_softmax`",
    **{
        ("nll_loss", layer): "scores are no logarithms of probabilities, and it falls without end: use `cross_entropy`"
        for layer in ("linear", "conv1d", "conv2d", "conv3d")
    },
    ("kl_div", "softmax"): "the input must be logarithms of probabilities: use `log_softmax`",
    ("kl_div", "sigmoid"): "the input must be logarithms of probabilities: use `logsigmoid`",
    ("binary_cross_entropy_with_logits", "sigmoid"): "the loss takes logits and applies the sigmoid itself",
    ("binary_cross_entropy_with_logits", "softmax"): "the loss takes logits and applies a sigmoid itself",
    ("binary_cross_entropy_with_logits", "logsigmoid"): "the loss takes logits and applies the sigmoid itself",
    ("binary_cross_entropy_with_logits", "log_softmax"): "the loss takes logits and applies a sigmoid itself",
    ("binary_cross_entropy", "log_softmax"): "the loss takes probabilities, not their logarithms",
    ("binary_cross_entropy", "logsigmoid"): "the loss takes probabilities, not their logarithms",
}


class SoftmaxBeforeCrossEntropy(Rule):
    """
    A loss that takes logits is given probabilities.

    ## What it does
    Finds losses of torch whose input is the result of a softmax or sigmoid that they apply themselves, or of one that
    they don't want: softmax into `CrossEntropyLoss`, `NLLLoss` or `KLDivLoss`, sigmoid into `BCEWithLogitsLoss`; and a
    backward that starts from `nll_loss` of the bare scores of a `Linear` or a convolution, which lacks the
    `log_softmax`. It looks through reshapes, helper functions and the modules of the file, at a part (an index, a mask,
    a loop's row) and at several that are stacked. `log_softmax` before `CrossEntropyLoss` is strict: the loss is the
    same, and only the work is done twice.

    ## Why is this bad?
    A softmax of a softmax is nearly flat: the loss can't fall to 0, gradients are small, and the network still learns a
    little, so that nobody sees it. `NLLLoss` of probabilities is minus a probability, negative from the start.

    ## Cure
    Return logits from the model; apply the softmax where probabilities are wanted.

    ## Fix safety
    Unsafe: the loss is another one, which is the point.

    ## References
    - [torch.nn.CrossEntropyLoss](https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html): "The
      input is expected to contain the unnormalized logits for each class"
    - [torch.nn.NLLLoss](https://docs.pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html)
    """

    code = "TLN601"
    name = "softmax-before-cross-entropy"
    level = Level.WARNING
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch
            import torch.nn.functional as F

            logits = torch.tensor([[40.0, 0.0]], requires_grad=True)
            loss = F.cross_entropy(F.softmax(logits, dim=1), torch.tensor([0]))  # warning: [TLN601]
            """,
            shows=Holds("loss > 0.3"),  # the prediction is right and sure
            fixed="""
            import torch
            import torch.nn.functional as F

            logits = torch.tensor([[40.0, 0.0]], requires_grad=True)
            loss = F.cross_entropy(logits, torch.tensor([0]))
            """,
        ),
        Example(
            """
            import torch
            from torch import nn

            model = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1))
            criterion = nn.NLLLoss()
            loss = criterion(model(torch.rand(2, 4)), torch.tensor([0, 2]))  # warning: [TLN601]
            """,
            shows=Holds("loss < 0"),
        ),
        Example(
            """
            import torch
            from torch import nn

            scores = torch.tensor([30.0])
            probability = torch.sigmoid(scores)
            loss = nn.BCEWithLogitsLoss()(probability, torch.ones(1))  # warning: [TLN601]
            """,
            shows=Holds("loss > 0.3"),
        ),
    )
    good = (
        Example(
            """
            import torch
            import torch.nn.functional as F

            logits, labels = torch.rand(2, 3), torch.tensor([0, 2])
            loss = F.cross_entropy(logits, labels)
            same = F.nll_loss(F.log_softmax(logits, dim=1), labels)
            probabilities = F.softmax(logits, dim=1)
            distilled = F.cross_entropy(logits, probabilities)  # as a target they are right
            """
        ),
    )

    def check(self, event: numerics.LossOfActivation) -> Iterator[Diagnostic]:
        why = _TWICE.get((event.loss, event.activation))
        if why is None:
            return
        given = f" ({shown(event.argument)})" if event.argument is not None and not event.nested else ""
        message = f"`{event.written}` is given the result of `{event.activation}`{given}: {why}"
        harmless = event.activation == "log_softmax" and event.loss == "cross_entropy"
        level = Level.STRICT if harmless else None
        claims = (Observed("given", event.loss, event.activation),)
        yield Diagnostic(event.node, message, event.trace, _fix(event), level, claims=claims)


def _fix(event: numerics.LossOfActivation) -> Fix | None:
    if (
        not event.nested
        or event.logits is None
        or event.loss
        not in (
            "cross_entropy",
            "binary_cross_entropy_with_logits",
        )
    ):
        return None
    edit = Edit(event.activation_node, code(event.logits))
    return Fix(f"hand {shown(event.logits)} to the loss", (edit,), safe=False)
