def bounded(x):
    return x if x is not None else 0
