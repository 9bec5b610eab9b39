# thread: https://github.com/zhuangdizhu/FedGen/issues/1
# diagnosis: The server weighs the users' test losses with NumPy, and the losses come from a forward pass with grad mode on.
# mistake: 19, 30
# expected: TLN111, TLN406
# symptom: raises RuntimeError: Can't call numpy() on Tensor that requires grad

import numpy as np
import torch
import torch.nn as nn


class User:
    def __init__(self, model, x, y):
        self.model, self.x, self.y = model, x, y
        self.loss = nn.NLLLoss()

    def test(self):
        self.model.eval()
        output = torch.log_softmax(self.model(self.x), dim=1)
        return (output.argmax(1) == self.y).sum().item(), self.loss(output, self.y), len(self.y)


class Server:
    def __init__(self, users):
        self.users = users

    def evaluate(self):
        stats = [user.test() for user in self.users]
        correct, losses, counts = zip(*stats)
        glob_loss = np.sum([n * np.asarray(loss) for n, loss in zip(counts, losses)]) / np.sum(counts)
        return np.sum(correct) / np.sum(counts), glob_loss


model = nn.Linear(6, 4)
print(Server([User(model, torch.randn(5, 6), torch.randint(0, 4, (5,))) for _ in range(3)]).evaluate())
