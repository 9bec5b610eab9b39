import torch


class Pendulum:
    def __init__(self, seed=0):
        self.gen = torch.Generator().manual_seed(seed)
        self.state = torch.zeros(2)

    def step(self, torque):
        theta, omega = self.state.unbind()
        omega = omega + 0.05 * (torque - torch.sin(theta))
        noise = 0.01 * torch.randn(2, generator=self.gen)
        self.state = torch.stack([theta + 0.05 * omega, omega]) + noise
        return self.state


def rollout(env, steps):
    states = torch.empty(0, 2)
    for k in range(steps):
        s = env.step(torch.tensor(0.5 if k % 20 < 10 else -0.5))
        states = torch.cat([states, s.unsqueeze(0)])
    return states


def main():
    traj = rollout(Pendulum(), 300)
    print(traj.shape, traj.mean(dim=0), traj.std(dim=0))


if __name__ == "__main__":
    main()
