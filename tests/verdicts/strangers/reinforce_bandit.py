import torch
from torch import nn
from torch.distributions import Categorical


class Bandit:
    def __init__(self, means):
        self.means = torch.tensor(means)

    def pull(self, arm):
        return self.means[arm].item() + 0.1 * torch.randn(()).item()


@torch.no_grad()
def collect(policy, bandit, n):
    obs = torch.ones(1)
    log_probs, rewards = [], []
    for _ in range(n):
        dist = Categorical(logits=policy(obs))
        arm = dist.sample()
        log_probs.append(dist.log_prob(arm))
        rewards.append(bandit.pull(arm.item()))
    return torch.stack(log_probs), torch.tensor(rewards)


if __name__ == "__main__":
    torch.manual_seed(0)
    policy = nn.Linear(1, 4)
    opt = torch.optim.Adam(policy.parameters(), lr=0.05)
    bandit = Bandit([0.1, 0.5, 0.9, 0.2])
    for it in range(20):
        log_probs, rewards = collect(policy, bandit, 16)
        advantage = rewards - rewards.mean()
        loss = -(log_probs * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(it, rewards.mean().item())
