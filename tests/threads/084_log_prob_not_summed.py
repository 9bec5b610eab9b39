# thread: https://github.com/sunwuzhou03/reinforcement-learning-lab/issues/1
# diagnosis: The log-probability keeps the action dimension, so the target is wider than the critic's value.
# mistake: 21, 31
# expected: TLN606
# symptom: warns Using a target size

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal


class Policy(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.mu, self.std = nn.Linear(state_dim, action_dim), nn.Linear(state_dim, action_dim)

    def forward(self, state):
        dist = Normal(self.mu(state), F.softplus(self.std(state)) + 1e-5)
        sample = dist.rsample()
        return torch.tanh(sample), dist.log_prob(sample)


state_dim, action_dim, batch, alpha, gamma = 6, 4, 16, 0.2, 0.99
actor, critic = Policy(state_dim, action_dim), nn.Linear(state_dim + action_dim, 1)
state, action, reward = torch.randn(batch, state_dim), torch.randn(batch, action_dim), torch.randn(batch, 1)
next_state = torch.randn(batch, state_dim)
with torch.no_grad():
    next_action, log_prob = actor(next_state)
    target = reward + gamma * (critic(torch.cat([next_state, next_action], dim=1)) - alpha * log_prob)
critic_loss = F.mse_loss(critic(torch.cat([state, action], dim=1)), target)
critic_loss.backward()
