# thread: https://github.com/awslabs/graphstorm/issues/1366
# diagnosis: The optional clipping stands behind the step in the fit method, so the option has no effect.
# mistake: 24
# expected: TLN404
# symptom: prints option has an effect: False

import torch as th


class NodeTrainer:
    def __init__(self, model, lr):
        self._model = model
        self.optimizer = th.optim.SGD(model.parameters(), lr=lr)

    def fit(self, train_loader, num_epochs, max_grad_norm=None, grad_norm_type=2.0):
        for epoch in range(num_epochs):
            self._model.train()
            for feats, labels in train_loader:
                loss = th.nn.functional.cross_entropy(self._model(feats), labels)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                if max_grad_norm is not None:
                    th.nn.utils.clip_grad_norm_(self._model.parameters(), max_grad_norm, grad_norm_type)


def result(max_grad_norm):
    th.manual_seed(1)
    model = th.nn.Linear(5, 3)
    NodeTrainer(model, 0.1).fit([(th.randn(7, 5), th.randint(0, 3, (7,)))] * 3, 2, max_grad_norm)
    return model.weight.detach()


print("option has an effect:", not th.equal(result(None), result(1e-4)))
