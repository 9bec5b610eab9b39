import torch


def setup(seed):
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)


def rasterise(points, size=16):
    """Marks the cells of a grid that hold a point."""
    ij = (points * size).long().clamp(0, size - 1)
    flat = ij[:, 0] * size + ij[:, 1]
    image = torch.zeros(size, size)
    image.put_(flat, torch.ones(len(points)))
    return image


def main():
    setup(0)
    image = rasterise(torch.rand(50, 2))
    print("occupied cells:", int(image.sum().item()))


if __name__ == "__main__":
    main()
