# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own loops. An iteration of a DataLoader within which an optimizer steps is an epoch, one without steps is
validation; which of the two is known later than its begin, so it is marked when it is known, with the time it began.

Iterations are followed by their iterator: its making is the begin, its deletion the end, which in a for loop is the moment
the loop is left. Nothing is called per item, and `__next__` does not show us in a traceback of the program's dataset. The
iterator of persistent workers outlives the loop: there the last step, or else the next thing that happens, is the end."""
import weakref

from . import device, guard, phases, sender

NAME = "pytorch"
LEAD_CHANGES_AFTER = 64  # steps of other optimizers without one of the leading optimizer's

switch = guard.of(NAME)
guarded = guard.guarded(NAME)
now = phases.now


class Iteration:
    def __init__(self, begun, iterator, loader):
        self.begun = begun
        self.loader = id(loader)
        self.persistent = getattr(loader, "persistent_workers", False)
        self.state = iterator.__dict__  # outlives the iterator: says how many items it gave
        self.one_item = has_one_item(loader)
        self.epoch = False
        self.claimed = False  # is no validation: steps were seen, or a framework marks it
        self.reference = weakref.ref(iterator, self.deleted)

    @guarded
    def deleted(self, reference):
        loop.iteration_ends(self)

    def exhausted(self):
        """Of persistent workers: they ask for the next items before they hand one out."""
        return self.persistent and self.state.get("_tasks_outstanding") == 0

    def peeked(self):
        """`next(iter(loader))` to look at a shape is no validation."""
        given = self.state.get("_num_yielded", 2)
        return given == 0 or (given == 1 and not self.one_item)


def has_one_item(loader):
    try:
        return getattr(loader, "_dataset_kind", None) == 0 and len(loader) == 1  # 0: a map, whose length is no promise
    except Exception:  # a sampler need not know its length
        return False


class Loop:
    """The loop of the program's own, as far as steps and loaders show it."""

    def __init__(self):
        self.iterations = []  # open ones, innermost last
        self.latest_begin = None  # also of frameworks' loaders
        self.batches = phases.Batches()
        self.reset()

    def reset(self):
        self.training = False
        self.epochs = 0
        self.no_lead()
        self.step_begun = None
        self.fast = None  # id of the optimizer whose next step is only one more of the batches that go together
        self.edge = None  # where the next batch begins
        self.last = None  # end of the last known thing of the training

    # Loaders

    def iteration_begins(self, iterator, loader, begun):
        self.latest_begin = begun
        self.fast = None
        if phases.driven():
            return
        self.heed_compiled_steps()
        for other in list(self.iterations):
            if other.loader == id(loader) or other.exhausted():
                self.iteration_ends(other, begun)
        self.iterations.append(Iteration(begun, iterator, loader))

    def iteration_ends(self, iteration, at=None):
        if iteration not in self.iterations:
            return
        self.fast = None
        if iteration is self.iterations[-1]:
            self.heed_compiled_steps()
        self.iterations.remove(iteration)
        if iteration.epoch:
            self.epoch_ends(iteration)
        elif not (iteration.claimed or iteration.peeked()):
            if at is None:
                device.wait()
                at = now()
            phases.begin("validation", iteration.begun)
            phases.end("validation", at)
            self.edge = at
        iteration.state = None

    def epoch_ends(self, iteration):
        iteration.epoch = False
        self.batches.flush()
        at = self.last
        if at is None or not iteration.persistent:
            device.wait()
            at = now()
        phases.end("epoch", at)
        self.last = at

    def claimed_from(self):
        """When the innermost iteration began, which a framework marks from now on; None if no loader was seen."""
        for iteration in self.iterations:
            iteration.claimed = True
        return self.iterations[-1].begun if self.iterations else self.latest_begin

    # Steps

    def heed_compiled_steps(self):
        """They make an epoch of the innermost iteration; their times, and so the batches, are not known."""
        if compiled.stepped:
            compiled.stepped = False
            if self.iterations and not self.iterations[-1].claimed:
                self.epoch_begins(self.iterations[-1])

    def step_ends(self, optimizer, at):
        inner = self.innermost(at)
        if inner is not None and not inner.claimed:
            self.epoch_begins(inner)
        if not self.training:
            self.training_begins(self.step_begun or at)
        self.last = at
        if id(optimizer) != self.lead and not self.leads(optimizer):
            return
        self.strangers = 0
        if self.edge == at:  # a validation took its time: nobody knows where this batch began
            self.batches.skip()
        else:
            self.batches.add(self.edge, at)
        self.edge = at
        self.fast = self.lead if self.batches.count else None

    def innermost(self, at):
        while self.iterations:
            inner = self.iterations[-1]
            if inner.claimed or not inner.exhausted() or not any(other.epoch for other in self.iterations):
                return inner
            # A validation in the midst of an epoch, with persistent workers: it ended some time before this step did.
            self.iteration_ends(inner, at)
        return None

    def leads(self, optimizer):
        """Several optimizers a batch (as a GAN has) are one batch; but a leader that is gone is followed by another."""
        self.strangers += 1
        if self.lead is None or self.alive() is None or self.strangers > LEAD_CHANGES_AFTER:
            self.lead = id(optimizer)
            self.alive = weakref.ref(optimizer)
        return self.lead == id(optimizer)

    def no_lead(self):
        self.lead = None  # id of the optimizer whose steps are the batches
        self.alive = None  # says whether it still is
        self.strangers = 0

    def training_begins(self, at):
        self.training = True
        phases.begin("training", at)
        self.edge = at

    def epoch_begins(self, iteration):
        for other in self.iterations:
            other.claimed = True
            if other.epoch:  # its loop was left without our seeing it
                self.epoch_ends(other)
        iteration.epoch = True
        if not self.training:
            self.training_begins(iteration.begun)
        phases.begin("epoch", iteration.begun, index=self.epochs)
        self.epochs += 1
        self.no_lead()  # the first to step in an epoch leads it
        self.batches.flush()
        self.batches.restart()
        self.edge = max(self.edge or 0, iteration.begun)

    def close(self):
        """The training ends with the last that was seen of it: at exit, or when a framework takes over."""
        for iteration in list(self.iterations):
            if iteration.epoch:
                self.batches.flush()
                phases.end("epoch", self.last)
            elif iteration.exhausted():
                self.iteration_ends(iteration)
            iteration.state = None
        self.iterations.clear()
        self.fast = None
        self.batches.flush()
        if self.training:
            phases.end("training", self.last)
            self.reset()


loop = Loop()
batches = loop.batches
phases.when_driven(loop.close)
sender.at_exit(loop.close)


# torch.compile may trace through the hooks of a step. All that is left of them then is that a step was made: anything more
# would break the program's graph in two, or be refused.
class Compiled:
    stepped = False


compiled = Compiled()


def is_compiling():  # replaced by PyTorch's, if it has one
    return False


def compiler_imported(module):
    global is_compiling
    is_compiling = getattr(module, "is_compiling", is_compiling)


def step_begins(optimizer, arguments, named):
    if is_compiling() or loop.training:
        return
    if switch.off or guard._child or phases.driven():
        return
    try:
        if not loop.iterations:
            device.wait()
        loop.step_begun = now()
    except Exception as error:
        switch.fail(error)


def step_ends(optimizer, arguments, named):
    if is_compiling():
        compiled.stepped = True
        return
    try:
        at = now()
        if loop.fast == id(optimizer) and at - batches.begun < batches.apart:
            batches.count += 1
            batches.ended = loop.edge = loop.last = at
        elif not (switch.off or guard._child or phases.driven()):
            loop.step_ends(optimizer, at)
    except Exception as error:
        loop.fast = None
        switch.fail(error)


def optimizer_imported(module):
    register = getattr(module, "register_optimizer_step_post_hook", None)
    if register is not None:
        register(step_ends)
        # Only the first step needs it, but compiled code would be compiled anew if it went away.
        module.register_optimizer_step_pre_hook(step_begins)
        return
    # Before PyTorch 2.0: the step of every class that is used is wrapped when the first of its objects is made.
    module.Optimizer.__init__ = guard.around(
        NAME, module.Optimizer.__init__, lambda *_, **__: None, lambda self, *_, **__: wrap_step(type(self)))


def wrap_step(kind):
    if not getattr(kind.step, "joulecast", False):
        kind.step = guard.around(NAME, kind.step, lambda self, *_, **__: step_begins(self, (), {}),
                                 lambda self, *_, **__: step_ends(self, (), {}))


def loader_imported(module):
    for name in ("_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"):
        follow(getattr(module, name), "__init__")
    follow(module._MultiProcessingDataLoaderIter, "_reset")


def follow(kind, method):
    """The making of an iterator resets it too, which is no begin of its own (`first_iter`)."""
    begun = {}

    def before(self, loader, first_iter=False):
        if not first_iter:
            device.wait()
            begun[id(self)] = now()

    def after(self, loader, first_iter=False):
        if not first_iter:
            loop.iteration_begins(self, loader, begun.pop(id(self)))

    setattr(kind, method, guard.around(NAME, getattr(kind, method), before, after))
