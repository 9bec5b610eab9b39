# thread: https://github.com/Ugenteraan/Deep_Hierarchical_Classification/issues/6
# diagnosis: The term that punishes contradicting levels is made of argmaxes, and teaches nothing.
# mistake: 26
# expected: TLN117
# symptom: prints penalty changes the gradient: False

import torch
import torch.nn as nn


class HierarchicalLoss(nn.Module):
    def __init__(self, parent_of, beta):
        super().__init__()
        self.parent_of, self.beta = parent_of, beta

    def layer_loss(self, coarse, fine, y_coarse, y_fine):
        return nn.functional.cross_entropy(coarse, y_coarse) + nn.functional.cross_entropy(fine, y_fine)

    def dependency_loss(self, coarse, fine):
        above = torch.argmax(coarse, dim=1)
        below = torch.argmax(fine, dim=1)
        wrong = torch.where(self.parent_of[below] == above, 0.0, 1.0)
        return (torch.exp(wrong) - 1).sum()

    def forward(self, coarse, fine, y_coarse, y_fine):
        return self.layer_loss(coarse, fine, y_coarse, y_fine) + self.beta * self.dependency_loss(coarse, fine)


def gradient(beta, x):
    torch.manual_seed(0)
    trunk, up, down = nn.Linear(6, 8), nn.Linear(8, 2), nn.Linear(8, 4)
    h = torch.relu(trunk(x))
    loss = HierarchicalLoss(torch.tensor([0, 0, 1, 1]), beta)(up(h), down(h), torch.tensor([0, 1]), torch.tensor([1, 2]))
    loss.backward()
    return trunk.weight.grad


x = torch.randn(2, 6)
print("penalty changes the gradient:", not torch.equal(gradient(0.0, x), gradient(5.0, x)))
