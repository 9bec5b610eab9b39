# thread: https://github.com/archinetai/smart-pytorch/issues/5
# diagnosis: The gradient for the noise is asked of a loss that does not depend on it.
# mistake: 24
# expected: TLN113
# symptom: raises RuntimeError: appears to not have been used in the graph

import torch
import torch.nn as nn
import torch.nn.functional as F


class SmoothLoss(nn.Module):
    def __init__(self, eval_fn, num_steps=1, step_size=1e-3, noise_var=1e-5):
        super().__init__()
        self.eval_fn = eval_fn
        self.num_steps, self.step_size, self.noise_var = num_steps, step_size, noise_var

    def forward(self, embed, state):
        noise = torch.randn_like(embed, requires_grad=True) * self.noise_var
        for i in range(self.num_steps):
            perturbed = embed + noise
            state_perturbed = self.eval_fn(embed)
            loss = F.mse_loss(state_perturbed, state.detach())
            (noise_gradient,) = torch.autograd.grad(loss, noise)
            noise = (noise + self.step_size * noise_gradient).detach().requires_grad_()
        return F.mse_loss(self.eval_fn(embed + noise), state)


classifier = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 3))
hidden = torch.randn(4, 6)
print(SmoothLoss(classifier)(hidden, classifier(hidden)))
