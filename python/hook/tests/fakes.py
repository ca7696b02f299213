# SPDX-License-Identifier: Apache-2.0
"""Frameworks of a few lines with the names that the hooks touch: file name -> text, for listener.Run."""

TORCH = {
    "torch/__init__.py": "from torch import optim, utils\nclass compiler:\n    is_compiling = staticmethod(lambda: False)\n",
    "torch/optim/__init__.py": "from torch.optim.optimizer import Optimizer\n",
    "torch/optim/optimizer.py": """
        before, after = {}, {}
        class Handle:
            def __init__(self, hooks): self.hooks = hooks
            def remove(self): self.hooks.pop(id(self), None)
        def register_optimizer_step_pre_hook(hook):
            handle = Handle(before); before[id(handle)] = hook; return handle
        def register_optimizer_step_post_hook(hook):
            handle = Handle(after); after[id(handle)] = hook; return handle
        class Optimizer:
            def step(self):
                for hook in before.values(): hook(self, (), {})
                for hook in after.values(): hook(self, (), {})
        """,
    "torch/utils/__init__.py": "from torch.utils import data\n",
    "torch/utils/data/__init__.py": "from torch.utils.data.dataloader import DataLoader\n",
    "torch/utils/data/dataloader.py": """
        class _SingleProcessDataLoaderIter:
            def __init__(self, loader):
                self.loader, self._num_yielded = loader, 0
            def __iter__(self): return self
            def __next__(self):
                if self._num_yielded == len(self.loader): raise StopIteration
                self._num_yielded += 1
                return self.loader.dataset[self._num_yielded - 1]
        class _MultiProcessingDataLoaderIter(_SingleProcessDataLoaderIter):
            def _reset(self, loader, first_iter=False): self._num_yielded = 0
        class DataLoader:
            persistent_workers, _dataset_kind = False, 0
            def __init__(self, dataset): self.dataset = dataset
            def __len__(self): return len(self.dataset)
            def __iter__(self): return _SingleProcessDataLoaderIter(self)
        """,
}

# The same before 2.0: no hooks of all optimizers.
OLD_TORCH = dict(TORCH, **{"torch/optim/optimizer.py": """
    class Optimizer:
        def __init__(self): pass
        def step(self): return "stepped"
    """})

KERAS = {
    "keras/__init__.py": "from keras.src.models import Model\n",
    "keras/src/__init__.py": "",
    "keras/src/callbacks/__init__.py": "from keras.src.callbacks.callback_list import Callback, CallbackList\n",
    "keras/src/callbacks/callback_list.py": """
        class Callback:
            params = model = None
            def __init__(self): pass
            def set_params(self, params): self.params = params
        for event in "train test predict epoch train_batch".split():
            for edge in ("begin", "end"):
                setattr(Callback, f"on_{event}_{edge}", lambda self, *arguments, **named: None)
        class CallbackList:
            def __init__(self, callbacks=None, add_history=False, **params):
                self.callbacks = list(callbacks or [])
                for callback in self.callbacks: callback.set_params(params)
            def say(self, event, *arguments):
                for callback in self.callbacks: getattr(callback, event)(*arguments)
        """,
    "keras/src/models.py": """
        import time
        from keras.src import callbacks as module
        class Model:
            def fit(self, epochs=1, steps=3, callbacks=None, fail=False):
                callbacks = module.CallbackList(callbacks, add_history=True, epochs=epochs, steps=steps)
                callbacks.say("on_train_begin", None)
                for epoch in range(epochs):
                    callbacks.say("on_epoch_begin", epoch)
                    for step in range(steps):
                        callbacks.say("on_train_batch_begin", step)
                        time.sleep(0.022)
                        if fail: raise ArithmeticError("the program's own")
                        callbacks.say("on_train_batch_end", step)
                    self.evaluate(callbacks)
                    callbacks.say("on_epoch_end", epoch)
                callbacks.say("on_train_end", None)
            def evaluate(self, callbacks=None):
                if callbacks is None: callbacks = module.CallbackList(callbacks)
                callbacks.say("on_test_begin", None)
                callbacks.say("on_test_end", None)
        """,
}
