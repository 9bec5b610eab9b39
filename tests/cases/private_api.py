# ruff: noqa
"""Programs for TLN906."""

import torch


def collate():
    """Holds: collate.__module__.startswith('torch.utils.data._utils')"""
    from torch.utils.data._utils.collate import default_collate as collate  # strict: [TLN906]

    collate([torch.ones(2), torch.ones(2)])


def in_full():
    """Holds: torch.utils.data._utils.collate.default_collate is torch.utils.data.default_collate"""
    import torch.utils.data

    torch.utils.data._utils.collate.default_collate([torch.ones(2)])  # strict: [TLN906]


def of_the_loader():
    """Holds: default_collate is torch.utils.data.default_collate"""
    from torch.utils.data.dataloader import DataLoader, default_collate  # strict: [TLN906]

    DataLoader([torch.ones(2)], collate_fn=default_collate)


def a_base_class():
    """Holds: issubclass(Constant, torch.optim.lr_scheduler.LRScheduler)"""

    class Constant(torch.optim.lr_scheduler._LRScheduler):  # strict: [TLN906]
        def get_lr(self):
            return self.base_lrs


def public():
    from torch.utils.data import default_collate

    default_collate([torch.ones(2)])


def without_a_twin():
    from torch.nn.modules.utils import _pair

    _pair(2)


def tried_first():
    try:
        from torch.optim.lr_scheduler import LRScheduler
    except ImportError:
        from torch.optim.lr_scheduler import _LRScheduler as LRScheduler


def own_private_name():
    class data:
        class _utils:
            class collate:
                default_collate = staticmethod(list)

    data._utils.collate.default_collate([1])
