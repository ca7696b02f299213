# SPDX-License-Identifier: Apache-2.0
"""Hugging Face Trainer: our callback is one more of those that every Trainer begins with."""
from . import guard, phases

NAME = "transformers"
guarded = guard.guarded(NAME)


def imported(module):
    ours = callback_class(module.TrainerCallback)
    if not any(getattr(callback, "joulecast_callback", False) for callback in module.DEFAULT_CALLBACKS):
        module.DEFAULT_CALLBACKS.append(ours)  # in place: other trainers import this very list


def callback_class(base):
    class JoulecastCallback(base):
        joulecast_callback = True

        def __init__(self):
            self.joulecast = phases.Drive()
            self.joulecast_evaluated_from = None

        def __reduce__(self):
            return (base, ())

        @guarded
        def on_train_begin(self, args, state, control, **named):
            self.joulecast.close()
            self.joulecast.begins("training", epochs=state.num_train_epochs or None)

        @guarded
        def on_train_end(self, args, state, control, **named):
            self.joulecast.ends("training")

        @guarded
        def on_epoch_begin(self, args, state, control, **named):
            self.joulecast.begins("epoch", index=int(state.epoch or 0), total=state.num_train_epochs or None)

        @guarded
        def on_epoch_end(self, args, state, control, **named):
            self.joulecast.ends("epoch")

        @guarded
        def on_step_begin(self, args, state, control, **named):
            self.joulecast.batch_begins()

        @guarded
        def on_step_end(self, args, state, control, **named):
            self.joulecast.batch_ends()

        # Trainer says nothing before an evaluation: it began with the loader of its first step.
        @guarded
        def on_prediction_step(self, args, state, control, **named):
            if self.joulecast_evaluated_from is None:
                self.joulecast_evaluated_from = begin_of_loader()

        @guarded
        def on_evaluate(self, args, state, control, **named):
            begun, self.joulecast_evaluated_from = self.joulecast_evaluated_from, None
            if begun is not None:
                self.joulecast.begins("validation", at=begun)
                self.joulecast.ends("validation")

        @guarded
        def on_predict(self, args, state, control, *metrics, **named):
            self.joulecast_evaluated_from = None

    return JoulecastCallback


def begin_of_loader():
    from . import pytorch

    return pytorch.loop.claimed_from() or phases.now()
