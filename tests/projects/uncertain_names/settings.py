import torch

try:
    import missing_package_of_this_name  # noqa: F401

    activation = torch.exp
except ImportError:

    def activation(x):
        return x + 1


REGISTRY = {"act": torch.exp}
REGISTRY["act"] = torch.neg
_PLAIN = False


def use_plain():
    global _PLAIN
    _PLAIN = True


def choose(x):
    return x + 1 if _PLAIN else x.exp()


def decorated(function):
    return lambda x: x - 1


@decorated
def saving(x):
    return x.exp()
