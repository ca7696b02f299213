# SPDX-License-Identifier: Apache-2.0
"""Lightning, under both its names: our callback comes by the function that asks installed packages for callbacks."""
from . import guard, phases

NAME = "lightning"
guarded = guard.guarded(NAME)


def imported(module):
    ours = callback_class(module.Callback)
    external = getattr(module, "_load_external_callbacks", None)
    if external is not None:
        module._load_external_callbacks = with_ours(external, ours)
        return
    connector = getattr(module, "_CallbackConnector", None) or module.CallbackConnector  # before 1.6
    connector.on_trainer_init = guard.around(
        NAME, connector.on_trainer_init, lambda *_, **__: None,
        lambda self, *_, **__: self.trainer.callbacks.insert(0, ours()))  # last ones must be checkpoints


def with_ours(external, ours):
    def load(group):
        callbacks = external(group)
        try:
            if not (guard.of(NAME).off or guard.is_child()):
                return list(callbacks) + [ours()]
        except Exception as error:
            guard.of(NAME).fail(error)
        return callbacks

    return load


def callback_class(base):
    class JoulecastCallback(base):
        def __init__(self):
            super().__init__()
            self.joulecast = phases.Drive()

        def __reduce__(self):
            return (base, ())

        @guarded
        def on_fit_start(self, trainer, module):
            self.joulecast.close()
            epochs = trainer.max_epochs
            self.joulecast.begins("training", epochs=epochs if epochs and epochs > 0 else None)

        @guarded
        def on_fit_end(self, trainer, module):
            self.joulecast.ends("training")

        @guarded
        def on_exception(self, trainer, module, exception):
            self.joulecast.close()

        @guarded
        def on_train_epoch_start(self, trainer, module):
            epochs = trainer.max_epochs
            self.joulecast.begins("epoch", index=trainer.current_epoch, total=epochs if epochs and epochs > 0 else None)

        @guarded
        def on_train_epoch_end(self, trainer, module):
            self.joulecast.ends("epoch")

        @guarded
        def on_train_batch_start(self, *arguments, **named):
            self.joulecast.batch_begins()

        @guarded
        def on_train_batch_end(self, *arguments, **named):
            self.joulecast.batch_ends()

        @guarded
        def on_validation_start(self, trainer, module):
            self.joulecast.begins("validation", sanity=1 if getattr(trainer, "sanity_checking", False) else None)

        @guarded
        def on_validation_end(self, trainer, module):
            self.joulecast.ends("validation")

        # Loaders of these are no validation.
        @guarded
        def on_test_start(self, trainer, module):
            self.joulecast.takes_over()

        @guarded
        def on_test_end(self, trainer, module):
            self.joulecast.lets_go()

        @guarded
        def on_predict_start(self, trainer, module):
            self.joulecast.takes_over()

        @guarded
        def on_predict_end(self, trainer, module):
            self.joulecast.lets_go()

    return JoulecastCallback
