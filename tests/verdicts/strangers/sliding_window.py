import torch


class DelayLine:
    """Keeps the last `depth` observations, newest first."""

    def __init__(self, depth, width):
        self.buf = torch.zeros(depth, width)

    def push(self, obs):
        self.buf[1:].add_(self.buf[:-1] - self.buf[1:])
        self.buf[0] = obs

    def decay(self, rate):
        self.buf[1:].mul_(1 - rate).add_(self.buf[:-1], alpha=rate)


def main():
    torch.manual_seed(0)
    line = DelayLine(6, 2)
    for _ in range(10):
        line.push(torch.randn(2))
        line.decay(0.1)
    print(line.buf)


main()
