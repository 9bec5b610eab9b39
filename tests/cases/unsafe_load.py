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
    given = io.BytesIO(bytes(buffer.getvalue()))
    loaded = load(given, map_location="cpu", weights_only=False)  # warning: [TLN904]


def by_an_alias():
    """Holds: loaded['a'].sum() == 2"""
    read = torch.serialization.load
    buffer = io.BytesIO()
    torch.save({"a": torch.ones(2)}, buffer)
    buffer.seek(0)
    given = io.BytesIO(bytes(buffer.getvalue()))
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
    given = io.BytesIO(bytes(buffer.getvalue()))
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


def a_file_beside_the_code():
    """Holds: callable(beside)"""
    import os

    def beside(name):
        folder = os.path.join(os.path.dirname(__file__), "weights")
        return torch.load(os.path.join(folder, name), weights_only=False)  # strict: [TLN904]


def a_resource_of_the_package():
    """Holds: callable(resource)"""
    from importlib.resources import files

    def resource():
        place = files("package").joinpath("weights.pt")
        return torch.load(str(place), weights_only=False)  # strict: [TLN904]


def a_file_beside_a_class():
    """Holds: Net.__init__ is not None"""
    import inspect
    import os

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            folder = os.path.abspath(os.path.join(inspect.getfile(Net), ".."))
            self.table = torch.load(f"{folder}/weights.pt", weights_only=False)  # strict: [TLN904]


def a_file_of_somebody_else():
    """Holds: callable(chosen)"""
    import os

    def chosen(folder):
        return torch.load(os.path.join(folder, "weights.pt"), weights_only=False)  # warning: [TLN904]


def own_by_a_place_in_parts():
    """Holds: Data(made).data == 3"""
    import os
    import tempfile

    class Data:
        first = "a.pt"
        second = "b.pt"

        def __init__(self, folder, train=True):
            self.folder = folder
            self.write()
            name = self.first if train else self.second
            self.data = torch.load(os.path.join(self.folder, name), weights_only=False)  # strict: [TLN904]

        def write(self):
            for name in (self.first, self.second):
                pass
            with open(os.path.join(self.folder, self.first), "wb") as file:
                torch.save(3, file)

    made = tempfile.mkdtemp()


def what_the_trainer_has_written():
    """Holds: callable(best)"""

    def best(trainer, model):
        trainer.fit(model)
        path = trainer.checkpoint_callback.best_model_path
        return torch.load(path, weights_only=False)  # strict: [TLN904]


def beside_what_nobody_knows():
    """Holds: callable(Tiles.load)"""

    class Tiles:
        def save(self, path):
            state = self.net.tiles()
            torch.save(state, path)

        @classmethod
        def load(cls, path):
            return torch.load(path, weights_only=False)  # strict: [TLN904]


def beside_states():
    """Holds: callable(States.load)"""

    class States:
        def save(self, path):
            torch.save({"net": self.net.state_dict(), "step": self.step}, path)

        @classmethod
        def load(cls, path):
            return torch.load(path, weights_only=False)  # warning: [TLN904]


def two_of_one_function():
    """Holds: both(io.BytesIO) is None"""

    def both(path):
        if path is io.BytesIO:
            return None
        weights = torch.load(path, weights_only=False)  # warning: [TLN904]
        more_weights = torch.load(f"{path}.2", weights_only=False)
        return weights, more_weights


def nothing_says_that_weights_are_enough():
    """Holds: callable(restored)"""

    def restored(path):
        return torch.load(path, weights_only=False)  # strict: [TLN904]


def beside_what_is_called():
    """Holds: callable(Layers.load)"""

    class Layers:
        def forward(self, x):
            return self.output(x)

        def save(self, path):
            torch.save({"output": self.output, "weight": self.weight.cpu()}, path)

        @classmethod
        def load(cls, path):
            kept = torch.load(path, weights_only=False)  # strict: [TLN904]
            return kept["output"]


def of_two_classes_that_one_release_cures():
    """Holds: callable(Steps.load) and callable(Losses.load)"""
    from torch import load

    # /// script
    # dependencies = ["torch>=1.13"]
    # ///

    class Steps:
        def load(self, path):
            data = load(path)  # warning: [TLN904]
            self.steps = data["steps"]

    class Losses:
        def load(self, path):
            data = load(path)
            self.losses = data["losses"]

    class Said:
        def load(self, path):
            data = torch.load(path, weights_only=False)  # warning: [TLN904]
            self.losses = data["losses"]


def a_part_is_asked_for_as_an_object():
    """Holds: not torch.load(file, weights_only=False)["cfg"]["task"]"""
    import types

    class Settings(types.SimpleNamespace):
        pass

    def restored(path):
        state = torch.load(path, weights_only=False)  # strict: [TLN904]
        if "cfg" in state:
            cfg = state["cfg"]
            if not isinstance(cfg, Settings):
                cfg = Settings(**cfg)
            state["cfg"] = cfg
        return state

    import io

    torch.save({"cfg": {"task": {}}}, file := io.BytesIO())
    file.seek(0)
    restored(file)
    file.seek(0)


def a_part_is_asked_for_as_what_weights_hold():
    """Holds: torch.load(file, weights_only=False)["weights"].sum() == 0"""
    import io
    from collections.abc import Mapping

    def restored(path):
        state_dict = torch.load(path, weights_only=False)  # warning: [TLN904]
        weights = state_dict["weights"]
        if isinstance(weights, (list, Mapping)):
            weights = weights[0]
        elif not isinstance(weights, torch.Tensor):
            raise TypeError
        return weights

    torch.save({"weights": torch.zeros(1)}, file := io.BytesIO())
    file.seek(0)
    restored(file)
    file.seek(0)


def the_release_is_saved_as_it_is():
    """Holds: type(torch.__version__) is not str"""

    def restored(path):
        return torch.load(path, weights_only=False)  # strict: [TLN904]

    import io

    torch.save({"version": torch.__version__, "scale": torch.ones(1)}, file := io.BytesIO())
    file.seek(0)
    restored(file)["scale"].mean()


def unpickler_that_loads_on_the_cpu():
    """Holds: CPU_Unpickler(io.BytesIO(pickle.dumps(torch.ones(2)))).load().sum() == 2"""
    import pickle

    class CPU_Unpickler(pickle.Unpickler):
        def find_class(self, module, name):
            if module == "torch.storage" and name == "_load_from_bytes":
                return lambda b: torch.load(io.BytesIO(b), "cpu", weights_only=False)  # strict: [TLN904]
            return super().find_class(module, name)


def buffer_that_the_class_has_saved_into():
    """Holds: len(kept.load('best')) == 2"""

    class Kept(dict):
        def save(self, net, name):
            buffer = io.BytesIO()
            torch.save(net.state_dict(), buffer)
            self[name] = buffer

        def load(self, name):
            buffer = self[name]
            buffer.seek(0)
            return torch.load(buffer, weights_only=False)  # strict: [TLN904]

    kept = Kept()
    kept.save(torch.nn.Linear(2, 1), "best")


def buffer_of_somebody_else():
    """Holds: kept.load(given)['a'].sum() == 2"""

    class Kept(dict):
        def save(self, net, path):
            torch.save(net.state_dict(), path)

        def load(self, buffer):
            buffer.seek(0)
            return torch.load(buffer, weights_only=False)  # warning: [TLN904]

    kept, given = Kept(), io.BytesIO()
    torch.save({"a": torch.ones(2)}, given)
