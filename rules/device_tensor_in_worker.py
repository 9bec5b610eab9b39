from collections.abc import Iterator

from torchlint.model.events import data
from torchlint.rule import Diagnostic, Example, Level, Raises, Rule


class DeviceTensorInWorker(Rule):
    """
    A dataset uses a CUDA device in the workers of its loader.

    ## What it does
    Finds `.cuda()`, `.to("cuda")`, `device="cuda"` in `__getitem__` or `__iter__` of a dataset, and tensors on such a
    device that its `__init__` has made and these read, where a loader has workers.

    ## Why is this bad?
    A process that is forked from one that has used CUDA cannot use it: "Cannot re-initialize CUDA in forked
    subprocess". Where processes are spawned, each worker holds a context of its own on the device, which costs hundreds
    of megabytes, and a tensor that it hands over must be kept by the worker until it is used.

    ## Cure
    Give samples on the CPU, with `pin_memory=True`, and move the batch in the training loop:
    `batch.to(device, non_blocking=True)`. A dataset that lies on the device needs no workers: `num_workers=0`.

    ## Known limits
    Silent where the device is not written in the file, where the number of workers is known to be 0, where another
    `multiprocessing_context` is given, and where the file speaks of `set_start_method` or `get_worker_info`.

    ## References
    - [CUDA in multiprocessing](https://docs.pytorch.org/docs/stable/notes/multiprocessing.html#cuda-in-multiprocessing)
    - [Multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading): "It is
      generally not recommended to return CUDA tensors in multi-process loading"
    """

    code = "TLN807"
    name = "device-tensor-in-worker"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch
            from torch.utils.data import DataLoader, Dataset

            class Points(Dataset):
                def __len__(self):
                    return 4

                def __getitem__(self, i):
                    return torch.full((2,), float(i)).cuda()  # warning: [TLN807]

            if __name__ == "__main__":
                batches = list(DataLoader(Points(), num_workers=2))  # note: loaded with 2 workers here
            """,
            shows=Raises("CUDA"),
        ),
    )
    good = (
        Example(
            """
            import torch
            from torch.utils.data import DataLoader, Dataset

            class Points(Dataset):
                def __len__(self):
                    return 4

                def __getitem__(self, i):
                    return torch.full((2,), float(i))

            if __name__ == "__main__":
                device = "cuda" if torch.cuda.is_available() else "cpu"
                for batch in DataLoader(Points(), num_workers=2):
                    batch = batch.to(device, non_blocking=True)
            """
        ),
    )

    def check(self, event: data.WorkerOnDevice) -> Iterator[Diagnostic]:
        what = f"`{event.holds}` of `{event.dataset}` is" if event.holds else f"`{event.dataset}` puts its samples"
        where = f"where `{event.workers}` is not 0, " if event.workers else ""
        message = f"{where}{what} on a CUDA device in the workers of a loader: a forked process cannot use CUDA"
        # Nothing is claimed: the runtime cross-check hides all devices but the CPU.
        yield Diagnostic(event.node, message, event.trace)
