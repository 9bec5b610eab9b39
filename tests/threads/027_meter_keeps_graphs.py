# thread: https://github.com/microsoft/SpareNet/issues/12
# diagnosis: A meter sums the losses it is given, graphs included, for a whole epoch.
# mistake: 18, 32
# expected: TLN106
# symptom: prints meter keeps a graph: True

import torch


class AverageMeter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.sum, self.count = 0, 0

    def update(self, value):
        self.sum += value
        self.count += 1

    def avg(self):
        return self.sum / self.count


def run_epoch(net, optimizer, clouds, meter):
    for cloud in clouds:
        coarse, fine = net(cloud).chunk(2, dim=-1)
        loss = (coarse - cloud).pow(2).mean() + (fine - cloud).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss)
    return meter.avg()


net = torch.nn.Linear(3, 6)
meter = AverageMeter()
average = run_epoch(net, torch.optim.SGD(net.parameters(), lr=0.01), torch.randn(5, 20, 3), meter)
print("meter keeps a graph:", average.requires_grad)
