# thread: https://github.com/pytorch/pytorch/issues/108618
# diagnosis: The logarithm of zero is masked in the forward pass and not in the backward pass.
# mistake: 12
# expected: TLN604
# symptom: prints gradient is nan: True

import torch


def compress(energy, knee):
    loud = torch.log2(energy)
    return torch.where(energy > knee, loud, 2 * energy)


energy = torch.tensor([0.0, 2.0, 3.0], requires_grad=True)
compressed = compress(energy, knee=2)
compressed.sum().backward()
print("gradient is nan:", energy.grad.isnan().any().item())
