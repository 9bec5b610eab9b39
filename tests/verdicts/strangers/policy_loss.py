import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.net = nn.Linear(n_obs, n_act)

    def log_probs(self, obs):
        return torch.log(torch.softmax(self.net(obs), dim=-1))


def imitation_step(policy, opt, obs, expert):
    logp = policy.log_probs(obs).gather(1, expert.unsqueeze(1))
    loss = -logp.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    policy = Policy(4, 3)
    opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
    obs = 400 * torch.randn(64, 4)
    expert = torch.randint(0, 3, (64,))
    for i in range(5):
        print(i, imitation_step(policy, opt, obs, expert))
