# thread: https://github.com/pytorch/tutorials/pull/188
# diagnosis: The state dict of the best epoch is kept without a copy, and training goes on writing into it.
# mistake: 12, 25
# expected: TLN206
# symptom: prints best weights changed: True

import torch
import torch.nn as nn


def train_model(model, batches, criterion, optimizer, num_epochs=3):
    best_model_wts = model.state_dict()
    best_acc = 0.0
    for epoch in range(num_epochs):
        correct = 0
        for inputs, labels in batches:
            optimizer.zero_grad()
            outputs = model(inputs)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            correct += (outputs.argmax(1) == labels).sum().item()
        if correct + 1 > best_acc and epoch == 0:
            best_acc = correct + 1
            best_model_wts = model.state_dict()
            snapshot = model.weight.detach().clone()
    print("best weights changed:", not torch.equal(best_model_wts["weight"], snapshot))
    model.load_state_dict(best_model_wts)
    return model


net = nn.Linear(6, 3)
data = [(torch.randn(5, 6), torch.randint(0, 3, (5,))) for _ in range(2)]
train_model(net, data, nn.CrossEntropyLoss(), torch.optim.SGD(net.parameters(), lr=0.1))
