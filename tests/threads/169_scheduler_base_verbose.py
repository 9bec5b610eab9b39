# thread: https://github.com/MIC-DKFZ/nnUNet/issues/2680
# diagnosis: A scheduler passes verbose by position to the constructor of its base, which no longer takes it.
# mistake: 16
# expected: TLN901, TLN903
# symptom: raises TypeError: positional arguments but 4 were given

import torch
from torch.optim.lr_scheduler import _LRScheduler


class PolynomialScheduler(_LRScheduler):
    def __init__(self, optimizer, initial_lr, max_steps, exponent=0.9, current_step=None):
        self.optimizer = optimizer
        self.initial_lr, self.max_steps, self.exponent = initial_lr, max_steps, exponent
        self.ctr = 0
        super().__init__(optimizer, current_step if current_step is not None else -1, False)

    def step(self, current_step=None):
        if current_step is None or current_step == -1:
            current_step = self.ctr
            self.ctr += 1
        new_lr = self.initial_lr * (1 - current_step / self.max_steps) ** self.exponent
        for group in self.optimizer.param_groups:
            group["lr"] = new_lr


optimizer = torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=0.01)
scheduler = PolynomialScheduler(optimizer, 0.01, max_steps=10)
