"""Which packages ask for a torch of their own, or for none: the tables, and what is installed here."""

from __future__ import annotations

from importlib import metadata

import pytest

from torchlint.project.dependencies import _AT_MOST, _WITH_TORCH, _WITHOUT_TORCH, Doubt, at_least, may_hold, may_raise


@pytest.mark.parametrize(
    ("required", "oldest", "raising"),
    [
        (["numpy", "torch>=1.9", "scikit_learn"], (1, 9), ""),
        (["numpy", "unheard-of>=2"], (2, 1), " unheard-of"),
        (["numpy", "pint", "pyfaidx", "ordered_set"], (2, 1), ""),
        (["unheard-of>=2", "kornia"], (2, 1), "kornia unheard-of"),
        (["unheard-of-torch>=2", "unheard-of"], (2, 1), "unheard-of-torch unheard-of"),
        (["timm==0.9.7"], (1, 4), "timm"),
        (["timm==0.9.7"], (1, 9), ""),
        (["accelerate>=0.20; sys_platform == 'linux'", "peft"], (2, 0), ""),
        (["accelerate<=0.34.2,>=0.30.1"], (1, 13), ""),
        (["accelerate>=0.30.1"], (1, 13), "accelerate"),
        (["torchvision>=0.15", "pytorch_lightning"], (1, 9), ""),
        (["transformers[torch]>=4"], (1, 9), "transformers"),
        (["# a comment", ""], (1, 9), ""),
    ],
)
def test_what_may_raise_the_oldest(required: list[str], oldest: tuple[int, int], raising: str) -> None:
    assert may_raise(required, oldest) == Doubt(*raising.split(" "))


@pytest.mark.parametrize(
    ("required", "least"),
    [
        (["numpy", "accelerate"], ((0, 0), "")),
        (["numpy", "accelerate>=0.20"], ((0, 0), "")),
        (["numpy", "accelerate (>=0.31.0)"], ((1, 10), "accelerate>=0.31.0")),
        (["numpy>=2", "accelerate~=1.3"], ((2, 0), "accelerate~=1.3")),
        (["accelerate<2"], ((0, 0), "")),
    ],
)
def test_what_another_package_asks_for_at_least(required: list[str], least: tuple[tuple[int, int], str]) -> None:
    assert at_least(required) == least


@pytest.mark.parametrize(
    ("required", "held"),
    [
        (["torch", "numpy<2"], ""),
        (["allennlp<2"], "allennlp<2"),
        (["unheard-of>=2"], ""),
        (["unheard-of<2", "pint<1"], " unheard-of<2"),
        (["peft<=0.12.0"], ""),
        (["fastai (==1.0)"], "fastai==1.0"),
    ],
)
def test_what_may_refuse_the_newest(required: list[str], held: str) -> None:
    assert may_hold(required) == Doubt(*held.split(" "))


def test_what_is_installed_is_as_the_table_says() -> None:
    """Of packages that ask for no torch none does, whatever is asked of it; nor is one in both tables."""
    assert not _WITHOUT_TORCH & _AT_MOST.keys()
    assert not _WITHOUT_TORCH & _WITH_TORCH
    for name in _WITHOUT_TORCH:
        try:
            required = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        always = [each for each in required if "extra" not in each]
        assert not any(each.lower().startswith(("torch", "pytorch", "lightning")) for each in always), name
