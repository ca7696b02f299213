# SPDX-License-Identifier: Apache-2.0
"""Keras 3 and tf.keras. Every fit, evaluate and predict makes a CallbackList, and none of them shows in a traceback of the
program as a wrapped `fit` would: ours is one more callback in that list."""
from . import guard, phases

NAME = "keras"
guarded = guard.guarded(NAME)


def package_imported(module):
    """In newer versions the package only passes on what its submodule has."""
    if hasattr(module, "CallbackList"):
        imported(module)


def imported(module):
    container = module.CallbackList
    if not getattr(container.__init__, "joulecast", False):
        container.__init__ = with_ours(container.__init__, callback_class(module.Callback))


def with_ours(original, ours):
    import functools

    @functools.wraps(original)
    def init(self, callbacks=None, *arguments, **named):
        try:
            if not (guard.of(NAME).off or guard.is_child()):
                given = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks] if callbacks else []
                if not any(isinstance(callback, ours) for callback in given):
                    callbacks = given + [ours()]
        except Exception as error:
            guard.of(NAME).fail(error)
        return original(self, callbacks, *arguments, **named)

    init.joulecast = True
    return init


def callback_class(base):
    class JoulecastCallback(base):
        # Neither turns tensors into numbers nor waits for them: Keras need not do so for us either.
        _supports_tf_logs = True

        def __init__(self):
            super().__init__()
            self.joulecast = phases.Drive()

        def __reduce__(self):
            return (base, ())  # elsewhere it is a callback that does nothing

        def __del__(self):
            ended(self)

        @guarded
        def on_train_begin(self, logs=None):
            self.joulecast.begins("training", epochs=(self.params or {}).get("epochs"))

        @guarded
        def on_train_end(self, logs=None):
            self.joulecast.ends("training")

        @guarded
        def on_epoch_begin(self, epoch, logs=None):
            self.joulecast.begins("epoch", index=epoch, total=(self.params or {}).get("epochs"))

        @guarded
        def on_epoch_end(self, epoch, logs=None):
            self.joulecast.ends("epoch")

        # There is no on_train_batch_end: Keras 3 calls it late from other threads, or stops doing so because of us. A
        # batch lasts until the next one begins.
        @guarded
        def on_train_batch_begin(self, batch, logs=None):
            self.joulecast.batch_begins()

        @guarded
        def on_test_begin(self, logs=None):
            self.joulecast.begins("validation")

        @guarded
        def on_test_end(self, logs=None):
            self.joulecast.ends("validation")

        @guarded
        def on_predict_begin(self, logs=None):
            self.joulecast.takes_over()

        @guarded
        def on_predict_end(self, logs=None):
            if not self.joulecast.open:
                self.joulecast.lets_go()

    return JoulecastCallback


@guarded
def ended(callback):
    """Also of a fit that an exception ended: Keras then calls no callback, but drops its list."""
    callback.joulecast.close()
