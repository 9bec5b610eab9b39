# thread: https://github.com/ronghuaiyang/arcface-pytorch/issues/56
# diagnosis: The loss is cut off from the model, and its requires_grad is set so that backward runs: nothing learns.
# mistake: 26
# expected: TLN105
# symptom: prints first layer: None

import torch
import torch.nn as nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Linear(30, 16)
        self.margin = nn.Linear(16, 10)

    def forward(self, faces):
        return self.margin(torch.relu(self.features(faces)))


def train(model, criterion, optimizer, batches):
    for faces, ids in batches:
        output = model(faces)
        guess = output.argmax(dim=1).float()
        loss = criterion(guess, ids.float())
        loss.requires_grad = True
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


model = Backbone()
batches = [(torch.randn(8, 30), torch.randint(0, 10, (8,))) for _ in range(3)]
train(model, nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.1), batches)
print("first layer:", model.features.weight.grad)
