# thread: https://github.com/BaiTheBest/SparseLLM/issues/13
# diagnosis: A leaf that requires grad is updated in place by hand outside of no_grad.
# mistake: 16
# expected: TLN203
# symptom: raises RuntimeError: a leaf Variable that requires grad is being used in an in-place operation

import torch


def solve_block(weights, targets, start, n_iter, lr):
    block = start.clone().requires_grad_(True)
    for _ in range(n_iter):
        residual = targets - weights @ block
        loss = residual.pow(2).sum()
        loss.backward()
        block -= lr * block.grad
        block.grad.zero_()
    return block.detach()


dense = torch.randn(6, 4)
found = solve_block(dense, torch.randn(6, 3), torch.zeros(4, 3), n_iter=10, lr=1e-2)
print(found.norm())
