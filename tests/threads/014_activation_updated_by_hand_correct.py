# correct: 014_activation_updated_by_hand.py
# cure: The update is made under no_grad.

import torch


def solve_block(weights, targets, start, n_iter, lr):
    block = start.clone().requires_grad_(True)
    for _ in range(n_iter):
        residual = targets - weights @ block
        loss = residual.pow(2).sum()
        loss.backward()
        with torch.no_grad():
            block -= lr * block.grad
        block.grad = None
    return block.detach()


dense = torch.randn(6, 4)
found = solve_block(dense, torch.randn(6, 3), torch.zeros(4, 3), n_iter=10, lr=1e-2)
print(found.norm())
