# ruff: noqa
"""Programs for TLN310."""

import torch
from torch import nn


def frozen_backbone():
    """Holds: all(p.requires_grad for p in net.parameters())"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.backbone = nn.Linear(2, 2)
            self.head = nn.Linear(2, 1)
            for param in self.backbone.parameters():
                param.require_grad = False  # warning: [TLN310]

        def forward(self, x):
            return self.head(self.backbone(x))

    net = Net()


def model_is_a_parameter():
    """Holds: all(p.requires_grad for p in net.parameters())"""

    def freeze(model):
        for name, param in model.named_parameters():
            if "bias" not in name:
                param.requires_grads = False  # warning: [TLN310]

    net = nn.Linear(2, 2)
    freeze(net)


def on_the_module():
    """Holds: net[0].weight.requires_grad"""
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    for layer in net.children():
        layer.requires_grad = False  # warning: [TLN310]


def on_a_model_nobody_sees():
    """Holds: net.weight.requires_grad"""

    def distil(teacher, student, x):
        teacher.eval()
        teacher.requires_grad = False  # warning: [TLN310]
        return (teacher(x) - student(x)).pow(2).mean()

    net = nn.Linear(2, 2)
    distil(net, nn.Linear(2, 2), torch.rand(1, 2)).backward()


def on_a_tensor():
    """Holds: not x.requires_grad"""
    x = torch.zeros(3)
    x.require_grad = True  # warning: [TLN310]


def right_spelling():
    net = nn.Linear(2, 2)
    for p in net.parameters():
        p.requires_grad = False
    net.requires_grad_(True)
    x = torch.zeros(2)
    x.requires_grad = True


def attribute_of_its_own():
    class Layer(nn.Module):
        def __init__(self, requires_grad=True):
            super().__init__()
            self.requires_grad = requires_grad
            self.w = nn.Parameter(torch.zeros(2), requires_grad=requires_grad)

    layer = Layer()
    layer.requires_grad = False


def property_of_its_own():
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.zeros(2))

        @property
        def requires_grad(self):
            return self.w.requires_grad

        @requires_grad.setter
        def requires_grad(self, value):
            self.w.requires_grad = value

    Layer().requires_grad = False


def options():
    class Options:
        pass

    opt = Options()
    opt.require_grad = True
    opt.requires_grad = False


def nobody_knows():
    def configure(config, tensor_like):
        config.require_grad = True
        tensor_like.requires_grad = False

    class Anything:
        pass

    configure(Anything(), torch.zeros(2))


def a_parameter_in_the_other_arm():
    class Adapter(nn.Module):
        def __init__(self, plain):
            super().__init__()
            self.a = nn.Parameter(torch.zeros(2)) if plain else nn.Linear(2, 2)

    def unfreeze(model):
        for module in model.modules():
            if hasattr(module, "a"):
                if isinstance(module.a, nn.Module):
                    for p in module.a.parameters():
                        p.requires_grad = True
                elif isinstance(module.a, nn.Parameter):
                    module.a.requires_grad = True

    unfreeze(nn.Sequential(Adapter(True), Adapter(False)))


def a_module_on_every_way():
    """Holds: all(p.requires_grad for p in net.parameters())"""

    def freeze(part, quiet):
        count = sum(p.numel() for p in part.parameters())
        if not quiet:
            part.requires_grad = False  # warning: [TLN310]
        return count

    net = nn.Linear(2, 2)
    vars(nn).get("nothing", freeze)(net, False)


def nothing_to_freeze():
    net = nn.ModuleDict({"body": nn.Linear(4, 4)})
    net.pool = nn.Sequential(nn.AvgPool1d(2), nn.Flatten())
    net.act = nn.ReLU()
    net.pool.requires_grad = False
    net.act.requires_grad = False
    net.body.requires_grad_(False)


def something_to_freeze_among_others():
    """Holds: net.requires_grad is False and net[1].weight.requires_grad"""
    net = nn.Sequential(nn.ReLU(), nn.Linear(4, 4))
    net.requires_grad = False  # warning: [TLN310]


def table_that_requires_no_grad_in_any_case():
    """Holds: not table.requires_grad"""
    table = torch.zeros(4, 4)
    table.require_grad = False  # strict: [TLN310]


def backbone_compared_where_it_should_be_frozen():
    """Holds: all(p.requires_grad for p in backbone.parameters())"""
    backbone = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))

    def freeze(model):
        for name, p in model.named_parameters():
            if "bias" not in name:
                p.requires_grad == False  # warning: [TLN310]

    freeze(backbone)


def flags_that_are_looked_at():
    layer = nn.Linear(3, 4)
    for p in layer.parameters():
        assert p.requires_grad == True
        frozen = p.requires_grad == False
        if p.requires_grad == frozen:
            p.requires_grad = False


def module_of_buffers_alone():
    """There is no parameter that goes on learning."""

    class Window(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.size = size
            self.register_buffer("window", torch.hann_window(size))
            self.act = nn.ReLU()

        def forward(self, x):
            return self.act(x * self.window)

    window = Window(8)
    window.requires_grad = False
    assert not window(torch.rand(8)).requires_grad


def module_with_a_layer_inside():
    """Holds: window.inner.weight.requires_grad"""

    class Window(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.register_buffer("window", torch.hann_window(size))
            self.inner = nn.Linear(size, size)

        def forward(self, x):
            return self.inner(x * self.window)

    window = Window(8)
    window.requires_grad = False  # warning: [TLN310]
def letters_in_the_wrong_order():
    """Holds: net.weight.requires_grad and net.bias.requires_grad"""
    net = nn.Linear(3, 4)
    for p in net.parameters():
        p.requires_gard = False  # warning: [TLN310]


def words_in_the_wrong_order():
    """Holds: not x.requires_grad"""
    x = torch.rand(3)
    x.grad_required = True  # warning: [TLN310]


def letter_too_few():
    """Holds: net.weight.requires_grad"""
    net = nn.Linear(3, 4)
    net.weight.requirs_grad = False  # warning: [TLN310]


def mark_of_ones_own():
    net = nn.Linear(3, 4)
    for p in net.parameters():
        p.needs_grad = True
    wanted = [p for p in net.parameters() if p.needs_grad]
    sum(p.sum() for p in wanted).backward()
