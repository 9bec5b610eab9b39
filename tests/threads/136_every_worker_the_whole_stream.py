# thread: https://github.com/pytorch/pytorch/issues/30599
# diagnosis: An IterableDataset yields everything in each worker.
# mistake: 16, 22
# expected: TLN802
# symptom: prints samples for ten numbers: 20

import random

from torch.utils.data import DataLoader, IterableDataset


class ShuffledNumbers(IterableDataset):
    def __init__(self, numbers):
        self.numbers = list(numbers)

    def __iter__(self):
        random.shuffle(self.numbers)
        yield from self.numbers


if __name__ == "__main__":
    loader = DataLoader(ShuffledNumbers(range(10)), batch_size=2, num_workers=2)
    print("samples for ten numbers:", sum(len(batch) for batch in loader))
