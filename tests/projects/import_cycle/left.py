import right


def deeper(x, times):
    return right.back(x, times - 1)
