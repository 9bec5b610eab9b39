# thread: https://github.com/speechbrain/speechbrain/issues/735
# diagnosis: The loss is wrapped in a Variable that requires grad, a new leaf in front of which nothing gets a gradient.
# mistake: 17
# expected: TLN105
# symptom: prints learned: False

import torch
from torch.autograd import Variable


class Separator:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def compute_objectives(self, predictions, clean):
        error = torch.nn.functional.mse_loss(predictions.data, clean)
        return Variable(error, requires_grad=True)

    def fit_batch(self, noisy, clean):
        loss = self.compute_objectives(self.model(noisy), clean)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


net = torch.nn.GRU(4, 4, batch_first=True)
model = lambda audio: net(audio)[0]
before = net.weight_ih_l0.clone()
brain = Separator(model, torch.optim.Adam(net.parameters()))
for _ in range(3):
    brain.fit_batch(torch.randn(2, 9, 4), torch.randn(2, 9, 4))
print("learned:", not torch.equal(before, net.weight_ih_l0))
