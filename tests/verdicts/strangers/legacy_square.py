import torch
from torch.autograd import Function


class CubeFunction(Function):
    def forward(self, x):
        self.save_for_backward(x)
        return x ** 3

    def backward(self, grad_output):
        x, = self.saved_tensors
        return grad_output * 3 * x ** 2


def main():
    torch.manual_seed(0)
    x = torch.randn(5, dtype=torch.float64, requires_grad=True)
    cube = CubeFunction()
    y = cube(x).sum()
    y.backward()
    print(x.grad)


if __name__ == "__main__":
    main()
