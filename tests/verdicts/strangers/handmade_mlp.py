import torch

torch.manual_seed(0)
dtype = torch.float64
n, d_in, hidden = 64, 10, 30

x = torch.randn(n, d_in, dtype=dtype)
y = (x ** 2).mean(dim=1, keepdim=True)

w1 = torch.zeros(d_in, hidden, dtype=dtype).normal_(0, 0.3).requires_grad_()
w2 = torch.randn(hidden, 1, dtype=dtype, requires_grad=True) * 0.1


def objective(a, b):
    return (x.mm(a).clamp(min=0).mm(b) - y).pow(2).mean()


objective(w1, w2).backward()
eps = 1e-6
for name, w in (("w1", w1), ("w2", w2)):
    analytic = w.grad.flatten()[0].item()
    delta = torch.zeros_like(w)
    delta[0, 0] = eps
    with torch.no_grad():
        up = objective(w1 + delta, w2) if name == "w1" else objective(w1, w2 + delta)
        numeric = ((up - objective(w1, w2)) / eps).item()
    print(f"{name}: backward {analytic:+.6f}, finite difference {numeric:+.6f}")
