"""The settings that the paper published (its supplement and code): recipe `paper`.

All have SGD with momentum 0.9, 500 epochs, cross-entropy, and z-scored tables. The learning rate of the ConvNet is
multiplied by 0.9 every ten epochs.
"""

from __future__ import annotations

from typing import Any

from pll.methods.chosen import Recipe

PROTOCOL: dict[str, Any] = {"optimiser": "sgd", "momentum": 0.9, "epochs": 500, "loss": "ce"}


def _linear(lr: float, weight_decay: float, batch_size: int = 100) -> dict[str, Any]:
    return {"lr": lr, "weight_decay": weight_decay, "batch_size": batch_size, "scale": "zscore"}


def _images(lr: float, weight_decay: float, **more: Any) -> dict[str, Any]:
    return {"lr": lr, "weight_decay": weight_decay, "batch_size": 256, **more}


PUBLISHED: dict[tuple[str, str], dict[str, Any]] = {
    ("mnist", "linear"): _images(1e-3, 1e-5),
    ("fashionmnist", "linear"): _images(1e-3, 1e-5),
    ("kmnist", "linear"): _images(1e-3, 1e-6),
    ("mnist", "mlp"): _images(1e-2, 1e-3),
    ("kmnist", "mlp"): _images(1e-2, 1e-4),
    ("fashionmnist", "mlp"): _images(1e-2, 1e-5),
    ("cifar10", "resnet"): _images(5e-2, 1e-3),
    ("cifar10", "convnet"): _images(1e-2, 1e-3, lr_decay=0.9, lr_decay_every=10),
    ("yeast", "linear"): _linear(1e-1, 1e-3),
    ("texture", "linear"): _linear(1e-1, 1e-5),
    ("dermatology", "linear"): _linear(1e-2, 1e-3),
    ("syntheticcontrol", "linear"): _linear(1e-1, 1e-3),
    ("20newsgroups", "linear"): _linear(1e-3, 1e-3),
    ("lost", "linear"): _linear(1e-2, 1e-2),
    ("birdsong", "linear"): _linear(1e-2, 1e-4),
    ("msrcv2", "linear"): _linear(1e-1, 1e-3),
    ("soccerplayer", "linear"): _linear(1e-1, 1e-4),
    ("yahoonews", "linear"): _linear(1e-2, 1e-4),
}
"""(data set, model) → settings, as published."""

OF_OTHER_METHODS: dict[str, dict[str, Any]] = {"sure": {"kernel": "linear"}}
"""Settings of methods without gradient descent, by name: the paper has linear models. Others keep their defaults."""


def paper_recipe(
    input_shape: tuple[int, ...], explicit: dict[str, Any], dataset: str = "", *, own_rate: bool = False
) -> Recipe:
    """Return the paper's settings for a data set; its protocol alone, with a note, where none are published.

    Parameters
    ----------
    input_shape
        Of one example.
    explicit
        Settings given explicitly, which stay.
    dataset
        Name of the data set; "" where it is not known.
    own_rate
        Leave the learning rate to the method, whose steps are of another scale than PRODEN's.
    """
    model = explicit.get("model", "linear")
    settings_of_paper = PUBLISHED.get((plain_name(dataset), model)) if isinstance(model, str) else None
    notes: tuple[str, ...] = ()
    if settings_of_paper is None:
        name = dataset or "this data"
        notes = (
            f"The paper publishes no settings for {name} with the model {model}. Its protocol is used (SGD, momentum "
            "0.9, 500 epochs, batch 256), with the default learning rate and weight decay.",
        )
        settings_of_paper = {"batch_size": 256} | ({} if len(input_shape) > 1 else {"scale": "zscore"})
    settings = {name: value for name, value in (PROTOCOL | settings_of_paper).items() if name not in explicit}
    if own_rate and settings.pop("lr", None) is not None:
        notes += ("The learning rate is the method's own: that of the paper is PRODEN's, and steps differ in scale.",)
    return Recipe("paper", settings, explicit, notes=notes)


def plain_name(dataset: str) -> str:
    """Return the letters and digits of a data set's name, as the table has it.

    Examples
    --------
    >>> plain_name("Synthetic Control"), plain_name("lost.mat"), plain_name("Kuzushiji-MNIST")
    ('syntheticcontrol', 'lost', 'kmnist')
    """
    name = dataset.lower().removesuffix(".mat").removesuffix(".npz").removesuffix(".csv")
    return "".join(filter(str.isalnum, name.replace("kuzushiji", "k")))
