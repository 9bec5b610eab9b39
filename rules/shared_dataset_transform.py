from collections.abc import Iterator

from torchlint.model.events import data
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Rule


class SharedDatasetTransform(Rule):
    """
    A transform is set on one part of a split, and the other parts have it too.

    ## What it does
    Finds `part.dataset.transform = …`, or another attribute, after `random_split` or several `Subset`s of one dataset.

    ## Why is this bad?
    The parts are lists of indices before one and the same dataset. The augmentation that is meant for training changes
    the samples of the validation, or the other way round: what is set last holds for all.

    ## Cure
    Give each part a dataset of its own: two datasets that differ in their transform and share the indices, a part whose
    dataset is a copy, or a small wrapper that applies the transform behind the split.

    ## Fix safety
    Unsafe: the part gets a shallow copy of the dataset, and what is set on one is not seen in the other any more.

    ## Known limits
    Silent where the parts leave the function between the split and the assignment, where a loop stands between them,
    and where all parts are given the same.

    ## References
    - [torch.utils.data.random_split](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.random_split)
    """

    code = "TLN810"
    name = "shared-dataset-transform"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            from torch.utils.data import Dataset, random_split

            class Numbers(Dataset):
                def __init__(self):
                    self.transform = None

                def __len__(self):
                    return 4

                def __getitem__(self, i):
                    return i if self.transform is None else self.transform(i)

            train, valid = random_split(Numbers(), [3, 1])  # note: the parts of the split hold the same dataset
            train.dataset.transform = lambda i: i + 100  # warning: [TLN810]
            seen = valid[0]
            """,
            shows=Holds("seen >= 100"),
            fixed="""
            from torch.utils.data import Dataset, random_split
            import copy

            class Numbers(Dataset):
                def __init__(self):
                    self.transform = None

                def __len__(self):
                    return 4

                def __getitem__(self, i):
                    return i if self.transform is None else self.transform(i)

            train, valid = random_split(Numbers(), [3, 1])
            train.dataset = copy.copy(train.dataset)
            train.dataset.transform = lambda i: i + 100
            seen = valid[0]
            """,
        ),
    )
    good = (
        Example(
            """
            from torch.utils.data import Dataset, Subset

            class Numbers(Dataset):
                def __init__(self, transform=None):
                    self.transform = transform

                def __len__(self):
                    return 4

                def __getitem__(self, i):
                    return i if self.transform is None else self.transform(i)

            train = Subset(Numbers(lambda i: i + 100), [0, 1, 2])
            valid = Subset(Numbers(), [3])
            assert valid[0] == 3
            """
        ),
    )

    def check(self, event: data.SharedDatasetChanged) -> Iterator[Diagnostic]:
        others = " and ".join(f"`{each}`" for each in event.others)
        has = "has" if len(event.others) == 1 else "have"
        message = f"`{event.part}.dataset` is shared: {others} {has} this `{event.attribute}` too"
        text = f"{event.part}.dataset = copy.copy({event.part}.dataset)"
        edits = (Edit(event.statement, text, before=True),)
        fix = Fix(f"give `{event.part}` a copy of the dataset", edits, safe=False, imports=("import copy",))
        words = f"`{event.part}` and `{event.others[0]}` are parts of one and the same dataset"
        claims = (Holds(f"{event.part}.dataset is {event.others[0]}.dataset", words=words),)
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims)
