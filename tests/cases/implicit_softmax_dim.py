# ruff: noqa
"""Programs for TLN602."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def policy_of_an_actor():
    """Warns: Implicit dimension choice for softmax"""

    class Actor(nn.Module):
        def __init__(self):
            super().__init__()
            self.affine = nn.Linear(4, 2)

        def forward(self, state):
            return F.softmax(self.affine(state))  # strict: [TLN602]

    Actor()(torch.rand(1, 4))


def attention_over_the_batch():
    """Warns: Implicit dimension choice for softmax"""

    def attend(q, k, v):
        scores = torch.bmm(q, k.transpose(1, 2))
        return torch.bmm(F.softmax(scores), v)  # warning: [TLN602]

    attend(torch.rand(2, 3, 4), torch.rand(2, 3, 4), torch.rand(2, 3, 4))


def layer_in_a_model():
    """Warns: Implicit dimension choice for softmax"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.softmax = nn.Softmax()  # strict: [TLN602]

        def forward(self, x):
            return self.softmax(x)

    Net()(torch.rand(2, 3))


def head_that_callers_give_who_knows_what():
    """Warns: Implicit dimension choice for softmax"""
    import math

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.softmax = nn.Softmax()  # strict: [TLN602]

        def forward(self, x):
            return self.softmax(x)

    Net()(torch.rand(2, 3))
    Net()(torch.rand([2] * int(math.sqrt(4))))


def layer_put_before_the_softmax():
    """Warns: Implicit dimension choice for softmax"""

    class Rows(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Sequential(nn.Conv1d(2, 2, 1), nn.Softmax())  # strict: [TLN602]
            self.head.insert(1, nn.Flatten())

        def forward(self, x):
            return self.head(x)

    Rows()(torch.rand(2, 2, 2))


def layer_that_undoes_what_stood_before_the_softmax():
    """Warns: Implicit dimension choice for softmax"""
    head = nn.Sequential(nn.Flatten(), nn.Softmax())  # warning: [TLN602]
    head.insert(1, nn.Unflatten(1, (2, 2)))
    head(torch.rand(2, 2, 2))


def sampled_from():
    """Warns: Implicit dimension choice for softmax"""

    def act(policy, state):
        chances = F.softmax(policy(state))  # strict: [TLN602]
        return chances.multinomial(1)

    act(nn.Linear(4, 2), torch.rand(1, 4))


def sampled_from_on_one_path_only():
    """Warns: Implicit dimension choice for softmax"""

    def act(policy, state, training):
        chances = F.softmax(policy(state))  # strict: [TLN602]
        if training:
            return chances.multinomial(1)
        return chances.argmax(-1)

    act(lambda state: torch.rand([2] * int(state)), 2.0, True)


def annotated_as_an_array():
    import numpy as np

    def part(logits: np.ndarray):
        return F.softmax(logits)

    try:
        part(np.zeros(3))
    except AttributeError:
        pass


def written_as_none():
    """Warns: Implicit dimension choice for log_softmax"""
    F.log_softmax(torch.rand(2, 3, 4), dim=None)  # warning: [TLN602]


def softmin():
    """Warns: Implicit dimension choice for softmin"""
    F.softmin(torch.rand(2, 3, 4, 4))  # smell: [TLN602]


def scores_of_a_batch():
    F.softmax(torch.rand(2, 3))
    F.log_softmax(torch.rand(3))


def dimension_given():
    x = torch.rand(2, 3)
    y1 = F.softmax(x, 1)
    y2 = F.softmax(x, dim=-1)
    y3 = x.softmax(0)
    y4 = torch.softmax(x, 1)
    y5 = nn.LogSoftmax(1)(x)
    y6 = nn.Softmax2d()(torch.rand(1, 2, 3, 3))


def dimension_in_the_arguments():
    def normalise(x, *args, **kwargs):
        return F.softmax(x, *args) + F.log_softmax(x, **kwargs)

    normalise(torch.rand(2, 3), 1, dim=1)


def dimension_from_configuration():
    class Gate(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.act = nn.Softmax(dim)

        def forward(self, x):
            return self.act(x)

    Gate(1)(torch.rand(2, 3))


def softmax_of_somebody_else():
    import numpy as np

    def softmax(x):
        e = np.exp(x - x.max())
        return e / e.sum()

    softmax(np.ones(3))


def nothing_to_normalise():
    try:
        F.softmax()
    except TypeError:
        print("no input")


def rank_of_a_starred_shape():
    lead = eval("[2, 2]")
    scores = torch.rand(12).view(*lead, 3)
    assert scores.dim() == 3
    print(F.softmax(scores, dim=-1))


def layer_that_nothing_calls():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 2)
            self.softmax = nn.Softmax()

        def forward(self, x):
            return self.linear(x)  # return self.softmax(self.linear(x))

    Net()(torch.rand(2, 2))


def layer_that_a_loop_calls():
    """Warns: Implicit dimension choice for softmax"""

    class Walk(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(2, 2)
            self.second = nn.Softmax()  # strict: [TLN602]

        def forward(self, x):
            for layer in self.children():
                x = layer(x)
            return x

    Walk()(eval("torch.rand(2, 2)"))


def layer_of_a_sequential_class():
    """Warns: Implicit dimension choice for softmax"""

    class Chain(nn.Sequential):
        def __init__(self):
            super().__init__()
            self.last = nn.Softmax()  # strict: [TLN602]

        def forward(self, x):
            return super().forward(x)

    Chain()(eval("torch.rand(2, 2)"))


def three_calls_of_one_function():
    """Warns: Implicit dimension choice for softmax"""

    def distance(p, q, r):
        scores = r.view(2, 2, 2, 2)
        first = F.softmax(p) * F.log_softmax(q)
        return first, F.softmax(scores)  # smell: [TLN602]

    distance(*eval("[torch.rand(2, 3), torch.rand(2, 3), torch.rand(16)]"))


def calls_of_two_functions():
    """Warns: Implicit dimension choice for softmax"""

    def distance(p, q):
        return F.softmax(p) * F.log_softmax(q)  # strict: [TLN602]

    def entropy(p):
        return F.softmax(p) * F.log_softmax(p)  # strict: [TLN602]

    distance(*eval("[torch.rand(2, 3), torch.rand(2, 3)]"))
    entropy(*eval("[torch.rand(2, 3)]"))


def asserted_to_be_a_matrix():
    def score(features):
        assert len(features.shape) == 2, "one row per sample"
        return F.softmax(features)

    def rows(features):
        assert features.dim() == 2 and features.size(0) > 0
        return F.softmax(features)

    for function in (score, rows):
        function(eval("torch.rand(2, 3)"))


def asserted_to_be_images():
    """Warns: Implicit dimension choice for softmax"""

    def score(features):
        assert features.ndim == 4
        return F.softmax(features)  # smell: [TLN602]

    score(eval("torch.rand(2, 3, 4, 4)"))


def after_flatten():
    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Sequential(nn.Flatten(), nn.Linear(8, 4), nn.ReLU(), nn.Softmax())

        def forward(self, x):
            return self.head(x)

    Classifier()(torch.rand(2, 2, 4))


def after_a_flatten_of_the_last():
    """Warns: Implicit dimension choice for softmax"""

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Sequential(nn.Flatten(2), nn.Linear(8, 4), nn.Softmax())  # warning: [TLN602]

        def forward(self, x):
            return self.head(x)

    Classifier()(torch.rand(2, 3, 2, 4))


def channels_of_maps():
    """Warns: Implicit dimension choice for softmax"""

    class Segment(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv2d(3, 5, 1), nn.BatchNorm2d(5)
            self.head = nn.Sequential(nn.Conv2d(3, 5, 1), nn.ReLU(), nn.Softmax())  # strict: [TLN602]

        def forward(self, x):
            maps = F.interpolate(F.relu(self.norm(self.conv(x))), scale_factor=2)
            return F.softmax(maps), self.head(x)

    maps, _ = Segment()(torch.rand(2, 3, 4, 4))
    assert (maps.sum(1) - 1).abs().max() < 1e-5


def heads_of_attention():
    """Warns: Implicit dimension choice for softmax"""

    def attend(q, k):
        b, h, n, d = q.shape
        scores = (q.reshape(b, h, n, d) / d) * 2.0
        return F.softmax(scores)  # strict: [TLN602]

    weights = attend(torch.rand(2, 3, 4, 5), None)


def sequence_of_a_convolution():
    """Warns: Implicit dimension choice for softmax"""

    class Scores(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(3, 5, 1)

        def forward(self, x):
            return F.softmax(self.conv(x))  # warning: [TLN602]

    Scores()(torch.rand(2, 3, 4))


def all_of_a_flattened_one():
    """Warns: Implicit dimension choice for softmax"""

    def pick(scores):
        return F.softmax(scores.flatten())  # strict: [TLN602]

    assert pick(torch.rand(2, 3)).sum().isclose(torch.ones(()))


def scores_of_a_batched_product():
    """Warns: Implicit dimension choice for softmax"""

    def attend(keys, query):
        scores = torch.bmm(keys, query).squeeze(2)
        return F.softmax(scores)  # strict: [TLN602]

    assert attend(torch.rand(2, 3, 4), torch.rand(2, 4, 1)).shape == (2, 3)


def product_of_two_products():
    """Warns: Implicit dimension choice for softmax"""

    def mixed(x):
        return F.softmax(torch.mm(x, x) @ torch.mm(x, x).t())  # strict: [TLN602]

    assert mixed(torch.rand(3, 3)).shape == (3, 3)


def a_batch_of_one_product():
    """Warns: Implicit dimension choice for softmax"""

    def batched(x):
        return F.softmax(torch.mm(x, x).unsqueeze(0))  # warning: [TLN602]

    assert batched(torch.rand(3, 3)).shape == (1, 3, 3)


def mean_over_a_known_dimension():
    """Warns: Implicit dimension choice for softmax"""

    def pooled(x):
        batch, length, width = x.shape
        return F.softmax(x.mean(1))  # strict: [TLN602]

    assert pooled(torch.rand(2, 3, 4)).shape == (2, 4)


def sum_over_two_dimensions():
    """Warns: Implicit dimension choice for softmax"""

    def pooled(x):
        batch, channels, height, width = x.size()
        return F.softmax(torch.sum(x, dim=(2, 3)))  # strict: [TLN602]

    assert pooled(torch.rand(2, 3, 4, 4)).shape == (2, 3)


def largest_with_its_dimension_kept():
    """Warns: Implicit dimension choice for softmax"""

    def pooled(x):
        batch, length, width = x.shape
        return F.softmax(x.amax(1, keepdim=True))  # warning: [TLN602]

    assert pooled(torch.rand(2, 3, 4)).shape == (2, 1, 4)


def mean_over_who_knows_what():
    """Warns: Implicit dimension choice for softmax"""

    def pooled(x, dims):
        batch, length, width = x.shape
        return F.softmax(x.mean(dims))  # strict: [TLN602]

    assert pooled(torch.rand(2, 3, 4), 1).shape == (2, 4)


def permuted_scores():
    """Warns: Implicit dimension choice for softmax"""

    def permuted(x):
        return F.softmax(x.permute(0, 2, 1))  # warning: [TLN602]

    assert permuted(torch.rand(2, 3, 4)).shape == (2, 4, 3)


def transposed_scores():
    """Warns: Implicit dimension choice for softmax"""

    def transposed(x):
        rows, columns = x.size()
        return F.softmax(x.transpose(0, 1))  # strict: [TLN602]

    assert transposed(torch.rand(2, 3)).shape == (3, 2)


def smoothed_by_a_number():
    """Warns: Implicit dimension choice for softmax"""

    def smoothed(x, temperature: float, smooth=1):
        batch, classes = x.shape
        return F.softmax((x + smooth) / temperature)  # strict: [TLN602]

    assert smoothed(torch.rand(2, 3), 2.0).shape == (2, 3)


def divided_by_who_knows_what():
    """Warns: Implicit dimension choice for softmax"""
    import json

    def divided(x, temperature):
        batch, classes = x.shape
        return F.softmax(x / temperature)  # strict: [TLN602]

    assert divided(torch.rand(2, 3), json.loads("2.0")).shape == (2, 3)


def branches_for_releases_that_nobody_has():
    """Where `dim` was no argument yet: all releases that are known take the other branch."""
    from packaging import version
    from packaging.version import Version as LooseVersion

    def by_version(x):
        if LooseVersion(torch.__version__) < LooseVersion("0.3"):
            return F.softmax(x)
        return F.softmax(x, dim=1)

    def by_parsed(x):
        return F.softmax(x, dim=1) if version.parse(torch.__version__) >= version.parse("1.0") else F.softmax(x)

    def by_numbers(x):
        if tuple(int(each) for each in torch.__version__.split(".")[:2]) < (0, 3):
            return F.softmax(x)
        return F.softmax(x, dim=1)

    def by_text(x):
        old = torch.__version__ < "0.3" or int(torch.__version__.split(".")[0]) < 1
        if old:
            return F.softmax(x)
        return F.softmax(x, dim=1)

    for each in (by_version, by_parsed, by_numbers, by_text):
        each(torch.rand(2, 3, 4, 4))


def branch_for_the_releases_there_are():
    """Warns: Implicit dimension choice for softmax"""
    from packaging import version

    def normalised(x):
        if version.parse(torch.__version__) < version.parse("1.0"):
            return x.exp()
        return F.softmax(x)  # smell: [TLN602]

    normalised(torch.rand(2, 3, 4, 4))


def branch_for_some_of_the_releases():
    """Warns: Implicit dimension choice for softmax"""
    from packaging import version

    def normalised(x):
        if version.parse(torch.__version__) >= version.parse("2.3"):
            return F.softmax(x)  # smell: [TLN602]
        return x.exp()

    normalised(torch.rand(2, 3, 4, 4))


def arrays_have_no_dimension_to_choose():
    import numpy as np

    def part(logits):
        array = logits.detach().cpu().numpy()
        part = array[np.argsort(array)[::-1]]
        try:
            return F.softmax(part)
        except AttributeError:
            return F.softmax(np.zeros(3))

    try:
        part(torch.rand(3))
    except AttributeError as error:
        print(error)


def what_is_made_of_an_array():
    """Warns: Implicit dimension choice"""

    def part(logits):
        array = logits.detach().cpu().numpy()
        part = torch.from_numpy(array[:2])
        return F.softmax(part)  # strict: [TLN602]

    part(torch.rand(3, 2))


def a_dimension_is_said_where_the_class_takes_one():
    import os

    KINDS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "leaky": nn.LeakyReLU, "softmax": nn.Softmax, "no": None}

    class Layer(nn.Module):
        def __init__(self, size, name="Leaky"):
            super().__init__()
            layers: list[nn.Module] = [nn.Linear(size, size)]
            key = name.lower()
            kind = KINDS[key]
            if kind is not None:
                layers.append(
                    kind(negative_slope=0.1) if key == "leaky" else (kind(dim=1) if key == "softmax" else kind())
                )
            self.act = nn.Sequential(*layers)

        def forward(self, x):
            return self.act(x)

    Layer(3, os.environ.get("ACTIVATION", "relu"))(torch.rand(2, 3, 3))


def no_arm_says_a_dimension():
    """Warns: Implicit dimension choice"""
    KINDS = {"relu": nn.ReLU, "softmax": nn.Softmax}

    class Layer(nn.Module):
        def __init__(self, name):
            super().__init__()
            kind = KINDS[name]
            self.act = nn.ReLU() if name == "relu" else kind()  # warning: [TLN602]

        def forward(self, x):
            return self.act(x)

    Layer("softmax")(torch.rand(2, 3, 4))


def layer_that_another_class_has_of_its_own():
    class Demapper(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 2)
            self.softmax = nn.Softmax()

        def forward(self, x):
            return self.linear(x)

    class Sampler(nn.Module):
        def __init__(self):
            super().__init__()
            self.softmax = nn.Softmax(dim=0)

        def forward(self, x):
            return self.softmax(x)

    class Vocabulary(nn.Module):
        def __init__(self):
            super().__init__()
            self.log_softmax = nn.LogSoftmax()

        def forward(self, x):
            return nn.functional.log_softmax(x, dim=-1)

    Sampler()(Vocabulary()(Demapper()(torch.rand(2, 2))))


def layer_that_a_base_class_calls():
    """Warns: Implicit dimension choice for softmax"""

    class Base(nn.Module):
        def __init__(self):
            super().__init__()
            self.softmax = nn.Softmax(dim=0)

        def scored(self, x):
            return self.softmax(x)

    class Net(Base):
        def __init__(self):
            super().__init__()
            self.softmax = nn.Softmax()  # smell: [TLN602]

        def forward(self, x):
            return self.scored(x)

    Net()(torch.rand(2, 3, 4, 4))


def array_of_numpy():
    import numpy as np

    def kept(logits, top_p):
        logits = logits.detach().cpu().numpy()
        ordered = logits[np.argsort(logits)[::-1]]
        return np.cumsum(F.softmax(ordered)) > top_p

    try:
        kept(torch.rand(4), 0.5)
    except AttributeError:
        print("no tensor")


def tensor_that_was_an_array():
    """Warns: Implicit dimension choice for softmax"""

    def kept(logits, top_p):
        logits = torch.from_numpy(logits.detach().cpu().numpy())
        return F.softmax(logits) > top_p  # strict: [TLN602]

    kept(torch.rand(2, 3, 4, 4), 0.5)


def class_looked_up_under_a_key_that_is_tested():
    kinds = {"relu": nn.ReLU, "leakyrelu": nn.LeakyReLU, "softmax": nn.Softmax}

    def activation(key, slope):
        kind = kinds[key]
        return kind(slope) if key == "leakyrelu" else (kind(dim=1) if key == "softmax" else kind())

    for each in kinds:
        activation(each, 0.1)(torch.rand(2, 3))


def class_looked_up_under_a_key_that_need_not_be_given():
    """Warns: Implicit dimension choice for softmax"""
    kinds = {"relu": nn.ReLU, "softmax": nn.Softmax}

    def activation(key):
        if key is not None:
            kind = kinds[key]
            return kind()  # warning: [TLN602]
        return nn.ReLU()

    for each in kinds:
        activation(each)(torch.rand(2, 3, 4))


def class_looked_up_under_a_key():
    """Warns: Implicit dimension choice for softmax"""
    kinds = {"relu": nn.ReLU, "softmax": nn.Softmax}

    def activation(key, wide):
        kind = kinds[key]
        return nn.Sequential(nn.Linear(3, 3), kind()) if wide else kind()  # strict: [TLN602]  # warning: [TLN602]

    for each in kinds:
        activation(each, False)(torch.rand(2, 3, 4))


def joined_with_what_was_flattened():
    """Warns: Implicit dimension choice for softmax"""

    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Sequential(nn.Flatten(), nn.Linear(12, 5), nn.ReLU())
            self.last = nn.Sequential(nn.Linear(9, 2), nn.Softmax())  # strict: [TLN602]

        def forward(self, x):
            return self.last(torch.cat((self.first(x), x[:, -1, :]), 1))

    assert Head()(eval("torch.rand(2, 3, 4)")).shape == (2, 2)


def joined_with_who_knows_what():
    """Warns: Implicit dimension choice for softmax"""

    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.last = nn.Sequential(nn.Linear(8, 2), nn.Softmax())  # strict: [TLN602]

        def forward(self, x):
            return self.last(torch.cat((x, x), -1))

    assert Head()(eval("torch.rand(2, 3, 4)")).shape == (2, 3, 2)


def joined_sequences():
    """Warns: Implicit dimension choice for softmax"""

    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(4, 4, 1)
            self.last = nn.Sequential(nn.Linear(3, 2), nn.Softmax())  # warning: [TLN602]

        def forward(self, x):
            return self.last(torch.cat([self.conv(x), x], 1))

    assert Head()(eval("torch.rand(2, 4, 3)")).shape == (2, 8, 2)


def joined_with_an_empty_one():
    """Warns: Implicit dimension choice for softmax"""

    def grown(x):
        return F.softmax(torch.cat([torch.empty(0), x]))  # strict: [TLN602]

    assert grown(eval("torch.rand(2, 3, 4)")).shape == (2, 3, 4)


def layers_of_a_list_that_a_loop_fills():
    """Warns: Implicit dimension choice for softmax"""

    class Perceptron(nn.Module):
        def __init__(self, dim=[8, 4, 4], classes=2):
            super().__init__()
            layers = []
            for i in range(1, len(dim)):
                layers += [torch.nn.Linear(dim[i - 1], dim[i]), torch.nn.BatchNorm1d(dim[i]), torch.nn.ReLU()]
                layers.append(nn.Dropout(0.1))
            layers += [nn.Linear(dim[-1], classes), nn.Softmax()]  # strict: [TLN602]
            self.layers = nn.Sequential(*layers)

        def forward(self, x):
            return self.layers(x.view(x.shape[0], -1))

    assert Perceptron()(eval("torch.rand(3, 2, 4)")).shape == (3, 2)


def layers_of_a_list_that_is_given_sequences():
    """Warns: Implicit dimension choice for softmax"""

    class Perceptron(nn.Module):
        def __init__(self, dim=[8, 4, 4], classes=2):
            super().__init__()
            layers = []
            for i in range(1, len(dim)):
                layers += [nn.Linear(dim[i - 1], dim[i]), nn.ReLU()]
            layers += [nn.Linear(dim[-1], classes), nn.Softmax()]  # strict: [TLN602]
            self.layers = nn.Sequential(*layers)

        def forward(self, x):
            return self.layers(x)

    assert Perceptron()(eval("torch.rand(3, 2, 8)")).shape == (3, 2, 2)


def layers_of_a_list_with_another_kind():
    """Warns: Implicit dimension choice for softmax"""

    class Perceptron(nn.Module):
        def __init__(self, dim=[8, 4, 4]):
            super().__init__()
            layers = []
            for i in range(1, len(dim)):
                layers += [nn.Linear(dim[i - 1], dim[i]), nn.ReLU()]
            layers.append(nn.Unflatten(1, (2, 2)))
            layers.append(nn.Softmax())  # strict: [TLN602]
            self.layers = nn.Sequential(*layers)

        def forward(self, x):
            return self.layers(x.view(x.shape[0], -1))

    assert Perceptron()(eval("torch.rand(3, 8)")).shape == (3, 2, 2)


def layers_of_a_list_that_others_fill_too():
    """Warns: Implicit dimension choice for softmax"""

    def more(layers):
        layers.append(nn.Unflatten(1, (2, 2)))

    class Perceptron(nn.Module):
        def __init__(self, dim=[8, 4, 4]):
            super().__init__()
            layers = []
            for i in range(1, len(dim)):
                layers += [nn.Linear(dim[i - 1], dim[i]), nn.ReLU()]
            more(layers)
            layers += [nn.ReLU(), nn.Softmax()]  # strict: [TLN602]
            self.layers = nn.Sequential(*layers)

        def forward(self, x):
            return self.layers(x.view(x.shape[0], -1))

    assert Perceptron()(eval("torch.rand(3, 8)")).shape == (3, 2, 2)


def layers_of_a_list_between_two():
    """Warns: Implicit dimension choice for softmax"""

    class Flat(nn.Module):
        def __init__(self, depth):
            super().__init__()
            hidden = [nn.Linear(8, 4)]
            for _ in range(depth):
                hidden.extend([nn.Linear(4, 4), nn.Tanh()])
            self.layers = nn.Sequential(nn.Flatten(), *hidden, nn.Softmax())  # strict: [TLN602]

        def forward(self, x):
            return self.layers(x)

    class Plain(nn.Module):
        def __init__(self, depth):
            super().__init__()
            hidden = [nn.Linear(8, 4)]
            for _ in range(depth):
                hidden.extend([nn.Linear(4, 4), nn.Tanh()])
            self.layers = nn.Sequential(*hidden, nn.Softmax())  # strict: [TLN602]

        def forward(self, x):
            return self.layers(x)

    class Rows(nn.Module):
        def __init__(self, depth):
            super().__init__()
            hidden = [nn.Linear(8, 4)]
            for _ in range(depth):
                hidden.extend([nn.Linear(4, 4), nn.Tanh()])
            self.layers = nn.Sequential(*hidden, nn.Softmax())  # warning: [TLN602]

        def forward(self, x):
            batch, length, size = x.shape
            return self.layers(x)

    Flat(2)(eval("torch.rand(3, 2, 4)")), Plain(2)(eval("torch.rand(3, 2, 8)")), Rows(2)(eval("torch.rand(3, 2, 8)"))


def chains_in_a_chain():
    """Warns: Implicit dimension choice for softmax"""

    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            first = nn.Sequential(nn.Sequential(nn.Flatten(), nn.Linear(4, 4)), nn.PReLU(), nn.Dropout(0.1))
            self.layers = nn.Sequential(first, nn.SELU(), nn.Softmax())  # strict: [TLN602]

        def forward(self, x):
            return self.layers(x)

    assert Head()(eval("torch.rand(2, 2, 2)")).shape == (2, 4)


def behind_a_dropout():
    """Warns: Implicit dimension choice for softmax"""

    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.drop, self.same = nn.Linear(4, 4), nn.Dropout(0.1), nn.Identity()
            self.softmax = nn.Softmax()  # strict: [TLN602]

        def forward(self, x):
            return self.softmax(self.same(self.drop(self.linear(x.flatten(1)))))

    assert Head()(eval("torch.rand(2, 2, 2)")).shape == (2, 4)


def last_step_of_a_recurrent_layer():
    """Warns: Implicit dimension choice for softmax"""

    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(3, 4, batch_first=True)
            self.head = nn.Sequential(nn.Linear(4, 2), nn.Softmax())  # strict: [TLN602]

        def forward(self, x):
            out, _ = self.lstm(x)
            return self.head(out[:, -1, :])  # strict: [TLN220]

    class Every(nn.Module):
        def __init__(self):
            super().__init__()
            self.gru = nn.GRU(3, 4, batch_first=True)
            self.head = nn.Sequential(nn.Linear(4, 2), nn.Softmax())  # strict: [TLN602]

        def forward(self, x):
            out, _ = self.gru(x)
            return self.head(out)

    class Some(nn.Module):
        def __init__(self):
            super().__init__()
            self.gru = nn.GRU(3, 4, batch_first=True)
            self.head = nn.Sequential(nn.Linear(4, 2), nn.Softmax())  # warning: [TLN602]

        def forward(self, x):
            out, _ = self.gru(x)
            return self.head(out[:, -2:, :])  # strict: [TLN220]

    for each in (Last, Every, Some):
        each()(eval("torch.rand(2, 5, 3)"))


def last_state_of_a_recurrent_layer():
    """Warns: Implicit dimension choice for softmax"""

    class Net(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.lstm = nn.LSTM(3, 4, num_layers=size, bidirectional=True)
            self.head = nn.Linear(4, 2)

        def forward(self, x):
            outputs, (h, c) = self.lstm(x)
            return F.softmax(self.head(h[-1])), F.log_softmax(self.head(c.mean(0)))  # strict: [TLN602, TLN220]

    Net(int(eval("1")))(eval("torch.rand(5, 2, 3)"))


def outputs_of_a_recurrent_layer():
    """Warns: Implicit dimension choice for softmax"""

    class Net(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.gru = nn.GRU(3, 4, num_layers=size)

        def forward(self, x):
            outputs, h = self.gru(x)
            return F.softmax(outputs)  # strict: [TLN602]

    Net(int(eval("1")))(eval("torch.rand(5, 2, 3)"))


def greatest_of_the_words():
    """Warns: Implicit dimension choice for log_softmax"""

    class Net(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.words = nn.Linear(size, 6)
            self.head = nn.Linear(6, 2)

        def forward(self, x):
            words = self.words(x.permute(1, 0, 2)).permute(0, 2, 1)
            return F.log_softmax(self.head(F.max_pool1d(words, words.shape[2]).squeeze(2)))  # strict: [TLN602]

    Net(int(eval("3")))(eval("torch.rand(5, 2, 3)"))


def contraction_that_names_its_axes():
    """Warns: Implicit dimension choice for softmax"""

    def scores(q, k):
        pairs = F.softmax(torch.einsum("bd, cd -> bc", q, k))  # strict: [TLN602]
        return pairs, F.softmax(torch.einsum("bqd,bkd->bqk", q[:, None], k[:, None]))  # warning: [TLN602]

    scores(eval("torch.rand(3, 4)"), eval("torch.rand(3, 4)"))
