# ruff: noqa
"""Programs for TLN407."""

import torch
from torch import nn


def one_function():
    """Holds: not net.training"""

    def fit(model, train_loader, val_loader, optimizer, epochs):
        model.train()
        for epoch in range(epochs):
            for x in train_loader:
                optimizer.zero_grad()
                loss = model(x).mean()
                loss.backward()
                optimizer.step()
            model.eval()  # warning: [TLN407]
            with torch.no_grad():
                for x in val_loader:
                    print(model(x).mean().item())

    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    fit(net, torch.rand(3, 4, 2), torch.rand(1, 4, 2), torch.optim.SGD(net.parameters(), lr=0.1), 2)


def in_the_validation_function():
    """Holds: not trainer.net.training"""

    class Trainer:
        def __init__(self):
            self.net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
            self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

        def train_epoch(self, loader):
            for x in loader:
                self.optimizer.zero_grad()
                self.net(x).mean().backward()
                self.optimizer.step()

        @torch.no_grad()
        def validate(self, loader):
            self.net.eval()  # warning: [TLN407]
            return sum(self.net(x).mean().item() for x in loader)

        def fit(self, loader, epochs):
            for _ in range(epochs):
                self.train_epoch(loader)
                self.validate(loader)

    trainer = Trainer()
    trainer.fit(torch.rand(2, 4, 2), 2)


def evaluated_every_few_steps():
    """Holds: not model.training"""
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.Linear(2, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for step, x in enumerate(torch.rand(20, 4, 2)):
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        if step % 10 == 0:
            model.eval()  # warning: [TLN407]
            with torch.no_grad():
                print(model(torch.rand(4, 2)).mean().item())


def sampled_from_while_training():
    """Holds: not g.training"""
    g = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    opt = torch.optim.Adam(g.parameters())
    i = 0
    while i < 3:
        opt.zero_grad()
        g(torch.randn(8, 2)).pow(2).mean().backward()
        opt.step()
        samples = g.eval()(torch.randn(1, 2)).detach()  # warning: [TLN407]
        i += 1


def set_back_at_the_start():
    def fit(model, loader, optimizer, epochs):
        for epoch in range(epochs):
            model.train()
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                print(model(loader[0]).mean().item())

    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    fit(net, torch.rand(3, 4, 2), torch.optim.SGD(net.parameters(), lr=0.1), 2)
    assert not net.training


def set_back_by_a_helper():
    class Trainer:
        def __init__(self):
            self.net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
            self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

        def validate(self, x):
            training = self.net.training
            self.net.eval()
            with torch.no_grad():
                value = self.net(x).mean().item()
            self.net.train(training)
            return value

        def fit(self, loader):
            for x in loader:
                self.optimizer.zero_grad()
                self.net(x).mean().backward()
                self.optimizer.step()
                self.validate(x)

    Trainer().fit(torch.rand(3, 4, 2))


def another_model():
    def distil(student, teacher, loader, optimizer):
        for x in loader:
            teacher.eval()
            with torch.no_grad():
                target = teacher(x)
            optimizer.zero_grad()
            (student(x) - target).pow(2).mean().backward()
            optimizer.step()

    student, teacher = nn.Linear(2, 1), nn.Sequential(nn.Linear(2, 1), nn.Dropout(0.5))
    distil(student, teacher, torch.rand(3, 4, 2), torch.optim.SGD(student.parameters(), lr=0.1))


def trains_in_evaluation_mode_on_purpose():
    def finetune(model, loader, optimizer):
        for epoch in range(2):
            model.eval()
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()

    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    finetune(net, torch.rand(3, 4, 2), torch.optim.SGD(net.parameters(), lr=0.1))


def mode_changes_nothing():
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.rand(3, 4, 2):
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        model.eval()


def after_the_loop():
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.rand(3, 4, 2):
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
    model.eval()


def last_epoch():
    def fit(model, loader, optimizer):
        while True:
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()
            model.eval()
            break
        return model

    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    fit(net, torch.rand(3, 4, 2), torch.optim.SGD(net.parameters(), lr=0.1))


def given_to_code_that_nobody_sees():
    def fit(model, loader, optimizer, evaluate):
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
            model.eval()
            evaluate(model)

    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    fit(net, torch.rand(3, 4, 2), torch.optim.SGD(net.parameters(), lr=0.1), lambda m: m.train())


def without_a_layer_that_minds():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))

        def forward(self, x):
            return self.layers(x)

    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        opt.zero_grad()
        model(torch.ones(4, 2)).mean().backward()
        opt.step()
        model.eval()


def recurrent_without_dropout():
    model = nn.LSTM(2, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        opt.zero_grad()
        model(torch.ones(4, 2))[0].mean().backward()
        opt.step()
        model.eval()


def recurrent_with_dropout():
    """Holds: not model.training"""
    model = nn.LSTM(2, 2, 2, dropout=0.5)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        opt.zero_grad()
        model(torch.ones(4, 2))[0].mean().backward()
        opt.step()
        model.eval()  # warning: [TLN407]


def tested_every_third_time_but_the_first():
    """Holds: not model.training"""
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def test():
        model.eval()  # warning: [TLN407]
        with torch.no_grad():
            return model(torch.rand(4, 2)).mean().item()

    for i in range(6):
        optimizer.zero_grad()
        model(torch.rand(4, 2)).mean().backward()
        optimizer.step()
        if i % 3 == 0 and i != 0:
            print(test())


def tested_in_the_second_of_four():
    """Holds: not model.training"""
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(4):
        optimizer.zero_grad()
        model(torch.rand(4, 2)).mean().backward()
        optimizer.step()
        if epoch == 1:
            model.eval()  # warning: [TLN407]
            with torch.no_grad():
                print(model(torch.rand(4, 2)).mean())


def tested_in_the_last_iteration_alone():
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i in range(4):
        optimizer.zero_grad()
        model(torch.rand(4, 2)).mean().backward()
        optimizer.step()
        if i == 3:
            model.eval()
            with torch.no_grad():
                print(model(torch.rand(4, 2)).mean())


def frozen_from_the_second_iteration_on_by_choice():
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i in range(6):
        model.train(i < 3)
        optimizer.zero_grad()
        model(torch.rand(4, 2)).mean().backward()
        optimizer.step()
        if i % 3 == 0 and i != 0:
            model.eval()
            print(model(torch.rand(4, 2)).mean().item())


def set_back_through_the_model_that_a_wrapper_holds():
    class Wrapper(nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, x):
            return self.model(x).mean()

    class Trainer:
        def __init__(self, model, prepare):
            self.model = model
            self.train_wrapper = Wrapper(model=self.model)
            self.optimizer = torch.optim.Adam(model.parameters())
            self.train_wrapper, self.optimizer = prepare(self.train_wrapper, self.optimizer)

        def step(self, x):
            self.model.train()
            assert self.model[1].training
            self.optimizer.zero_grad()
            self.train_wrapper(x).backward()
            self.optimizer.step()
            self.train_wrapper.eval()
            with torch.no_grad():
                self.train_wrapper(x)

        def fit(self, loader):
            for x in loader:
                self.step(x)

    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    Trainer(model, eval("lambda *given: given")).fit(torch.rand(2, 4, 2))


def a_wrapper_that_a_caller_may_have_made_of_the_model():
    class Trainer:
        def __init__(self, model, wrapper):
            self.model, self.wrapper = model, wrapper
            self.optimizer = torch.optim.Adam(model.parameters())

        def fit(self, loader):
            for x in loader:
                self.model.train()
                assert self.model[1].training
                self.optimizer.zero_grad()
                self.wrapper(x).mean().backward()
                self.optimizer.step()
                self.wrapper.eval()

    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    Trainer(model, nn.DataParallel(model)).fit(torch.rand(2, 4, 2))


def two_wrappers_of_one_model():
    class Wrapper(nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, x):
            return self.model(x).mean()

    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    one, other = Wrapper(model), Wrapper(model)
    optimizer = torch.optim.Adam(model.parameters())
    for x in torch.rand(2, 4, 2):
        one.train()
        assert model[1].training
        optimizer.zero_grad()
        other(x).backward()
        optimizer.step()
        other.eval()
        with torch.no_grad():
            other(x)


def the_train_call_is_for_another_network():
    """Holds: not g.training"""
    g, d = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)), nn.Linear(2, 1)
    optimizer = torch.optim.Adam(g.parameters())
    for x in torch.rand(2, 4, 2):
        d.train()
        optimizer.zero_grad()
        d(g(x)).mean().backward()
        optimizer.step()
        g.eval()  # warning: [TLN407]
        with torch.no_grad():
            g(x)


def a_text_sets_the_mode():
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        exec("model.train()")
        optimizer.zero_grad()
        model(torch.rand(4, 2)).mean().backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            print(model(torch.rand(4, 2)).mean())
