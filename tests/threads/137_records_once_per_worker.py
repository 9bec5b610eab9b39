# thread: https://github.com/vahidk/tfrecord/issues/78
# diagnosis: A dataset that reads a file record by record hands all records out in every worker.
# mistake: 19, 30
# expected: TLN802
# symptom: prints record 0 arrives: 2

import os
import tempfile

import torch
from torch.utils.data import DataLoader, IterableDataset


class RecordDataset(IterableDataset):
    def __init__(self, data_path, transform=None):
        super(RecordDataset, self).__init__()
        self.data_path, self.transform = data_path, transform

    def __iter__(self):
        with open(self.data_path) as lines:
            for line in lines:
                record = {"id": int(line)}
                yield self.transform(record) if self.transform else record


if __name__ == "__main__":
    path = os.path.join(tempfile.mkdtemp(), "records.txt")
    with open(path, "w") as out:
        out.write("\n".join(map(str, range(6))))
    loader = DataLoader(RecordDataset(path), batch_size=3, num_workers=2)
    ids = torch.cat([batch["id"] for batch in loader])
    print("record 0 arrives:", int((ids == 0).sum()))
