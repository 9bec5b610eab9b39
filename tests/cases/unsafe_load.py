# ruff: noqa
"""Programs for TLN904."""

import io

import torch


def file():
    """Holds: loaded['a'].sum() == 2"""
    buffer = io.BytesIO()
    torch.save({"a": torch.ones(2)}, buffer)
    buffer.seek(0)
    loaded = torch.load(buffer, weights_only=False)  # strict: [TLN904]


def own_by_a_place_of_the_object():
    """Holds: Cache(io.BytesIO()).told()['a'].sum() == 2"""

    class Cache:
        def __init__(self, file):
            self.file = file

        def kept(self):
            torch.save({"a": torch.ones(2)}, self.file)
            self.file.seek(0)

        def told(self):
            self.kept()
            return torch.load(self.file, weights_only=False)  # strict: [TLN904]


def a_place_that_the_caller_chooses():
    """Holds: load(buffer)['a'].sum() == 2"""

    def save(path):
        torch.save({"a": torch.ones(2)}, path)

    def load(path):
        return torch.load(path, weights_only=False)  # warning: [TLN904]

    buffer = io.BytesIO()
    save(buffer)
    buffer.seek(0)


def another_place():
    """Holds: loaded['a'].sum() == 2"""
    buffer, copy = io.BytesIO(), io.BytesIO()
    torch.save({"a": torch.ones(2)}, buffer)
    copy.write(buffer.getvalue())
    copy.seek(0)
    loaded = torch.load(copy, weights_only=False)  # warning: [TLN904]


def imported():
    """Holds: loaded['a'].sum() == 2"""
    from torch import load

    buffer = io.BytesIO()
    torch.save({"a": torch.ones(2)}, buffer)
    buffer.seek(0)
    given = io.BytesIO(buffer.getvalue())
    loaded = load(given, map_location="cpu", weights_only=False)  # warning: [TLN904]


def by_an_alias():
    """Holds: loaded['a'].sum() == 2"""
    read = torch.serialization.load
    buffer = io.BytesIO()
    torch.save({"a": torch.ones(2)}, buffer)
    buffer.seek(0)
    given = io.BytesIO(buffer.getvalue())
    loaded = read(given, weights_only=False)  # warning: [TLN904]


def in_a_function():
    """Holds: loaded['a'].sum() == 2"""

    def read(buffer):
        return torch.load(
            buffer,
            weights_only=False,  # warning: [TLN904]
        )

    buffer = io.BytesIO()
    torch.save({"a": torch.ones(2)}, buffer)
    buffer.seek(0)
    loaded = read(buffer)


def weights():
    buffer = io.BytesIO()
    torch.save({"a": torch.ones(2)}, buffer)
    buffer.seek(0)
    torch.load(buffer, weights_only=True)


def unsaid():
    buffer = io.BytesIO()
    torch.save({"a": torch.ones(2)}, buffer)
    buffer.seek(0)
    torch.load(buffer)


def not_written():
    def read(buffer, trusted):
        return torch.load(buffer, weights_only=not trusted)

    buffer = io.BytesIO()
    torch.save({"a": torch.ones(2)}, buffer)
    buffer.seek(0)
    read(buffer, False)


def handed_on():
    def read(buffer, **options):
        return torch.load(buffer, **options)

    buffer = io.BytesIO()
    torch.save({"a": torch.ones(2)}, buffer)
    buffer.seek(0)
    read(buffer)


def compiled_model():
    buffer = io.BytesIO()
    torch.save({"a": torch.ones(2)}, buffer)

    class jit:
        @staticmethod
        def load(buffer, weights_only=False):
            return buffer

    jit.load(buffer, weights_only=False)


def unsaid_before():
    """Holds: type(loaded).__name__ == 'dict'"""
    buffer = io.BytesIO()

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///
    torch.save({"a": torch.ones(2)}, buffer)
    given = io.BytesIO(buffer.getvalue())
    loaded = torch.load(given)  # warning: [TLN904]


def whole_module():
    """Holds: loaded.in_features == 2"""
    buffer = io.BytesIO()
    model = torch.nn.Linear(2, 3)
    print(sum(each.numel() for each in model.parameters()))
    torch.save(model, buffer)
    buffer.seek(0)
    loaded = torch.load(buffer, weights_only=False)  # strict: [TLN904]


def whole_module_as_weights():
    """Raises: Weights only load failed"""
    buffer = io.BytesIO()

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///
    model = torch.nn.Linear(2, 3)
    torch.save(model, buffer)
    print(model.state_dict().keys())
    buffer.seek(0)
    loaded = torch.load(buffer)  # warning: [TLN904]


def state_before_there_is_a_way():
    buffer = io.BytesIO()

    # /// script
    # dependencies = ["torch>=1.6,<1.13"]
    # ///
    torch.save(torch.nn.Linear(2, 3).state_dict(), buffer)
    buffer.seek(0)
    loaded = torch.load(buffer)


def used_as_a_module():
    """Raises: Weights only load failed"""
    buffer = io.BytesIO()

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///
    def restored(file):
        model = torch.load(file)  # warning: [TLN904]
        model.eval()
        return model

    network = torch.nn.Linear(2, 3)
    torch.save(network, buffer)
    restored(io.BytesIO(buffer.getvalue()))


def an_entry_used_as_an_object():
    """Raises: Weights only load failed"""
    import argparse

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///
    def restored(file):
        checkpoint = torch.load(file)  # warning: [TLN904]
        options = checkpoint["args"]
        return options.rate

    buffer = io.BytesIO()
    torch.save({"args": argparse.Namespace(rate=0.1)}, buffer)
    restored(io.BytesIO(buffer.getvalue()))


def needs_what_it_says():
    """Holds: restored(io.BytesIO(buffer.getvalue())).training is False"""

    def restored(file):
        return torch.load(file, weights_only=False)["model"].eval()  # strict: [TLN904]

    buffer = io.BytesIO()
    torch.save({"model": torch.nn.Linear(2, 3)}, buffer)


def saves_a_value_of_numpys():
    """Raises: Weights only load failed"""
    import numpy as np

    buffer = io.BytesIO()

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///
    losses = [1.0, 2.0]
    mean = np.mean(losses)
    torch.save({"loss": mean, "epoch": 3}, buffer)
    buffer.seek(0)
    loaded = torch.load(buffer)  # warning: [TLN904]


def a_number_of_pythons_own():
    """Holds: loaded['loss'] == 1.5"""
    import numpy as np

    buffer = io.BytesIO()

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///
    losses = [1.0, 2.0]
    torch.save({"loss": float(np.mean(losses)), "epoch": 3}, buffer)
    buffer.seek(0)
    loaded = torch.load(buffer)  # strict: [TLN904]


def asks_what_it_is():
    """Holds: restored(io.BytesIO(buffer.getvalue()))['a'].sum() == 2"""

    def restored(file):
        state = torch.load(file, weights_only=False)  # warning: [TLN904]
        if isinstance(state, torch.nn.Module):
            state = state.state_dict()
        return state

    buffer = io.BytesIO()
    torch.save({"a": torch.ones(2)}, buffer)


def a_tensor_that_is_written():
    """Holds: restored(io.BytesIO(buffer.getvalue())).sum() == 2"""

    def restored(file):
        weights = torch.load(file, weights_only=False)  # warning: [TLN904]
        return weights.to("cpu").requires_grad_()

    buffer = io.BytesIO()
    torch.save(torch.ones(2), buffer)
