# SPDX-License-Identifier: Apache-2.0
"""Callbacks of training loops, each a class of its framework's own kind: `Keras` for Model.fit, `Trainer` for transformers,
`Lightning` for Lightning and PyTorch Lightning.

    callback = joulecast.callbacks.Keras()
    model.fit(data, epochs=3, callbacks=[callback])
    print(callback.training.energy_j, [epoch.energy_j for epoch in callback.epochs])

The framework is imported when its class is first asked for.
"""
from __future__ import annotations

import sys

from ._meter import shared


class _Windows:
    """`training` is the Window of all of it, `epochs` has one of each epoch. `meter`: one of your own."""

    def __init__(self, meter=None):
        super().__init__()
        self._meter, self.training, self.epochs, self._epoch = meter, None, [], None

    def _begin_training(self):
        self.training = (self._meter or shared()).begin("training")

    def _end_training(self):
        self._end_epoch()
        self.training.end()

    def _begin_epoch(self):
        self._end_epoch()
        self._epoch = (self._meter or shared()).begin("epoch")
        self.epochs.append(self._epoch)

    def _end_epoch(self):
        if self._epoch is not None:
            self._epoch.end()
            self._epoch = None


def _keras():
    import keras

    class Keras(_Windows, keras.callbacks.Callback):
        __doc__ = _Windows.__doc__

        def on_train_begin(self, logs=None):
            self._begin_training()

        def on_train_end(self, logs=None):
            self._end_training()

        def on_epoch_begin(self, epoch, logs=None):
            self._begin_epoch()

        def on_epoch_end(self, epoch, logs=None):
            self._end_epoch()

    return Keras


def _trainer():
    import transformers

    class Trainer(_Windows, transformers.TrainerCallback):
        __doc__ = _Windows.__doc__

        def on_train_begin(self, *state, **named):
            self._begin_training()

        def on_train_end(self, *state, **named):
            self._end_training()

        def on_epoch_begin(self, *state, **named):
            self._begin_epoch()

        def on_epoch_end(self, *state, **named):
            self._end_epoch()

    return Trainer


def _lightning():
    if "pytorch_lightning" in sys.modules and "lightning" not in sys.modules:
        from pytorch_lightning import Callback
    else:
        from lightning.pytorch import Callback

    class Lightning(_Windows, Callback):
        __doc__ = _Windows.__doc__

        def on_train_start(self, trainer, module):
            self._begin_training()

        def on_train_end(self, trainer, module):
            self._end_training()

        def on_train_epoch_start(self, trainer, module):
            self._begin_epoch()

        def on_train_epoch_end(self, trainer, module):
            self._end_epoch()

    return Lightning


_MAKERS = {"Keras": _keras, "Trainer": _trainer, "Lightning": _lightning}
__all__ = list(_MAKERS)


def __getattr__(name):
    if name not in _MAKERS:
        raise AttributeError(f"module 'joulecast.callbacks' has no attribute {name!r}")
    globals()[name] = _MAKERS[name]()
    return globals()[name]


def __dir__():
    return sorted([*globals(), *_MAKERS])
