from collections.abc import Iterator

from torchlint.fixes.rewrites import code
from torchlint.model.events import data
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule


class TrainingLoaderNotShuffled(Rule):
    """
    A training loop gets the same batches in the same order in every epoch; or an evaluation gets others each time.

    ## What it does
    Finds loaders over a map-style dataset with neither `shuffle` nor a sampler that a loop over epochs trains on. With
    `--strict` also loaders with `shuffle=True` that are only gone through for an evaluation, without gradients.

    ## Why is this bad?
    The order of the dataset, often by class or by source, is the order of the gradients, and the batches never mix.
    Training is slower, and batch normalisation sees the same few compositions. In an evaluation the order changes no
    mean, but predictions no longer stand in the order of the data, and a batch that fails is another one each time.

    ## Cure
    `shuffle=True` in training; where the order is meant, `shuffle=False` says so. None in an evaluation.

    ## Fix safety
    Unsafe: the order of the batches changes.

    ## Known limits
    Silent where the loader, its dataset or one of the two loops is not in the same function, where the dataset is not
    known to be read by index, where it draws by itself or holds what was drawn at random, and where the words around it
    are about sequences or time. With `--strict` only where at most four epochs are written out.

    ## References
    - [Data loading order and Sampler](https://docs.pytorch.org/docs/stable/data.html#data-loading-order-and-sampler)
    """

    code = "TLN811"
    name = "training-loader-not-shuffled"
    level = Level.SMELL
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch
            from torch.utils.data import DataLoader, TensorDataset

            data = TensorDataset(torch.arange(32.0).reshape(32, 1))
            loader = DataLoader(data, batch_size=8)  # smell: [TLN811]
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 1e-4)
            firsts = []
            for epoch in range(8):
                for i, (x,) in enumerate(loader):
                    firsts += [x[0].item()] if i == 0 else []
                    optimizer.zero_grad()
                    model(x).pow(2).mean().backward()
                    optimizer.step()
            """,
            shows=Holds("set(firsts) == {0}"),
            fixed="""
            import torch
            from torch.utils.data import DataLoader, TensorDataset

            data = TensorDataset(torch.arange(32.0).reshape(32, 1))
            loader = DataLoader(data, batch_size=8, shuffle=True)
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 1e-4)
            firsts = []
            for epoch in range(8):
                for i, (x,) in enumerate(loader):
                    firsts += [x[0].item()] if i == 0 else []
                    optimizer.zero_grad()
                    model(x).pow(2).mean().backward()
                    optimizer.step()
            """,
        ),
        Example(
            """
            import torch
            from torch.utils.data import DataLoader, TensorDataset

            data = TensorDataset(torch.arange(1000.0).reshape(1000, 1))
            loader = DataLoader(data, batch_size=100, shuffle=True)  # strict: [TLN811]
            model = torch.nn.Linear(1, 1).eval()
            seen = []
            with torch.no_grad():
                for (x,) in loader:
                    model(x)
                    seen += x.flatten().tolist()
            """,
            shows=Holds("seen != sorted(seen)"),
            strict=True,
            fixed="""
            import torch
            from torch.utils.data import DataLoader, TensorDataset

            data = TensorDataset(torch.arange(1000.0).reshape(1000, 1))
            loader = DataLoader(data, batch_size=100, shuffle=False)
            model = torch.nn.Linear(1, 1).eval()
            seen = []
            with torch.no_grad():
                for (x,) in loader:
                    model(x)
                    seen += x.flatten().tolist()
            """,
        ),
    )
    good = (
        Example(
            """
            import torch
            from torch.utils.data import DataLoader, TensorDataset

            data = TensorDataset(torch.arange(32.0).reshape(32, 1))
            loader = DataLoader(data, batch_size=8, shuffle=True)
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 1e-4)
            for epoch in range(8):
                for (x,) in loader:
                    optimizer.zero_grad()
                    model(x).pow(2).mean().backward()
                    optimizer.step()
            """
        ),
    )

    def check(self, event: data.TrainedInOrder | data.EvaluatedShuffled) -> Iterator[Diagnostic]:
        if isinstance(event, data.EvaluatedShuffled):
            message = f"`{event.loader}` is only evaluated on, and shuffles: predictions are in no order"
            in_order = Fix("do not shuffle", (Edit(event.argument, "shuffle=False"),), safe=False)
            claims: tuple[Observed, ...] = (Observed("out-of-order"),)
            # the order of an evaluation seldom matters
            yield Diagnostic(event.node, message, event.trace, in_order, level=Level.STRICT, claims=claims)
            return
        message = f"`{event.loader}` gives every epoch of training the same batches in the same order"
        text = code(event.call)
        fix = None
        if "\n" not in text and event.call.args:
            shuffled = f"{text[:-1].rstrip().rstrip(',')}, shuffle=True)"
            fix = Fix("add `shuffle=True`", (Edit(event.call, shuffled),), safe=False)
        claims = (Observed("same-order"),)
        level = Level.STRICT if event.few else None  # a program that shows something trains a little
        yield Diagnostic(event.node, message, event.trace, fix, level, claims=claims)
