"""TLN805 of functions that objects of torchvision hold: the tests do without torchvision, so nothing is run here."""

from __future__ import annotations

import expectations
import pytest

PROGRAM = """\
from torch.utils.data import DataLoader, Dataset
from torchvision import datasets, transforms

class Own(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return self.transform(i)

def double(x):
    return x * 2

def loader():
    data = {data}
    return DataLoader(data, num_workers={workers})
"""


@pytest.mark.parametrize(
    ("data", "holds"),
    [
        ('datasets.MNIST("x", transform=lambda x: x)', "`MNIST` holds a lambda as `transform`"),
        ('datasets.MNIST("x", transform=transforms.Lambda(lambda x: x))', "`MNIST` holds a lambda as `Lambda`"),
        (
            'datasets.MNIST("x", transform=transforms.Compose([double, transforms.Lambda(lambda x: x)]))',
            "`MNIST` holds a lambda as `Lambda`",
        ),
        ("Own(transforms.Compose([transforms.Lambda(lambda x: x)]))", "`Own` holds a lambda as `transform`"),
        ('datasets.MNIST("x", transform=transforms.Lambda(double))', ""),
        ('datasets.MNIST("x", transform=transforms.Compose([transforms.ToTensor(), double]))', ""),
        ('datasets.MNIST("x", transform=transforms.ToTensor(), target_transform=int)', ""),
    ],
)
def test_what_a_dataset_holds(data: str, holds: str) -> None:
    found = expectations.lint(PROGRAM.format(data=data, workers=2)).findings
    assert [each.code for each in found] == ["TLN805"] * bool(holds)
    assert all(each.message.startswith(holds) for each in found)
    assert not expectations.lint(PROGRAM.format(data=data, workers=0)).findings
