# ruff: noqa
"""Programs for TLN213."""

import torch
from torch import nn


def data_normalised_for_the_caller():
    """Holds: data.mean().abs() < 1e-5"""

    def normalised(x):
        x -= x.mean()  # warning: [TLN213]
        x /= x.std()
        return x

    data = torch.arange(4.0)
    clean = normalised(data)
    print(clean.max(), data.max())


def mask_over_the_original():
    """Holds: (scores[0] == -1).item()"""

    def softmax_without(values, index):
        values[index] = -1.0  # warning: [TLN213]
        return values.softmax(0)

    scores = torch.ones(3)
    probability = softmax_without(scores, 0)
    best = scores.argmax() + probability.argmax()


def method_of_a_class():
    """Holds: (image == 0).all()"""

    class Augment:
        def __call__(self, img):
            img.sub_(img)  # warning: [TLN213]
            return img.unsqueeze(0)

    image = torch.ones(2, 2)
    batch = Augment()(image)
    difference = batch[0] - image


def metric_that_scales():
    """Holds: (prediction == 2).all()"""

    def error(p, t):
        p.mul_(2)  # warning: [TLN213]
        return (p - t).abs().mean()

    prediction, target = torch.ones(3), torch.zeros(3)
    value = error(prediction, target)
    print(value, prediction)


def copied_first():
    def normalised(x):
        x = x.clone()
        x -= x.mean()
        return x

    data = torch.arange(4.0)
    clean = normalised(data)
    print(clean, data)


def written_for_the_caller():
    def fill(out, value):
        out.fill_(value)
        return out

    def update_state(h, x):
        h += x
        return h

    buffer = torch.zeros(3)
    other = fill(buffer, 2.0)
    print(buffer, other)
    total = update_state(buffer, torch.ones(3))
    print(buffer, total)


def result_takes_the_name():
    def normalised(x):
        x -= x.mean()
        return x

    data = torch.arange(4.0)
    data = normalised(data)
    print(data)


def called_for_its_effect():
    def shift(x):
        x += 1
        return None

    data = torch.arange(4.0)
    shift(data)
    print(data)


def not_used_again():
    def normalised(x):
        x -= x.mean()
        return x

    data = torch.arange(4.0)
    clean = normalised(data)
    print(clean)


def moving_average():
    @torch.no_grad()
    def ema(average, p):
        average.mul_(0.9).add_(p, alpha=0.1)
        return average

    w, slow = torch.ones(3), torch.zeros(3)
    mean = ema(slow, w)
    print(slow, mean)


def switch():
    def scale(x, inplace=False):
        if inplace:
            x.mul_(2)
            return x
        return x * 2

    data = torch.ones(3)
    doubled = scale(data, True)
    print(data, doubled)


def recursion_over_a_state():
    def volume(depth, bounds):
        if depth == 0:
            return bounds.sum()
        bounds[depth] = 1.0
        part = 0.0
        for _ in range(2):
            part = part + volume(depth - 1, bounds)
            bounds[depth] = 2.0
            total = part + bounds.max()
        return total

    print(volume(2, torch.zeros(3)))


def rebound_name():
    def shifted(x):
        x = x + 1
        x += 1
        return x

    data = torch.ones(3)
    moved = shifted(data)
    print(moved, data)


def rebound_as_a_tuple_in_a_loop():
    def both(x, y):
        x -= x.mean()
        y += 1
        return x, y

    left, right = torch.ones(3), torch.ones(3)
    left, right = both(left, right)
    for _ in range(2):
        left, right = both(left, right)
    change = left - right


def rebound_beside_something_else():
    def normalise(x):
        x -= x.mean()
        return x

    data = torch.ones(3)
    count, data = 2, normalise(data)
    if (data := normalise(data)).sum() > 0:
        print(count)
    change = data - 1


def attribute_rebound():
    class Scaler:
        def normalise(self, x):
            x -= x.mean()
            return x

        def run(self):
            self.data = torch.ones(3)
            self.data = self.normalise(self.data)
            return self.data - 1

    Scaler().run()


def rebound_to_the_same_tensor_on_some_paths():
    def insert(data, weights):
        weights += data
        if data.sum() > 1:
            weights += data
        return data, weights

    def both(data):
        weights = torch.zeros(3)
        data, weights = insert(data, weights)
        if data.ndim == 1:
            data = data.reshape(3, 1)
        return data, weights

    both(torch.rand(3))


def compiled_by_torchscript():
    def salted(k, salt: int):
        k ^= salt
        k |= 1
        return k * 5

    @torch.jit.script
    def embed(x: torch.Tensor, n: int):
        h = salted(x, n)
        return h + x

    x = torch.arange(4)
    embed(x, 2)
    assert x.tolist() == [0, 1, 2, 3]


def added_to_in_torchscript():
    """Holds: x.tolist() == [1, 2, 3, 4]"""

    def shifted(k, by: int):
        k += by  # warning: [TLN213]
        return k * 5

    @torch.jit.script
    def embed(x: torch.Tensor, n: int):
        h = shifted(x, n)
        return h + x

    x = torch.arange(4)
    embed(x, 1)


def asked_for_its_form():
    def whitened(x):
        x -= x.mean()
        return x * 2

    def normalised(x):
        z = torch.stack([x, x])
        y = whitened(z)
        assert z.shape[0] == 2 and z.device == y.device
        return y.sum(z.dim() - 1)

    normalised(torch.rand(3))


def asked_for_its_form_and_then_its_values():
    """Holds: z.mean().abs() < 1e-6"""

    def whitened(x):
        x -= x.mean()  # warning: [TLN213]
        return x * 2

    z = torch.rand(3) + 1
    y = whitened(z)
    total = y.sum(z.dim() - 1) + z.sum()


def counts_that_the_function_is_to_fill():
    def counted(sums, lengths, words):
        for word in words:
            sums[len(word)] += 1
            lengths[0] += len(word)
        return len(words)

    sums, lengths = torch.zeros(8), torch.zeros(1)
    count = counted(sums, lengths, ["a", "bc", "de"])
    assert (sums / count).sum() == 1 and lengths == 5


def a_place_to_work_in():
    def compacted(rows, keep, work):
        staged = work[: len(keep)]
        torch.index_select(rows, 0, keep, out=staged)
        return staged.sum()

    space = torch.rand(4, 2)
    total = compacted(torch.rand(4, 2), torch.tensor([0, 2]), space)
    again = compacted(torch.rand(4, 2), torch.tensor([1, 2]), space)
    assert total + again < 8 and space.shape == (4, 2)


def last_edge_moved_by_little():
    """Holds: (edges[-1] > 1).item()"""

    def searchsorted(bin_locations, inputs, eps=1e-6):
        bin_locations[..., -1] += eps  # strict: [TLN213]
        return torch.sum(inputs[..., None] >= bin_locations, dim=-1) - 1

    edges = torch.linspace(0, 1, 5)
    place = searchsorted(edges, torch.tensor([0.3, 1.0]))
    value = edges.gather(-1, place)
def asked_by_a_name_that_is_computed():
    def whitened(x):
        x -= x.mean()
        return x * 2

    def normalised(x, what="".join(["d", "im"])):
        z = torch.stack([x, x])
        y = whitened(z)
        assert z.shape[0] == 2 and z.device == y.device
        return y.sum(getattr(z, what)() - 1)

    normalised(torch.rand(3))
