# ruff: noqa
"""Programs for TLN601."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def classifier_that_ends_in_a_softmax():
    """Holds: loss > 0.5"""

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(4, 8)
            self.fc2 = nn.Linear(8, 3)

        def forward(self, x):
            x = F.relu(self.fc1(x))
            return F.softmax(self.fc2(x), dim=1)

    model = Classifier()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(20):
        optimizer.zero_grad()
        loss = criterion(model(torch.ones(6, 4)), torch.zeros(6, dtype=torch.long))  # warning: [TLN601]
        loss.backward()
        optimizer.step()


def discriminator_of_a_gan():
    """Holds: loss_real > 0.3"""
    D = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1), nn.Sigmoid())
    adversarial_loss = nn.BCEWithLogitsLoss()
    real = torch.rand(16, 2)
    prediction = D(real).view(-1)
    loss_real = adversarial_loss(prediction, torch.ones(16))  # warning: [TLN601]


def helper_that_predicts():
    """Holds: loss < 0"""

    def predict(net, x):
        logits = net(x)
        probs = torch.softmax(logits, dim=-1)
        return probs

    def train(net):
        probs = predict(net, torch.rand(5, 3))
        return F.nll_loss(probs, torch.tensor([0, 1, 2, 0, 1]))  # warning: [TLN601]

    loss = train(nn.Linear(3, 3))


def distillation():
    """Holds: loss < 0"""
    student, teacher = torch.rand(4, 10), torch.rand(4, 10)
    loss = F.kl_div(F.softmax(student / 2, dim=1), F.softmax(teacher / 2, dim=1), reduction="batchmean")  # warning: [TLN601]


def attention_mask_logits():
    """Holds: loss > 0.3"""
    scores = torch.full((2, 5), 30.0)
    loss = F.binary_cross_entropy_with_logits(torch.sigmoid(scores), torch.ones(2, 5))  # warning: [TLN601]


def log_softmax_is_only_double_work():
    """Holds: abs(F.cross_entropy(logits, y) - loss) < 1e-6"""
    logits, y = torch.rand(2, 3), torch.tensor([0, 1])
    loss = F.cross_entropy(logits.log_softmax(1), y)  # strict: [TLN601]


def logits_all_the_way():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 3)

        def forward(self, x, probabilities=False):
            logits = self.fc(x)
            return logits.softmax(-1) if probabilities else logits

    net = Net()
    loss = nn.CrossEntropyLoss()(net(torch.rand(2, 4)), torch.tensor([0, 1]))
    predicted = net(torch.rand(2, 4), probabilities=True).argmax(-1)


def right_pairs():
    logits, y = torch.rand(2, 3), torch.tensor([0, 1])
    F.nll_loss(F.log_softmax(logits, dim=1), y)
    F.nll_loss(torch.log(F.softmax(logits, dim=1) + 1e-8), y)
    F.binary_cross_entropy(torch.sigmoid(logits[:, 0]), y.float())
    F.kl_div(F.log_softmax(logits, 1), F.softmax(logits, 1), reduction="batchmean")


def attention_before_the_head():
    q, k, v = torch.rand(2, 5, 4), torch.rand(2, 5, 4), torch.rand(2, 5, 4)
    weights = torch.softmax(q @ k.transpose(1, 2), dim=-1)
    context = (weights @ v).mean(1)
    loss = F.cross_entropy(context, torch.tensor([0, 1]))


def soft_targets():
    logits, teacher = torch.rand(2, 3), torch.rand(2, 3)
    loss = F.cross_entropy(logits, torch.softmax(teacher, dim=1))
    other = nn.BCEWithLogitsLoss()(logits, torch.sigmoid(teacher))


def either_by_configuration():
    def loss_of(logits, y, with_logits):
        out = logits if with_logits else torch.sigmoid(logits)
        if with_logits:
            return F.binary_cross_entropy_with_logits(out, y)
        return F.binary_cross_entropy(out, y)

    loss_of(torch.rand(3), torch.ones(3), True)


def mixture_of_experts():
    gates = torch.softmax(torch.rand(2, 3), dim=-1)
    experts = torch.rand(2, 3, 5)
    logits = (gates.unsqueeze(-1) * experts).sum(1)
    loss = F.cross_entropy(logits, torch.tensor([0, 4]))


def outputs_stacked_frame_by_frame():
    """Holds: loss > 0.5"""

    def train(net, frames, y):
        outs = []
        for frame in frames:
            outs.append(F.softmax(net(frame), dim=1))
        outs = torch.stack(outs).flatten(0, 1)
        return F.cross_entropy(outs, y)  # warning: [TLN601]

    loss = train(lambda t: 30 * t, torch.eye(3).repeat(4, 1, 1), torch.arange(3).repeat(4))


def loss_of_each_sample():
    """Holds: loss > 0.3"""

    class Matching(nn.Module):
        def __init__(self):
            super().__init__()
            self.normalise = nn.Sigmoid()
            self.criterion = nn.BCEWithLogitsLoss()

        def forward(self, scores, wanted):
            total = 0.0
            for row, target in zip(self.normalise(scores), wanted):
                total = total + self.criterion(row, target)  # warning: [TLN601]
            return total / len(scores)

    loss = Matching()(torch.full((2, 5), 30.0), torch.ones(2, 5))


def labelled_pixels_alone():
    """Holds: loss > 0.5"""

    def train(logits, y):
        probabilities = nn.Softmax(dim=-1)(logits)
        valid = y >= 0
        flat = probabilities[valid]
        return F.cross_entropy(flat, y[valid])  # warning: [TLN601]

    loss = train(30 * torch.eye(3).repeat(2, 1, 1), torch.tensor([[0, 1, 2], [-1, 1, -1]]))


def two_halves_of_a_batch():
    """Holds: loss > 0.5"""

    def train(net, x, y):
        main, aside = torch.softmax(net(x), 1).chunk(2, dim=0)
        print(aside.argmax(1))
        return F.cross_entropy(main, y)  # warning: [TLN601]

    loss = train(lambda t: 30 * t, torch.eye(3).repeat(2, 1), torch.arange(3))


def parts_of_logits():
    def train(net, x, y):
        logits = net(x)
        probabilities = torch.softmax(logits, 1)
        confident = probabilities.max(1).values > 0.9
        loss = F.cross_entropy(logits[confident], y[confident])
        for row, target in zip(logits, y):
            loss = loss + F.cross_entropy(row, target)
        first, second = torch.log_softmax(logits, 1).chunk(2)
        return loss + F.nll_loss(first, y[:2]) + F.nll_loss(torch.cat([second]), y[2:])

    train(lambda t: 30 * t, torch.rand(4, 3), torch.tensor([0, 1, 2, 0]))


def gates_beside_features():
    gate, features = torch.sigmoid(torch.rand(2, 3)), torch.rand(2, 4)
    both = torch.cat([features, gate], 1)
    loss = F.cross_entropy(both, torch.tensor([0, 6]))
    blended = torch.stack([gate * 3, gate])
    other = F.binary_cross_entropy_with_logits(blended[0], torch.ones(2, 3))
    rows = [F.cross_entropy(torch.log(each), torch.tensor(0)) for each in torch.softmax(features, 1)]


def scores_into_nll():
    """Holds: loss < 0"""
    model = nn.Linear(4, 3)
    nn.init.ones_(model.weight)
    loss = F.nll_loss(model(torch.ones(2, 4)), torch.tensor([0, 1]))  # warning: [TLN601]
    loss.backward()


def scores_of_a_network_into_nll():
    """Holds: loss < 0"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(4, 8)
            self.last = nn.Linear(8, 3)
            nn.init.constant_(self.last.bias, 30.0)

        def forward(self, x):
            return self.last(torch.relu(self.first(x)))

    net, criterion = Net(), nn.NLLLoss()
    loss = criterion(net(torch.rand(2, 4)), torch.tensor([0, 1]))  # warning: [TLN601]
    loss.backward()


def scores_picked_beside_their_logsumexp():
    scores = nn.Linear(4, 3)(torch.rand(2, 4))
    loss = torch.logsumexp(scores, 1).mean() + F.nll_loss(scores, torch.tensor([0, 1]))
    loss.backward()


def logarithms_into_nll():
    head, y = nn.Linear(4, 3), torch.tensor([0, 1])
    F.nll_loss(F.log_softmax(head(torch.rand(2, 4)), 1), y).backward()
    nn.NLLLoss()(nn.Sequential(head, nn.LogSoftmax(1))(torch.rand(2, 4)), y).backward()
    scores = head(torch.rand(2, 4))
    F.nll_loss(scores - scores.logsumexp(1, keepdim=True), y).backward()


def a_tensor_has_no_parts_with_names():
    class Loss(nn.Module):
        def forward(self, outputs, target):
            return F.binary_cross_entropy_with_logits(outputs["cls"], target)

    def shown():
        try:
            return Loss()(torch.sigmoid(torch.randn(3)), torch.zeros(3))
        except (IndexError, TypeError):
            return None

    shown()
    Loss()({"cls": torch.randn(3)}, torch.zeros(3)).item()
