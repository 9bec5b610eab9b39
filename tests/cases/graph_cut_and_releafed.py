# ruff: noqa
"""Programs for TLN105."""

import torch
import torch.nn.functional as F
from torch import nn


def losses_in_a_list():
    """Holds: net.weight.grad is None"""
    net = nn.Linear(2, 1)
    losses = []
    for x in torch.rand(3, 4, 2):
        losses.append(net(x).pow(2).mean())
    loss = torch.tensor(losses, requires_grad=True)  # warning: [TLN105]
    loss.mean().backward()


def loss_from_a_number():
    """Holds: net.weight.grad is None"""
    net = nn.Linear(2, 1)
    total = 0.0
    for x in torch.rand(3, 4, 2):
        total += net(x).mean().item()
    loss = torch.tensor(total, requires_grad=True)  # warning: [TLN105]
    loss.backward()


def accuracy_as_a_loss():
    """Holds: net.weight.grad is None"""
    net = nn.Linear(2, 3)
    labels = torch.tensor([0, 2, 1, 1])
    correct = net(torch.rand(4, 2)).argmax(dim=1) == labels
    loss = 1 - correct.float().mean()
    loss.requires_grad = True  # warning: [TLN105]
    loss.backward()


def generated_weight():
    """Holds: hyper.weight.grad is None"""
    hyper = nn.Linear(1, 4)

    class Target(nn.Module):
        def forward(self, z, x):
            w = nn.Parameter(hyper(z).view(2, 2))  # warning: [TLN105, TLN303]
            return F.linear(x, w)

    Target()(torch.ones(1), torch.rand(3, 2)).sum().backward()


def output_wrapped_again():
    """Holds: net.weight.grad is None"""
    net = nn.Linear(2, 1)
    out = net(torch.rand(4, 2)).mean()
    out = torch.tensor(out, requires_grad=True)  # warning: [TLN105, TLN706]
    (out**2).backward()


def starts_anew_on_purpose():
    encoder, decoder = nn.Linear(2, 2), nn.Linear(2, 1)
    code = encoder(torch.rand(3, 2)).detach().requires_grad_()
    decoder(code).sum().backward()
    print(code.grad)


def adversarial_example():
    net = nn.Linear(2, 1)
    x = torch.rand(3, 2)
    x_adv = torch.tensor(x.numpy() + 0.1, requires_grad=True)
    net(x_adv).sum().backward()
    moved = x_adv + 0.1 * x_adv.grad.sign()


def constants_that_learn():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    (w**2).sum().backward()


def parameter_copied_in_init():
    class Tied(nn.Module):
        def __init__(self, other):
            super().__init__()
            self.weight = nn.Parameter(other.weight * 0.5)

        def forward(self, x):
            return x * self.weight

    Tied(nn.Linear(2, 1))(torch.rand(3, 2)).sum().backward()


def losses_stacked():
    net = nn.Linear(2, 1)
    losses = [net(x).pow(2).mean() for x in torch.rand(3, 4, 2)]
    torch.stack(losses).mean().backward()
    print(torch.tensor([float(loss) for loss in losses]))


def criterion_of_hard_decisions():
    """Holds: net.weight.grad is None"""
    net = nn.Linear(2, 3)

    def train(model, criterion, optimizer, batches):
        for x, y in batches:
            guess = model(x).argmax(dim=1).float()
            loss = criterion(guess, y)
            loss.requires_grad = True  # warning: [TLN105]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    batches = [(torch.rand(4, 2), torch.rand(4)) for _ in range(2)]
    train(net, nn.MSELoss(), torch.optim.SGD(net.parameters(), lr=0.1), batches)


def variable_around_a_metric():
    """Holds: net.weight.grad is None"""
    from torch.autograd import Variable

    net = nn.Linear(2, 1)

    def error_of(prediction, wanted):
        error = F.mse_loss(prediction.data, wanted)
        return Variable(error, requires_grad=True)  # warning: [TLN105]

    for _ in range(2):
        error_of(net(torch.rand(4, 2)), torch.rand(4, 1)).backward()


def flag_set_in_the_method_that_scores():
    """Holds: trainer.net.weight.grad is None"""

    class Trainer:
        def __init__(self):
            self.net = nn.Linear(2, 1)

        def score(self, x):
            with torch.no_grad():
                loss = self.net(x).pow(2).mean()
            loss.requires_grad_(True)  # warning: [TLN105]
            return loss

        def fit(self, batches):
            for x in batches:
                self.score(x).backward()

    trainer = Trainer()
    trainer.fit(torch.rand(3, 4, 2))


def features_that_are_optimised():
    net = nn.Linear(2, 1)
    for p in net.parameters():
        p.requires_grad_(False)
    image = torch.rand(3, 2)
    image.requires_grad = True
    painter = torch.optim.Adam([image], lr=0.1)
    for _ in range(2):
        painter.zero_grad()
        loss = net(image).mean()
        loss.backward()
        painter.step()


def gradient_of_the_loss_by_its_outputs():
    net, head = nn.Linear(2, 2), nn.Linear(2, 1)
    hidden = net(torch.rand(3, 2))
    cut = hidden.detach()
    cut.requires_grad = True
    head(cut).mean().backward()
    hidden.backward(cut.grad)


def generated_weight_through_data():
    """Holds: recipe.weight.grad is None"""
    recipe, blend = nn.Linear(2, 3), nn.Linear(3, 1, bias=False)
    optimizer = torch.optim.SGD(recipe.parameters(), lr=0.1)
    for _ in range(3):
        blend.weight.data = recipe(torch.rand(2)).unsqueeze(0)  # warning: [TLN105]
        optimizer.zero_grad()
        blend(torch.rand(5, 3)).sum().backward()
        optimizer.step()  # warning: [TLN305]


def generated_weight_copied_in():
    """Holds: recipe.weight.grad is None"""
    recipe, blend = nn.Linear(2, 3), nn.Linear(3, 1, bias=False)
    weight = torch.relu(recipe(torch.rand(2))).unsqueeze(0)
    with torch.no_grad():
        blend.weight.copy_(weight)  # warning: [TLN105]
    blend(torch.rand(5, 3)).sum().backward()


def generated_kernel():
    """Holds: recipe.weight.grad is None"""
    recipe, blur = nn.Linear(2, 9), nn.Conv2d(1, 1, 3, bias=False)
    kernel = recipe(torch.rand(2)).view(1, 1, 3, 3)
    blur.weight.data = kernel  # warning: [TLN105]
    blur(torch.rand(1, 1, 5, 5)).sum().backward()


def weight_given_to_the_function():
    recipe = nn.Linear(2, 3)
    weight = recipe(torch.rand(2)).unsqueeze(0)
    F.linear(torch.rand(5, 3), weight).sum().backward()


def first_value_of_a_classifier():
    encoder, head = nn.Linear(4, 3), nn.Linear(3, 2, bias=False)
    with torch.no_grad():
        head.weight.copy_(encoder(torch.rand(2, 4)))
    head.weight.data = encoder(torch.rand(2, 4))
    optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        head(encoder(torch.rand(5, 4))).sum().backward()
        optimizer.step()


def code_that_is_optimised():
    encoder, decoder = nn.Linear(4, 2), nn.Linear(2, 4)
    code = nn.Parameter(torch.zeros(1, 2))
    image = torch.rand(1, 4)
    code.data = encoder(image)
    painter = torch.optim.Adam([code], lr=0.1)
    for _ in range(3):
        painter.zero_grad()
        F.mse_loss(decoder(code), image).backward()
        painter.step()


def average_of_the_weights():
    online, slow = nn.Linear(4, 2), nn.Linear(4, 2)
    optimizer = torch.optim.SGD(online.parameters(), lr=0.1)
    for x in torch.rand(3, 5, 4):
        optimizer.zero_grad()
        F.mse_loss(online(x), slow(x).detach()).backward()
        optimizer.step()
        for p, q in zip(slow.parameters(), online.parameters()):
            p.data.copy_(0.9 * p + 0.1 * q)


def written_through_data():
    """Holds: gen.weight.grad is None"""
    gen, inner = nn.Linear(3, 4), nn.Linear(2, 2, bias=False)
    inner.weight.data.copy_(gen(torch.rand(3)).view(2, 2))  # warning: [TLN105]
    inner(torch.rand(5, 2)).sum().backward()


def a_parameter_made_of_a_result():
    """Holds: gen.weight.grad is None"""
    gen, inner = nn.Linear(3, 4), nn.Linear(2, 2, bias=False)
    inner.weight = nn.Parameter(gen(torch.rand(3)).view(2, 2))  # warning: [TLN105]
    inner(torch.rand(5, 2)).sum().backward()


def a_code_that_is_optimised():
    gen = nn.Linear(3, 4)
    code = nn.Parameter(gen(torch.rand(3)))
    optimizer = torch.optim.SGD([code], lr=0.1)
    code.square().sum().backward()
    optimizer.step()


def a_first_value():
    gen, inner = nn.Linear(3, 4), nn.Linear(2, 2, bias=False)
    inner.weight = nn.Parameter(gen(torch.rand(3)).view(2, 2))
    optimizer = torch.optim.SGD(inner.parameters(), lr=0.1)
    inner(torch.rand(5, 2)).sum().backward()
    optimizer.step()


def graph_loaded_into_a_layer():
    """Holds: recipe.weight.grad is None"""
    recipe = nn.Linear(2, 3)
    blend = nn.Linear(3, 1, bias=False)
    blend.load_state_dict({"weight": recipe(torch.rand(2)).unsqueeze(0)})  # warning: [TLN105]
    blend(torch.rand(5, 3)).sum().backward()


def vector_with_a_graph_cut_into_parameters():
    """Holds: gen.weight.grad is None"""
    gen, net = nn.Linear(2, 4), nn.Linear(3, 1)
    nn.utils.vector_to_parameters(gen(torch.rand(2)), net.parameters())  # warning: [TLN105]
    net(torch.rand(5, 3)).sum().backward()


def vector_without_a_graph_cut_into_parameters():
    gen, net = nn.Linear(2, 4), nn.Linear(3, 1)
    nn.utils.vector_to_parameters(gen(torch.rand(2)).detach(), net.parameters())
    net(torch.rand(5, 3)).sum().backward()


def weights_loaded_from_another_network():
    one, other = nn.Linear(2, 3), nn.Linear(2, 3)
    other.load_state_dict(one.state_dict())
    other(torch.rand(5, 2)).sum().backward()


def copied_first_and_told_afterwards():
    """Holds: a.grad is None"""
    a, b = torch.rand(1, requires_grad=True), torch.rand(1, requires_grad=True)
    t = torch.as_tensor((a, b))  # warning: [TLN105]
    t.requires_grad = True
    t.sum().backward()


def numbers_told_afterwards():
    t = torch.as_tensor((1.0, 2.0))
    t.requires_grad = True
    t.sum().backward()


def shared_and_told_again():
    w = torch.rand(2, requires_grad=True)
    same = torch.as_tensor(w)
    same.requires_grad_()
    same.sum().backward()
    assert w.grad is not None


def bias_laid_out_again():
    """What has the numbers of one parameter takes its place: nothing else computed them."""
    convs = nn.ModuleList([nn.Conv2d(3, 4, 1)])
    for conv in convs:
        b = conv.bias.view(2, -1)
        b.data[:, 1] += 1.0
        conv.bias = nn.Parameter(b.view(-1), requires_grad=True)
    optimizer = torch.optim.SGD(convs.parameters(), lr=0.1)
    optimizer.zero_grad()
    convs[0](torch.rand(1, 3, 4, 4)).sum().backward()
    optimizer.step()


def bias_computed_of_another():
    """Holds: scale.grad is None"""
    convs, scale = nn.ModuleList([nn.Conv2d(3, 4, 1)]), torch.ones(4, requires_grad=True)
    for conv in convs:
        conv.bias = nn.Parameter((conv.bias * scale).view(-1))  # warning: [TLN105]
    convs[0](torch.rand(1, 3, 4, 4)).sum().backward()
