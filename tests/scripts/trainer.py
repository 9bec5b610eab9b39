"""A module that knows its own steps, and a trainer that drives it, as frameworks do."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)


class TrainableModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.logged = {}

    def log(self, name, value):
        self.logged.setdefault(name, []).append(float(value))

    def training_step(self, batch, batch_idx):
        raise NotImplementedError

    def validation_step(self, batch, batch_idx):
        raise NotImplementedError

    def configure_optimizers(self):
        raise NotImplementedError

    def on_train_epoch_end(self):
        pass


class LitClassifier(TrainableModule):
    def __init__(self, dim, classes, lr=1e-2):
        super().__init__()
        self.lr = lr
        self.encoder = nn.Sequential(nn.Linear(dim, 16), nn.ReLU())
        self.head = nn.Linear(16, classes)
        self.register_buffer("prior", torch.full((classes,), 1 / classes))
        self.training_step_outputs = []

    def forward(self, x):
        return self.head(self.encoder(x))

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        loss = F.cross_entropy(logits, y)
        divergence = F.kl_div(F.log_softmax(logits, dim=-1), self.prior.expand_as(logits), reduction="batchmean")
        self.log("train_loss", loss)
        self.training_step_outputs.append(loss.detach())
        return loss + 0.1 * divergence

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        self.log("val_loss", F.cross_entropy(logits, y))
        self.log("val_acc", (logits.argmax(-1) == y).float().mean())

    def on_train_epoch_end(self):
        print("mean", torch.stack(self.training_step_outputs).mean().item())
        self.training_step_outputs.clear()

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=self.lr)
        return optimizer, torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)


class Trainer:
    def __init__(self, max_epochs, clip=None, callbacks=()):
        self.max_epochs = max_epochs
        self.clip = clip
        self.callbacks = callbacks
        self.best = None

    def fit(self, module, train_loader, val_loader):
        optimizer, scheduler = module.configure_optimizers()
        for epoch in range(self.max_epochs):
            module.train()
            for batch_idx, batch in enumerate(train_loader):
                loss = module.training_step(batch, batch_idx)
                optimizer.zero_grad()
                loss.backward()
                if self.clip is not None:
                    nn.utils.clip_grad_norm_(module.parameters(), self.clip)
                optimizer.step()
            module.on_train_epoch_end()
            score = self.validate(module, val_loader)
            scheduler.step(score)
            if self.best is None or score < self.best[0]:
                self.best = (score, {k: v.detach().clone() for k, v in module.state_dict().items()})
        module.load_state_dict(self.best[1])

    @torch.no_grad()
    def validate(self, module, loader):
        was_training = module.training
        module.eval()
        before = len(module.logged.get("val_loss", []))
        for batch_idx, batch in enumerate(loader):
            module.validation_step(batch, batch_idx)
        module.train(was_training)
        scores = module.logged["val_loss"][before:]
        return sum(scores) / len(scores)


data = TensorDataset(torch.rand(20, 5), torch.randint(3, (20,)))
training, validation = random_split(data, [14, 6])
model = LitClassifier(5, 3)
Trainer(2, clip=1.0).fit(model, DataLoader(training, batch_size=4), DataLoader(validation, batch_size=3))
print({name: values[-1] for name, values in model.logged.items()})
