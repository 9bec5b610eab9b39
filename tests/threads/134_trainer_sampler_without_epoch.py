# thread: https://github.com/Snowdar/asv-subtools/issues/8
# diagnosis: A trainer keeps its DistributedSampler in a bunch of loaders and never calls set_epoch.
# mistake: 25, 27
# expected: TLN803
# symptom: prints epochs alike: True

import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Bunch:
    def __init__(self, dataset, batch_size, world, rank):
        self.train_sampler = DistributedSampler(dataset, num_replicas=world, rank=rank)
        self.train_loader = DataLoader(dataset, batch_size=batch_size, sampler=self.train_sampler)


class Trainer:
    def __init__(self, bunch, model, epochs):
        self.bunch, self.model, self.epochs = bunch, model, epochs
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        self.seen = []

    def run(self):
        for this_epoch in range(self.epochs):
            first = []
            for x, y in self.bunch.train_loader:
                self.optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(self.model(x), y)
                loss.backward()
                self.optimizer.step()
                first.append(x[0, 0].item())
            self.seen.append(first)


data = TensorDataset(torch.randn(24, 3), torch.randn(24, 1))
trainer = Trainer(Bunch(data, 4, world=2, rank=1), torch.nn.Linear(3, 1), epochs=2)
trainer.run()
print("epochs alike:", trainer.seen[0] == trainer.seen[1])
