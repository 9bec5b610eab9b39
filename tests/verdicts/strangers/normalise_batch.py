import torch


def standardise(batch, eps=1e-6):
    batch -= batch.mean(dim=0)
    batch /= batch.std(dim=0) + eps
    return batch


def summary(name, t):
    print(f"{name:>10}: mean {t.mean().item():+.3f} std {t.std().item():.3f}")


def main():
    torch.manual_seed(0)
    raw = 5 + 2 * torch.randn(500, 3)
    summary("raw", raw)
    scaled = standardise(raw)
    cov = scaled.T @ scaled / (len(scaled) - 1)
    print(cov)
    summary("scaled", scaled)
    summary("raw", raw)
    return raw


if __name__ == "__main__":
    main()
