# ruff: noqa
"""Programs for TLN406."""

import torch
from torch import nn


def accuracy():
    """Holds: recorded == [True, True]"""

    def evaluate(model, loader, device):
        model.eval()
        correct, total = 0, 0
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            output = model(x)  # smell: [TLN406]
            prediction = output.argmax(dim=1)
            correct += (prediction == y).sum().item()
            total += y.size(0)
        return correct / total

    net = nn.Linear(2, 3)
    recorded = []
    net.register_forward_hook(lambda m, i, o: recorded.append(o.requires_grad))
    evaluate(net, [(torch.rand(4, 2), torch.zeros(4))] * 2, "cpu")


def validation_loss_of_a_trainer():
    """Holds: recorded == [True]"""

    class Trainer:
        def __init__(self, model, criterion):
            self.model, self.criterion = model, criterion

        def validate(self, loader):
            self.model.eval()
            total = 0.0
            for x, y in loader:
                loss = self.criterion(self.model(x), y)  # smell: [TLN406]
                total += loss.item() * len(x)
            return total

    net = nn.Linear(2, 1)
    recorded = []
    net.register_forward_hook(lambda m, i, o: recorded.append(o.requires_grad))
    Trainer(net, nn.MSELoss()).validate([(torch.rand(4, 2), torch.rand(4, 1))])


def predictions_to_numpy():
    """Holds: recorded == [True]"""

    def predict(model, loader):
        model.eval()
        found = []
        for x in loader:
            logits = model(x)  # smell: [TLN406]
            found.extend(logits.detach().cpu().tolist())
        return found

    net = nn.Linear(2, 1)
    recorded = []
    net.register_forward_hook(lambda m, i, o: recorded.append(o.requires_grad))
    predict(net, [torch.rand(4, 2)])


def after_the_training():
    """Holds: output.requires_grad"""
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.rand(3, 2)).mean().backward()
        optimizer.step()
    model.eval()
    errors = []
    for x in torch.rand(3, 4, 2):
        output = model(x)  # smell: [TLN406]
        errors.append(output.abs().mean().item())


def under_no_grad():
    def evaluate(model, loader):
        model.eval()
        correct = 0
        with torch.no_grad():
            for x in loader:
                correct += (model(x) > 0).sum().item()
        return correct

    evaluate(nn.Linear(2, 1), torch.rand(3, 4, 2))


def decorated():
    class Trainer:
        def __init__(self, model):
            self.model = model

        @torch.inference_mode()
        def validate(self, loader):
            self.model.eval()
            return sum(self.step(x) for x in loader)

        def step(self, x):
            return self.model(x).sum().item()

    Trainer(nn.Linear(2, 1)).validate(torch.rand(3, 4, 2))


def called_under_no_grad():
    def evaluate(model, loader):
        model.eval()
        correct = 0
        for x in loader:
            correct += (model(x) > 0).sum().item()
        return correct

    def main(model, loader):
        with torch.no_grad():
            return evaluate(model, loader)

    main(nn.Linear(2, 1), torch.rand(3, 4, 2))


def adversarial_examples():
    def attack(model, loader, eps):
        model.eval()
        flipped = 0
        for x in loader:
            x = x.clone().requires_grad_()
            output = model(x)
            output.sum().backward()
            adversarial = x + eps * x.grad.sign()
            flipped += (model(adversarial).sign() != output.sign()).sum().item()
        return flipped

    attack(nn.Linear(2, 1), torch.rand(3, 4, 2), 0.1)


def saliency():
    def saliency(model, loader):
        model.eval()
        maps = []
        for x in loader:
            x.requires_grad_()
            (g,) = torch.autograd.grad(model(x).sum(), x)
            maps.append(g)
        return maps

    saliency(nn.Linear(2, 1), [torch.rand(4, 2), torch.rand(4, 2)])


def outputs_are_returned():
    def features(model, loader):
        model.eval()
        found = []
        for x in loader:
            found.append(model(x))
        return torch.cat(found)

    features(nn.Linear(2, 1), torch.rand(3, 4, 2)).sum().backward()


def sum_is_returned():
    def style_loss(vgg, images, target):
        vgg.eval()
        total = 0.0
        for image in images:
            total = total + (vgg(image) - target).pow(2).mean()
        return total

    image = torch.rand(1, 2, requires_grad=True)
    style_loss(nn.Linear(2, 1), [image, image * 2], torch.zeros(1)).backward()


def frozen_statistics():
    def finetune(model, loader, optimizer):
        model.eval()
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()

    net = nn.Linear(2, 1)
    finetune(net, torch.rand(3, 4, 2), torch.optim.SGD(net.parameters(), lr=0.1))


def generator_of_outputs():
    def outputs(model, loader):
        model.eval()
        for x in loader:
            yield model(x)

    sum(y.sum() for y in outputs(nn.Linear(2, 1), torch.rand(3, 4, 2))).backward()


def graph_only_where_the_model_needs_one():
    def evaluate(model, loader):
        model.eval()
        total = 0.0
        for x in loader:
            try:
                with torch.no_grad():
                    output = model(x)
            except RuntimeError:
                output = model(x)
            total += output.sum().item()
        return total

    evaluate(nn.Linear(2, 1), torch.rand(3, 4, 2))


def forward_differentiates():
    class GradientMatching(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(2, 1)

        def forward(self, x):
            (g,) = torch.autograd.grad(self.net(x).sum(), self.net.weight)
            return g.pow(2).sum()

    class Attack:
        def __init__(self, model):
            self.model = model

        def score(self, loader):
            self.model.eval()
            return [self.one(x) for x in loader]

        def total(self, loader):
            self.model.eval()
            total = 0.0
            for x in loader:
                total += self.model(x).item()
            return total

        def one(self, x):
            return self.model(x).item()

    Attack(GradientMatching()).total(torch.rand(2, 3, 2))


def frozen_by_a_helper():
    class Evaluator:
        def __init__(self, model, batches):
            self.model, self.batches, self.flags = model, batches, []

        def freeze(self, model):
            model.eval()
            for p in model.parameters():
                self.flags.append(p.requires_grad)
                p.requires_grad = False

        def unfreeze(self, model):
            model.train()
            for p, flag in zip(model.parameters(), self.flags):
                p.requires_grad = flag

        def evaluate(self):
            model = self.model
            self.freeze(model)
            total = 0.0
            for x, y in self.batches:
                total += nn.functional.mse_loss(model(x), y).item()
            self.unfreeze(model)
            return total

    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    Evaluator(net, [(torch.rand(3, 2), torch.rand(3, 2))]).evaluate()


def frozen_at_once():
    def evaluate(model, batches):
        model.requires_grad_(False)
        model.eval()
        return [nn.functional.mse_loss(model(x), y).item() for x, y in batches] + [
            model(x).sum().item() for x, _ in batches
        ]

    def evaluate_in_a_loop(model, batches):
        model.eval()
        model.requires_grad_(False)
        total = 0.0
        for x, y in batches:
            total += nn.functional.mse_loss(model(x), y).item()
        return total

    net = nn.Linear(2, 2)
    evaluate(net, [(torch.rand(3, 2), torch.rand(3, 2))])
    evaluate_in_a_loop(net, [(torch.rand(3, 2), torch.rand(3, 2))])


def outputs_kept_by_a_script():
    """Holds: all(each.grad_fn is not None for each in seen)"""
    scale = nn.Linear(3, 1)
    scale.eval()
    seen = []
    for _ in range(5):
        seen.append(scale(torch.rand(4, 3)))  # smell: [TLN406]


def sum_returned_to_the_script():
    """Holds: average.requires_grad"""

    def validate(net, batches):
        net.eval()
        total = 0
        for x in batches:
            total += net(x).mean()  # smell: [TLN406]
        return total / len(batches)

    average = validate(nn.Linear(2, 1), torch.rand(3, 4, 2))
    print(average.item())


def an_attack_inside_the_evaluation():
    class Defense:
        def __init__(self, model):
            self.model = model

        def evaluate(self, model, loader, attack):
            model.eval()
            correct = 0
            for x, y in loader:
                correct += model(x).argmax(1).eq(y).sum().item()
                moved, output = self.attacked(x, y, attack)
                correct += output.argmax(1).eq(y).sum().item()
            return correct

        def attacked(self, x, y, attack):
            moved = attack(self.model)(x, y)
            return moved, self.model(moved)

    net = nn.Linear(3, 2)
    attack = eval("lambda m: lambda x, y: x + torch.autograd.grad(m(v := x.clone().requires_grad_()).sum(), v)[0]")
    Defense(net).evaluate(net, [(torch.rand(4, 3), torch.zeros(4, dtype=torch.long))], attack)


def one_batch_to_fill_hooks():
    model = torch.nn.Linear(2, 1)
    model.eval()
    for x in torch.rand(4, 3, 2):
        model(x)
        break


def a_few_calls_that_are_written_out():
    model = nn.Linear(3, 3)
    model.eval()
    for rows in (1, 3):
        assert model(torch.rand(rows, 3)).sum().item() < 100


def an_epoch_that_hands_its_loss_on():
    class Trainer:
        def test(self, batches, model):
            model.eval()
            return self.epoch(batches, model)

        def train(self, batches, model):
            model.train()
            return self.epoch(batches, model, lambda loss: loss.backward())

        def epoch(self, batches, model, backprop=lambda loss: None):
            total = 0.0
            for x in batches:
                loss = model(x).sum()
                backprop(loss)
                total += loss.item()
            return total

    net = nn.Linear(2, 1)
    Trainer().train(torch.rand(3, 4, 2), net)
    Trainer().test(torch.rand(3, 4, 2), net)


def an_epoch_that_calls_a_criterion_it_is_given():
    """Holds: callable(Trainer().test)"""

    class Trainer:
        def test(self, batches, model, criterion):
            model.eval()
            total = 0.0
            for x in batches:
                loss = criterion(model(x))  # smell: [TLN406]
                total += loss.item()
            return total

    net = nn.Linear(2, 1)


def a_loop_that_goes_backward_on_another_path():
    """Holds: recorded == [True] * 3"""

    class Trainer:
        def test(self, batches, model):
            model.eval()
            return self.epoch(batches, model, "test")

        def train(self, batches, model):
            model.train()
            return self.epoch(batches, model, "train")

        def epoch(self, batches, model, stage):
            total = 0.0
            for x in batches:
                loss = model(x).sum()  # smell: [TLN406]
                if stage == "train":
                    loss.backward()
                total += loss.item()
            return total

    net = nn.Linear(2, 1)
    recorded = []
    net.register_forward_hook(lambda m, i, o: recorded.append(o.requires_grad))
    Trainer().test(torch.rand(3, 4, 2), net)


def three_rounds_that_try_a_model_out():
    """Holds: out.requires_grad"""
    model = nn.Linear(3, 3)
    model.eval()
    for _ in range(3):
        out = model(torch.rand(2, 3))  # strict: [TLN406]
        assert out.sum().item() < 100


def few_splits_of_many_batches():
    """Holds: output.requires_grad"""
    model = nn.Linear(3, 3)
    model.eval()
    train, val = torch.rand(9, 2, 3), torch.rand(7, 2, 3)
    for split in (train, val):
        for x in split:
            output = model(x)  # smell: [TLN406]
            print(output.abs().sum().item())


def what_was_made_of_the_model_is_called_there():
    class Map:
        def __init__(self, model):
            self.model = model

        def __call__(self, x):
            x = x.clone().requires_grad_()
            self.model(x).sum().backward()
            return x.grad

    def show(model, inputs, method):
        model.eval()
        maps = method(model=model)
        seen = []
        for x in inputs:
            shown = maps(x)
            seen.append(model(x).sum().item())
        return seen

    eval("show")(nn.Linear(2, 1), torch.rand(4, 3, 2), eval("Map"))


def mode_asked_for_under_a_context_that_nobody_knows():
    net = nn.Linear(2, 1)
    with eval("torch.inference_mode()"):
        if not torch.is_inference_mode_enabled():
            raise SystemExit("recorded")
        total = sum(net(torch.ones(1, 2)).item() for _ in range(3))
    print(total)


def rounds_that_give_a_model_what_stands_before_the_loop():
    """Holds: out.requires_grad"""
    model = nn.Linear(3, 3)
    model.eval()
    inputs, losses = torch.rand(2, 3), []
    for scale in torch.rand(9):
        model.weight.data.mul_(scale)  # strict: [TLN207]
        out = model(inputs)  # strict: [TLN406]
        losses.append((scale, model(inputs).sum().item()))


def rounds_that_move_what_they_are_given():
    """Holds: out.requires_grad"""
    model = nn.Linear(3, 3)
    model.eval()
    inputs, losses = torch.rand(2, 3), []
    for scale in torch.rand(9):
        inputs.mul_(scale)
        out = model(inputs)  # smell: [TLN406]
        losses.append((scale, out.sum().item()))


def a_loop_that_answers_who_types():
    """Holds: out.requires_grad"""
    answers = iter(["one", "two", "quit"])
    input = lambda prompt: next(answers)
    model = nn.Linear(3, 3)
    model.eval()
    while True:
        sentence = input("You: ")
        if sentence == "quit":
            break
        x = torch.tensor([float(len(sentence))] * 3)
        out = model(x)  # strict: [TLN406]
        print(out.argmax().item())


def a_loop_that_steps_an_environment():
    """
    Holds: values.requires_grad

    Says: [TLN406] `net` is only evaluated in this loop
    """

    class Games:
        def step(self, action):
            return torch.rand(3), action == 0

    net, games = nn.Linear(3, 2), Games()
    net.eval()
    seen = torch.rand(3)
    for chance in torch.rand(8):
        if chance < 0.1:
            action = 0
        else:
            values = net(seen)  # smell: [TLN406]
            action = values.argmax().item()
        seen, done = games.step(action)
