import torch


def direct(signal, kernel):
    n = signal.numel() - kernel.numel() + 1
    return torch.stack([(signal[i:i + kernel.numel()] * kernel).sum() for i in range(n)])


def by_fft(signal, kernel):
    size = signal.numel()
    spec = torch.fft.rfft(signal) * torch.fft.rfft(kernel.flip(0), size)
    return torch.fft.irfft(spec, size)[kernel.numel() - 1:]


def main():
    torch.manual_seed(0)
    signal = torch.randn(64)
    kernel = torch.randn(9)
    a = direct(signal, kernel)
    b = by_fft(signal, kernel)
    print("largest difference:", (a - b).abs().max().item())
    assert torch.equal(a, b), "the two convolutions disagree"


if __name__ == "__main__":
    main()
