"""PRODEN in a training loop of your own: any torch model, any loader, four lines that are the method.

The loader must say which rows a batch has, since every example keeps label weights from one epoch to the next.
"""

from __future__ import annotations

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

from pll import flip_binomial


def main(epochs: int = 30) -> float:
    """Train on digits with about 3.7 candidates each; return the share of labels that are right."""
    torch.manual_seed(0)
    images, y = load_digits(return_X_y=True)
    sets = flip_binomial(y, n_classes=10, q=0.3, seed=0)
    X = torch.tensor(images / 16, dtype=torch.float32)
    is_candidate = torch.tensor(sets.mask())  # (n, c)
    weights = is_candidate / is_candidate.sum(dim=1, keepdim=True)  # (n, c), uniform on each set: Eq. (init)
    loader = DataLoader(TensorDataset(X, torch.arange(len(X))), batch_size=64, shuffle=True)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(epochs):
        for batch, rows in loader:
            logits = model(batch)  # the one forward pass, (B, c)
            loss = -(weights[rows] * torch.log_softmax(logits, dim=1)).sum(dim=1).mean()  # the weights before
            restricted = logits.detach().masked_fill(~is_candidate[rows], -torch.inf)
            weights[rows] = torch.softmax(restricted, dim=1)  # Eq. (norm), before the parameters change
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
    right = float(np.mean(weights.argmax(dim=1).numpy() == y))
    print(f"{sets.sizes.mean():.2f} candidates on average; {right:.1%} of {len(y)} labels are right.")
    return right


if __name__ == "__main__":
    main()
