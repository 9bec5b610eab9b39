import random
from collections import deque

import torch


class Replay:
    def __init__(self, capacity=500):
        self.items = deque(maxlen=capacity)

    def push(self, state, action, reward):
        self.items.append((torch.tensor(state, dtype=torch.float32), action, reward))

    def sample(self, n):
        s, a, r = zip(*random.sample(self.items, n))
        return torch.stack(s), torch.tensor(a), torch.tensor(r)


def main():
    random.seed(0)
    torch.manual_seed(0)
    memory = Replay()
    state = torch.zeros(3)
    for t in range(100):
        action = random.randrange(2)
        state = 0.9 * state + torch.randn(3) * (action + 1)
        memory.push(state, action, state.norm().item())
    s, a, r = memory.sample(16)
    print(s.shape, a.float().mean().item(), r.mean().item())


main()
