import left


def back(x, times):
    return x.exp() if times <= 0 else left.deeper(x, times)
