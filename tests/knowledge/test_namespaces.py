"""The classes among the names of torch's files are those that the installed torch has there."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
import torch

from torchlint.knowledge.modules import namespaces

FILES = [each.name for each in pkgutil.iter_modules(torch.nn.modules.__path__) if not each.name.startswith("_")]


@pytest.mark.parametrize("file", FILES)
def test_classes_are_those_of_torch(file: str) -> None:
    module = importlib.import_module(f"torch.nn.modules.{file}")
    found = [
        f"{module.__name__}.{name}"
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, torch.nn.Module)
    ]
    known = namespaces.classes(module.__name__)
    assert list(known) == (found if len(found) > 1 else [])
    assert all(map(namespaces.is_class, known))


def test_of_other_files_no_class_is_known() -> None:
    assert namespaces.classes("torch.nn") == namespaces.classes("torch.optim") == ()
    assert not namespaces.is_class("torch.nn.modules.activation.warnings")
