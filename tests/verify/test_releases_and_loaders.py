"""What torch's releases, its loaders and the generators of a program show, and what that confirms and refutes."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from torchlint.rule import Claim, Observed, Verdict

Verdicts = Callable[..., list[Verdict]]

HEAD = "import torch\nfrom torch.utils.data import DataLoader, Dataset, IterableDataset\n"
NOISE = """
    import numpy as np
    class Noise(Dataset):
        def __init__(self, made):
            self.rng = made  # warning: [TLN801]
            self.fixed = np.random.default_rng(3)
        def __len__(self):
            return 8
        def __getitem__(self, i):
            {draw}
    def apart(worker):
        torch.utils.data.get_worker_info().dataset.rng = np.random.default_rng(worker)
    if __name__ == "__main__":
        list(DataLoader(Noise(np.random.default_rng(1)), num_workers={workers}{more}))
    """
STREAM = """
    class Numbers(IterableDataset):
        def __iter__(self):
            info = torch.utils.data.get_worker_info()
            yield from {items}
    if __name__ == "__main__":
        list(DataLoader(Numbers(), batch_size=None, num_workers=2))  # warning: [TLN802]
    """
EPOCHS = """
    from torch.utils.data.distributed import DistributedSampler
    sampler = DistributedSampler(range(40), num_replicas=2, rank=0, shuffle={shuffle})
    loader = DataLoader(range(40), batch_size=4, sampler=sampler, num_workers={workers})
    for epoch in range(2):
        {begin}
        for batch in loader:  # warning: [TLN803]
            pass
    """
SEEDED = """
    import random
    torch.manual_seed(7)  # strict: [TLN808]
    {seed}
    print({draw})
    """
LATE = """
    model = {model}  # note: drawn
    torch.manual_seed(7)  # strict: [TLN808]
    """
GUARD = """
    loader = DataLoader(range(8), num_workers={workers})
    if {guard}:
        for batch in loader:  # warning: [TLN806]
            pass
    """
LOAD = """
    import io
    file = io.BytesIO()
    torch.save({what}, file)
    file.seek(0)
    torch.load(file, weights_only={only})  # warning: [TLN904]
    """
CUBE = """
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward({saved})  # strict: [TLN506]
            return x**3
        @staticmethod
        def backward(ctx, grad):
            (saved,) = ctx.saved_tensors
            return {slope} * grad
    Cube.apply(torch.tensor([2.0, 3.0], requires_grad=True)).sum().backward()
    """
COPIED = (Observed("copied-generator", "self.rng"),)
EPOCH = (Observed("same-order", "sampler", "shuffled"),)
DRAWN = (Observed("drawn-before-seed"),)
UNSEEDED = (Observed("unseeded", "random"),)
AGAIN = (Observed("starts-again"),)
TWICE = (Observed("second-derivative-wrong"),)
CODE = (Observed("foreign-code"),)
HUB = 'torch.hub.load("{what}", "model", trust_repo=True)  # strict: [TLN905]\n'
HUB_CODE = (Observed("foreign-code", "torch.hub.load"),)
USED = (Observed("used-up", "p", "again"),)

SHOWN: dict[str, tuple[str, str, tuple[Claim, ...]]] = {
    "both workers draw": (NOISE.format(draw="return self.rng.integers(9)", workers=2, more=""), "confirmed", COPIED),
    "one worker": (NOISE.format(draw="return self.rng.integers(9)", workers=1, more=""), "inconclusive", COPIED),
    "nobody draws from it": (NOISE.format(draw="return i", workers=2, more=""), "inconclusive", COPIED),
    "another one is drawn from": (
        NOISE.format(draw="return self.fixed.integers(9)", workers=2, more=""),
        "inconclusive",
        COPIED,
    ),
    "each worker gets its own": (
        NOISE.format(draw="return self.rng.integers(9)", workers=2, more=", worker_init_fn=apart"),
        "refuted",
        COPIED,
    ),
    "a stream for each": (STREAM.format(items="range(5)"), "confirmed", (Observed("not-divided"),)),
    "a stream divided": (STREAM.format(items="range(info.id, 10, 2)"), "refuted", (Observed("not-divided"),)),
    "a stream of one value": (STREAM.format(items="[1] * 5"), "inconclusive", (Observed("not-divided"),)),
    "an epoch not set": (EPOCHS.format(shuffle=True, begin="pass", workers=0), "confirmed", EPOCH),
    "an epoch not set, with workers": (EPOCHS.format(shuffle=True, begin="pass", workers=2), "confirmed", EPOCH),
    "an epoch set": (EPOCHS.format(shuffle=True, begin="sampler.set_epoch(epoch)", workers=0), "refuted", EPOCH),
    "no shuffling": (EPOCHS.format(shuffle=False, begin="pass", workers=0), "inconclusive", EPOCH),
    "not seeded": (SEEDED.format(seed="", draw="random.random()"), "confirmed", UNSEEDED),
    "seeded": (SEEDED.format(seed="random.seed(7)", draw="random.random()"), "refuted", UNSEEDED),
    "not drawn from": (SEEDED.format(seed="", draw="random.Random(3).random()"), "inconclusive", UNSEEDED),
    "drawn before": (LATE.format(model="torch.nn.Linear(3, 1)"), "confirmed", DRAWN),
    "split before": (LATE.format(model="torch.utils.data.random_split(range(20), [9, 11])"), "confirmed", DRAWN),
    "nothing drawn": (LATE.format(model="torch.nn.LayerNorm(3)"), "refuted", DRAWN),
    "no guard": (GUARD.format(guard="True", workers=1), "confirmed", AGAIN),
    "a guard": (GUARD.format(guard="__name__ == '__main__'", workers=1), "refuted", AGAIN),
    "no workers": (GUARD.format(guard="True", workers=0), "inconclusive", AGAIN),
    "a pickle that names a class": (LOAD.format(what="torch.nn.Linear(2, 2)", only=False), "confirmed", CODE),
    "weights only": (LOAD.format(what="torch.ones(2)", only=True), "inconclusive", CODE),
    "what a repository has": (HUB.format(what="owner/repository"), "confirmed", HUB_CODE),
    "a tag of a repository": (HUB.format(what="owner/repository:v1.2"), "inconclusive", HUB_CODE),
    "PyTorch's own repository": (HUB.format(what="pytorch/vision"), "inconclusive", HUB_CODE),
    "no derivative of the slope": (CUBE.format(saved="x**2", slope="3 * saved"), "confirmed", TWICE),
    "a derivative of the slope": (CUBE.format(saved="x", slope="3 * saved**2"), "inconclusive", TWICE),
    "a wrong slope": (CUBE.format(saved="x**2", slope="2 * saved"), "inconclusive", TWICE),
    "an iterator used up": (
        """
        p = torch.nn.Linear(2, 1).parameters()
        for _ in range(2):
            list(p)  # warning: [TLN314]
        """,
        "confirmed",
        USED,
    ),
    "an iterator gone through once": (
        "p = torch.nn.Linear(2, 1).parameters()\nfor _ in range(1):\n    list(p)  # warning: [TLN314]\n",
        "inconclusive",
        USED,
    ),
    "an iterator made anew": (
        "for _ in range(2):\n    p = torch.nn.Linear(2, 1).parameters()\n    list(p)  # warning: [TLN314]\n",
        "refuted",
        USED,
    ),
    "a list of them": (
        "p = list(torch.nn.Linear(2, 1).parameters())\nfor _ in range(2):\n    list(p)  # warning: [TLN314]\n",
        "inconclusive",
        USED,
    ),
    "gone": (
        "torch.matrix_rank(torch.eye(2))  # error: [TLN901]\n",
        "confirmed",
        (Observed("refused", "torch.matrix_rank", "1.13"),),
    ),
    "gone in a release to come": (
        "torch.trace(torch.eye(2))  # error: [TLN901]\n",
        "inconclusive",
        (Observed("refused", "torch.trace", "99.0"),),
    ),
    "there, and called": (
        "torch.trace(torch.eye(2))  # error: [TLN901]\n",
        "refuted",
        (Observed("refused", "torch.trace", "1.13"),),
    ),
    "there, and not called": (
        "trace = torch.trace  # error: [TLN901]\n",
        "inconclusive",
        (Observed("refused", "torch.trace", "1.13"),),
    ),
    "there, and called in a lambda": (
        "trace = lambda: torch.trace(torch.eye(2))  # error: [TLN901]\n",
        "inconclusive",
        (Observed("refused", "torch.trace", "1.13"),),
    ),
    "an error about something else": (
        "torch.trace(torch.ones(2))  # error: [TLN901]\n",
        "inconclusive",
        (Observed("refused", "torch.ones", "1.13"),),
    ),
    "new, and there": (
        "torch.trace(torch.eye(2))  # error: [TLN907]\n",
        "inconclusive",
        (Observed("refused", "torch.trace", "+1.13"),),
    ),
    "a warning that names it": (
        "torch.nn.MSELoss(size_average=False)  # warning: [TLN903]\n",
        "confirmed",
        (Observed("deprecated", "size_average", "1.0"),),
    ),
    "a warning that names something else": (
        "torch.nn.MSELoss(size_average=False)  # warning: [TLN903]\n",
        "inconclusive",
        (Observed("deprecated", "beta", "1.0"),),
    ),
    "no warning": ("torch.eye(2)  # warning: [TLN902]\n", "refuted", (Observed("deprecated", "torch.eye", "1.0"),)),
    "documented": ("from torch import ger  # smell: [TLN902]\n", "confirmed", (Observed("documented", "torch.ger"),)),
    "documented of an argument": (
        "torch.nn.MSELoss()  # smell: [TLN902]\n",
        "inconclusive",
        (Observed("documented", "torch.nn.MSELoss"),),
    ),
    "a change within the range": (
        "torch.floor_divide(torch.ones(1), 2)  # warning: [TLN908]\n",
        "confirmed",
        (Observed("meaning-changed", "torch.floor_divide", "1.10 1.13"),),
    ),
    "a change before the range": (
        "torch.floor_divide(torch.ones(1), 2)  # warning: [TLN908]\n",
        "refuted",
        (Observed("meaning-changed", "torch.floor_divide", "2.0 1.13"),),
    ),
    "a public twin": (
        "from torch.optim.lr_scheduler import _LRScheduler  # strict: [TLN906]\n",
        "confirmed",
        (Observed("private-twin", "torch.optim.lr_scheduler._LRScheduler", "torch.optim.lr_scheduler.LRScheduler"),),
    ),
    "no twin": (
        "from torch import outer  # strict: [TLN906]\n",
        "inconclusive",
        (Observed("private-twin", "torch.outer", "torch.trace"),),
    ),
}


@pytest.mark.parametrize("cause", SHOWN)
def test_verdict(verdicts: Verdicts, cause: str) -> None:
    text, status, claims = SHOWN[cause]
    codes = {word for word in text.replace("]", "[").split("[") if word.startswith("TLN")}
    (verdict,) = verdicts(HEAD + textwrap.dedent(text), claims=dict.fromkeys(codes, claims))
    assert verdict.status == status, verdict.evidence


def test_another_release_is_named(verdicts: Verdicts) -> None:
    claims = {"TLN904": (Observed("other-release", "torch.load", "before 2.6"),)}
    (verdict,) = verdicts(HEAD + "torch.ones(1)  # warning: [TLN904]\n", claims=claims)
    assert "only a torch before 2.6 shows it" in verdict.evidence
    assert "--python" in verdict.evidence
