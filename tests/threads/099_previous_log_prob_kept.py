# thread: https://github.com/Lightning-AI/pytorch-lightning/issues/20296
# diagnosis: A loop steps the optimizer each time, and its loss holds the log-probability of the iteration before.
# mistake: 28, 31, 33
# expected: TLN101, TLN202
# symptom: raises RuntimeError: backward through the graph a second time

import torch
import torch.nn as nn
import torch.nn.functional as F


class FlowPolicy(nn.Module):
    def __init__(self, states, actions):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(states, 16), nn.ReLU(), nn.Linear(16, actions))

    def forward(self, state):
        return F.log_softmax(self.net(state), dim=-1)


def rollout(policy, optimizer, state, reward_of, length):
    previous = None
    for t in range(length):
        log_probs = policy(state)
        action = log_probs.exp().multinomial(1)
        chosen = log_probs.gather(1, action).squeeze(1)
        if previous is not None:
            error = reward_of(state) + previous - chosen.detach()
            loss = F.huber_loss(error, torch.zeros_like(error)) + 0.1 * chosen.mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        previous = chosen
        state = state + 0.1 * torch.randn_like(state)


policy = FlowPolicy(4, 3)
rollout(policy, torch.optim.Adam(policy.parameters()), torch.randn(8, 4), lambda s: s.sum(1), length=4)
