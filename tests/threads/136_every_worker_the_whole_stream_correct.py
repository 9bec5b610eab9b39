# correct: 136_every_worker_the_whole_stream.py
# cure: Each worker takes its share.

import random

from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class ShuffledNumbers(IterableDataset):
    def __init__(self, numbers):
        self.numbers = list(numbers)

    def __iter__(self):
        worker = get_worker_info()
        share = self.numbers if worker is None else self.numbers[worker.id :: worker.num_workers]
        random.shuffle(share)
        yield from share


if __name__ == "__main__":
    loader = DataLoader(ShuffledNumbers(range(10)), batch_size=2, num_workers=2)
    print("samples for ten numbers:", sum(len(batch) for batch in loader))
