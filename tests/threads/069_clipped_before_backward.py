# thread: https://github.com/Cranial-XIX/FAMO/issues/4
# diagnosis: Clipping stands between zero_grad and backward, where there is no gradient to clip.
# mistake: 24
# expected: TLN404
# symptom: prints norm after clipping to 1: large

import torch


class WeightMethod:
    def __init__(self, n_tasks, max_norm):
        self.w = torch.zeros(n_tasks, requires_grad=True)
        self.w_opt = torch.optim.Adam([self.w], lr=0.025)
        self.max_norm = max_norm

    def get_weighted_loss(self, losses):
        z = torch.softmax(self.w, -1)
        return (losses * z.detach()).sum()

    def backward(self, losses, shared_parameters, optimizer):
        optimizer.zero_grad()
        loss = self.get_weighted_loss(losses)
        if self.max_norm > 0:
            torch.nn.utils.clip_grad_norm_(shared_parameters, self.max_norm)
        loss.backward()
        optimizer.step()
        return loss


net = torch.nn.Linear(4, 2)
method = WeightMethod(n_tasks=2, max_norm=1.0)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
method.backward(net(100 * torch.randn(6, 4)).pow(2).mean(0), list(net.parameters()), optimizer)
print("norm after clipping to 1:", "large" if net.weight.grad.norm() > 1.5 else "small")
