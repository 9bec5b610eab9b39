# ruff: noqa
"""Programs for TLN905."""

import torch


def moving_repository():
    """Raises: Error"""

    def model(where):
        if not where:
            raise RuntimeError("Error: no network in a test")
        return torch.hub.load("somebody/models", "net", trust_repo=True)  # strict: [TLN905]

    model("")


def library():
    """Raises: OSError: Could not load this library"""
    torch.classes.load_library("/nowhere/classes.so")  # strict: [TLN905]


def imported_hub():
    """Raises: no network in a test"""
    from torch import hub

    def model(where):
        assert where, "no network in a test"
        return hub.load(repo_or_dir="a/b", model="net") or hub.load("a/b", "net", trust_repo=True)  # strict: [TLN905, TLN905]

    model("")


def on_a_branch_of_another_name():
    """Raises: no network in a test"""
    import torch.hub as models

    def model(where):
        assert where, "no network in a test"
        return models.load("a/b", "net", source="github", trust_repo=True)  # strict: [TLN905]

    model("")


def pinned():
    def model():
        return torch.hub.load("somebody/models:v1.0", "net", trust_repo=True)


def official():
    def model():
        return torch.hub.load("pytorch/vision", "resnet18", trust_repo=True)


def local():
    def model():
        return torch.hub.load("models", "net", source="local", trust_repo=True)


def somewhere():
    def model(repository):
        return torch.hub.load(repository, "net", trust_repo=True)


def own_hub():
    class hub:
        @staticmethod
        def load(repository, model):
            return model

    hub.load("a/b", "net")
