import torch


class RowNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        n = x.pow(2).sum(dim=1, keepdim=True).sqrt()
        ctx.save_for_backward(x, n)
        return n

    @staticmethod
    def backward(ctx, grad):
        x, n = ctx.saved_tensors
        return grad * x / n


def spread(points):
    gaps = points.unsqueeze(0) - points.unsqueeze(1)
    return RowNorm.apply(gaps.reshape(-1, points.size(1))).mean()


def main():
    torch.manual_seed(0)
    points = torch.nn.Parameter(torch.randn(8, 2))
    opt = torch.optim.SGD([points], lr=0.1)
    for i in range(5):
        opt.zero_grad()
        loss = -spread(points) + 0.1 * points.pow(2).mean()
        loss.backward()
        opt.step()
        print(i, loss.item())
    return points


if __name__ == "__main__":
    main()
