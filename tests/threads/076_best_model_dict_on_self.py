# thread: https://github.com/WenjieDu/PyPOTS/issues/667
# diagnosis: The best model's dictionary is a reference to the live parameters.
# mistake: 29
# expected: TLN206
# symptom: prints best equals last: True

import torch


class Imputer:
    def __init__(self, model, epochs, lr):
        self.model, self.epochs = model, epochs
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.best_loss, self.best_model_dict = float("inf"), None

    def _train_model(self, training_loader, val_loader):
        for epoch in range(self.epochs):
            self.model.train()
            for x, missing in training_loader:
                self.optimizer.zero_grad()
                loss = ((self.model(x * ~missing) - x)[missing] ** 2).mean()
                loss.backward()
                self.optimizer.step()
            self.model.eval()
            with torch.no_grad():
                mean_loss = sum((self.model(x) - x).abs().mean().item() for x, _ in val_loader) + epoch
            if mean_loss < self.best_loss:
                self.best_loss = mean_loss
                self.best_model_dict = self.model.state_dict()

    def fit(self, loader):
        self._train_model(loader, loader)
        same = all(torch.equal(v, self.best_model_dict[k]) for k, v in self.model.state_dict().items())
        print("best equals last:", same)
        self.model.load_state_dict(self.best_model_dict)


data = [(torch.randn(6, 4), torch.rand(6, 4) > 0.6) for _ in range(2)]
Imputer(torch.nn.Linear(4, 4), epochs=3, lr=0.01).fit(data)
