import torch


class ParticleSystem:
    def __init__(self, n, dt=0.01, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.pos = torch.randn(n, 2, generator=g)
        self.vel = torch.randn(n, 2, generator=g)
        self.dt = dt

    def acceleration(self):
        return -self.pos

    def step(self):
        self.vel = self.vel + self.dt * self.acceleration()
        moved = self.pos.add_(self.dt * self.vel)
        shift = (moved - self.pos).norm(dim=1).max()
        self.pos = moved
        return shift.item()


def main():
    system = ParticleSystem(100)
    shifts = [system.step() for _ in range(50)]
    print("largest displacement per step:", max(shifts))
    return shifts


if __name__ == "__main__":
    main()
