# thread: https://github.com/aradha/recursive_feature_machines/pull/10
# diagnosis: A helper makes a tensor of data that is one already, and of an eigenvalue that is one too.
# mistake: 19, 26
# expected: TLN706
# symptom: warns To copy construct from a tensor

import torch
import torch.nn as nn


class KernelMachine(nn.Module):
    def __init__(self, centers, n_outputs, device="cpu"):
        super().__init__()
        self.device = device
        self.centers = self.tensor(centers, release=True)
        self.weight = self.tensor(torch.zeros(self.centers.shape[0], n_outputs))

    def tensor(self, data, dtype=None, release=False):
        made = torch.tensor(data, dtype=dtype, requires_grad=False, device=self.device)
        if release:
            del data
        return made

    def step_size(self, kernel, q):
        tail = torch.linalg.eigvalsh(kernel)[-q]
        return 1 / torch.tensor(tail, dtype=torch.float)


machine = KernelMachine(torch.randn(12, 3), 2)
gram = torch.exp(-torch.cdist(machine.centers, machine.centers))
print(machine.step_size(gram, q=3) > 0)
