# SPDX-License-Identifier: Apache-2.0
"""PyTorch in Python, eager or compiled."""
import gc

import torch

from .program import Use, uses_of_values
from .timing import copies_of, distinct_copies
from .torch_case import OptimizerCase, TorchCase
from .torch_device import TorchDevice
from .torch_module import ProgramClass
from .torch_tensors import learning, memory_range, random_tensor
from .user_module import load_module
from .words import Refusal

COMPILED = "pytorch-compiled"


class TorchBackend:
    NAME = "python-torch"
    RUNTIMES = ("pytorch-eager", COMPILED)

    def software(self):
        return f"pytorch {torch.__version__} (Python)"

    def open(self, device, threads, runtime):
        if threads > 0:
            torch.set_num_threads(threads)
        gc.freeze()  # what torch has made stays; looking through it at each release takes a tenth of a second
        return OpenTorch(TorchDevice(device), runtime == COMPILED)

    def kind_of(self, error):
        text = str(error)
        if isinstance(error, torch.OutOfMemoryError) or "out of memory" in text or "can't allocate memory" in text:
            return "out_of_memory"
        return "failed"


def _set_precision(precision):
    torch.backends.cudnn.allow_tf32 = precision in ("tf32", "tf32-all")
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32-all"


class OpenTorch:
    def __init__(self, device, compiled):
        self._device, self._compiled = device, compiled
        self.threads = torch.get_num_threads()

    def release(self):
        if self._compiled:
            torch.compiler.reset()
        gc.collect()
        self._device.empty_cache()

    def case(self, program, options):
        _set_precision(options.precision)
        uses = uses_of_values(program)
        made = ProgramClass(program, options.training, self._device.torch)
        tensors = {i: random_tensor(program.values[i], uses[i], self._device.torch)
                   for kind in ("input", "constant") for i in program.ids(kind)}
        inputs = [tensors[i] for i in program.ids("input")]
        if options.training and not options.network and options.input_gradient:
            for tensor in inputs:
                tensor.requires_grad_(tensor.is_floating_point())
        parameters = program.ids("parameter")
        weight_bytes = sum(program.values[i].bytes for i in parameters)
        copies = []
        for _ in range(copies_of(weight_bytes, options)):
            copies.append({i: learning(random_tensor(program.values[i], uses[i], self._device.torch), program.values[i], uses[i],
                                       options.training) for i in parameters})
        modules = [made.make({**tensors, **copy}).train(options.training) for copy in copies]
        case = self._finish(TorchCase(modules, inputs, options, self._device, modules[0].checked))
        case.weight_bytes = weight_bytes
        case.distinct_copies = distinct_copies([[memory_range(tensor) for tensor in copy.values()] for copy in copies])
        return case

    def module(self, name, values, options):
        _set_precision(options.precision)
        torch.manual_seed(1)
        module = load_module(name).to(self._device.torch).train(options.training)
        halves = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp64": torch.float64}
        if options.precision in halves:
            module = module.to(halves[options.precision])
        if not options.training:
            module.requires_grad_(False)
        inputs = [random_tensor(value, Use(), self._device.torch) for value in values]
        case = self._finish(TorchCase([module], inputs, options, self._device))
        case.weight_bytes = sum(p.numel() * p.element_size() for p in module.parameters())
        return case

    def optimizer(self, values, options):
        """Eager with pytorch-compiled too, as it is after a compiled network."""
        tensors = [learning(random_tensor(value, Use(), self._device.torch), value, Use(), True) for value in values]
        if not all(tensor.requires_grad for tensor in tensors):
            raise Refusal("protocol", "a parameter that cannot learn")
        return OptimizerCase(tensors, self._device)

    def _finish(self, case):
        if self._compiled:
            case.compile()
        return case
