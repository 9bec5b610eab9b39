"""
Which functions and modules are losses, and what their `reduction` does to the result.

Says nothing of shapes beyond the kind of result that is left without reduction; never imports torch.

References
----------
https://docs.pytorch.org/docs/stable/nn.html#loss-functions; `torch/nn/_reduction.py` for the legacy arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Unreduced: TypeAlias = Literal["elementwise", "per class", "per sample", "per pair", "per sequence"]


@dataclass(frozen=True, slots=True)
class Loss:
    """
    A loss function and its module.

    Attributes
    ----------
    functional
        Name in `torch.nn.functional`.
    module
        Name in `torch.nn`.
    operands
        The tensor arguments of the function whose shapes decide the result's.
    unreduced
        What `reduction="none"` leaves: one loss per element of the broadcast operands; one per sample and position
        (the class dimension goes); one per row (the last dimension goes); one per pair or triple of vectors; one per
        sequence of a batch.
    default_reduction
        What holds if the call says nothing.
    reductions
        The values that `reduction` takes.
    """

    functional: str
    module: str
    operands: tuple[str, ...] = ("self", "target")
    unreduced: Unreduced = "elementwise"
    default_reduction: str = "mean"
    reductions: tuple[str, ...] = ("none", "mean", "sum")

    def reduction(self, arguments: Mapping[str, object]) -> str | None:
        """
        The reduction that holds under these bound arguments (of the function or the module's constructor): "none",
        "mean", "sum", "batchmean", or None if unknown. The legacy `size_average` and `reduce` win where given, as in
        torch.
        """
        size_average, reduce = arguments.get("size_average"), arguments.get("reduce")
        if size_average is not None or reduce is not None:
            if not all(value is None or isinstance(value, bool) for value in (size_average, reduce)):
                return None
            if reduce is False:
                return "none"
            return "sum" if size_average is False else "mean"
        chosen = arguments.get("reduction", self.default_reduction)
        return chosen if isinstance(chosen, str) and chosen in self.reductions else None

    def gives_scalar(self, arguments: Mapping[str, object]) -> bool | None:
        """Whether the result is surely a 0-d tensor (True), is what `reduction="none"` leaves (False), or unknown."""
        reduction = self.reduction(arguments)
        return None if reduction is None else reduction != "none"


_PAIR: Final = ("input1", "input2", "target")
_TRIPLE: Final = ("anchor", "positive", "negative")

LOSSES: Final[tuple[Loss, ...]] = (
    Loss("l1_loss", "L1Loss"),
    Loss("mse_loss", "MSELoss"),
    Loss("smooth_l1_loss", "SmoothL1Loss"),
    Loss("huber_loss", "HuberLoss"),
    Loss("soft_margin_loss", "SoftMarginLoss"),
    Loss("hinge_embedding_loss", "HingeEmbeddingLoss"),
    Loss("binary_cross_entropy", "BCELoss"),
    Loss("binary_cross_entropy_with_logits", "BCEWithLogitsLoss"),
    Loss("kl_div", "KLDivLoss", reductions=("none", "mean", "sum", "batchmean")),
    Loss("poisson_nll_loss", "PoissonNLLLoss"),
    Loss("gaussian_nll_loss", "GaussianNLLLoss"),
    Loss("cross_entropy", "CrossEntropyLoss", unreduced="per class"),
    Loss("nll_loss", "NLLLoss", unreduced="per class"),
    Loss("multi_margin_loss", "MultiMarginLoss", unreduced="per sample"),
    Loss("multilabel_margin_loss", "MultiLabelMarginLoss", unreduced="per sample"),
    Loss("multilabel_soft_margin_loss", "MultiLabelSoftMarginLoss", unreduced="per sample"),
    Loss("margin_ranking_loss", "MarginRankingLoss", _PAIR),
    Loss("cosine_embedding_loss", "CosineEmbeddingLoss", _PAIR, "per pair"),
    Loss("triplet_margin_loss", "TripletMarginLoss", _TRIPLE, "per pair"),
    Loss("triplet_margin_with_distance_loss", "TripletMarginWithDistanceLoss", _TRIPLE, "per pair"),
    Loss("ctc_loss", "CTCLoss", ("log_probs", "targets"), "per sequence"),
)

_BY_NAME: Final = {
    **{loss.functional: loss for loss in LOSSES},
    **{f"torch.nn.functional.{loss.functional}": loss for loss in LOSSES},
    **{f"torch.nn.{loss.module}": loss for loss in LOSSES},
    **{f"torch.nn.modules.loss.{loss.module}": loss for loss in LOSSES},
    **{f"torch.nn.modules.{loss.module}": loss for loss in LOSSES},
    "torch.nn.NLLLoss2d": next(loss for loss in LOSSES if loss.module == "NLLLoss"),
}


def find(name: str) -> Loss | None:
    """
    The loss of this qualified name (`torch.nn.MSELoss`, `torch.nn.functional.mse_loss`) or bare functional name
    (`mse_loss`), or None.
    """
    return _BY_NAME.get(name)
