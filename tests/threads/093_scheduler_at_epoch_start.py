# thread: https://github.com/mlcommons/GaNDLF/issues/107
# diagnosis: The scheduler is stepped at the start of each epoch, before the first step of the optimizer.
# mistake: 23
# expected: TLN404
# symptom: warns Detected call of `lr_scheduler.step()` before `optimizer.step()`

import torch


def train_network(model, loader, optimizer):
    model.train()
    for image, label in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(image), label)
        loss.backward()
        optimizer.step()


def training_loop(model, loader, params):
    optimizer = torch.optim.SGD(model.parameters(), lr=params["learning_rate"], momentum=0.9)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, params["gamma"])
    for epoch in range(params["num_epochs"]):
        scheduler.step()
        train_network(model, loader, optimizer)
        print(epoch, scheduler.get_last_lr())


net = torch.nn.Linear(3, 1)
training_loop(net, [(torch.randn(2, 3), torch.randn(2, 1))] * 2, {"learning_rate": 0.1, "gamma": 0.9, "num_epochs": 2})
