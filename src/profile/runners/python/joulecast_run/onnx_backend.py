# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime, inference alone."""
import os

import numpy
import onnx  # noqa: F401  said to be missing here, not in the middle of a case
import onnxruntime

from .onnx_graph import OnnxModel, random_array, type_of
from .program import uses_of_values
from .timing import clocked, copies_of, distinct_copies
from .words import Refusal

# Sessions on a GPU hold handles and work space of their own, some ten megabytes each.
MOST_SESSIONS_ON_GPU = 64
ONLY_ERRORS = 3
INFERENCE_ALONE = "ONNX Runtime is measured in inference alone"


class OnnxBackend:
    NAME = "onnxruntime"
    RUNTIMES = ()  # rows leave the word out: joulecast predicts no such runtime

    def software(self):
        return f"onnxruntime {onnxruntime.__version__}"

    def open(self, device, threads, runtime):
        return OpenOnnx(device, threads)

    def kind_of(self, error):
        text = str(error)
        if "llocate memory" in text or "out of memory" in text or "bad_alloc" in text:
            return "out_of_memory"
        # No kernel for these types, or none on this device: nothing has run.
        missing = type(error).__name__ in ("NotImplemented", "InvalidGraph", "InvalidArgument")
        return "unsupported" if missing or "disable_cpu_ep_fallback" in text else "failed"


def _provider(device):
    """(name as bindings have it, number, execution provider)"""
    kind, _, number = device.partition(":")
    if kind == "cpu" and not number:
        return "cpu", 0, "CPUExecutionProvider"
    if kind != "cuda" or not (number or "0").isdigit():
        raise Refusal("unsupported", f"device {device[:40]}")
    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        raise Refusal("unsupported", "this onnxruntime has no CUDA: pip install onnxruntime-gpu")
    return "cuda", int(number or "0"), "CUDAExecutionProvider"


class OpenOnnx:
    _pool = None  # of the process: it is made once

    def __init__(self, device, threads):
        self._kind, self._number, self._provider = _provider(device)
        wanted = threads or len(os.sched_getaffinity(0))
        if OpenOnnx._pool is None:
            # One pool for all copies: hundreds of sessions would have hundreds, each waiting busily for work.
            onnxruntime.set_global_thread_pool_sizes(wanted, 1)
            OpenOnnx._pool = wanted
        self.threads = OpenOnnx._pool

    def release(self):
        pass  # sessions give back their memory when they go

    def module(self, name, values, options):
        raise Refusal("unsupported", "this runner runs no modules; python-torch does")

    def optimizer(self, values, options):
        raise Refusal("unsupported", INFERENCE_ALONE)

    def case(self, program, options):
        if options.training:
            raise Refusal("unsupported", INFERENCE_ALONE)
        model = OnnxModel(program)
        return OnnxCase(model, options, self._session_options, self.provider_with(options.precision), self._kind, self._number)

    def provider_with(self, precision):
        if self._kind == "cpu":
            return [self._provider]
        if precision == "tf32":
            raise Refusal("unsupported", "TF32 in convolutions alone: ONNX Runtime has tf32-all or fp32")
        return [(self._provider, {"device_id": str(self._number), "use_tf32": str(int(precision == "tf32-all")),
                                  "arena_extend_strategy": "kSameAsRequested"})]

    def _session_options(self):
        out = onnxruntime.SessionOptions()
        out.log_severity_level = ONLY_ERRORS
        out.use_per_session_threads = False
        if self._kind != "cpu":
            out.add_session_config_entry("session.disable_cpu_ep_fallback", "1")  # else the processor would be measured
        return out


class OnnxCase:
    """A session a copy. Each is given weights in memory of their own; what it packs anew of them is its own as well, for
    sessions share packed weights only where they are told to."""

    def __init__(self, model, options, session_options, providers, kind, number):
        self._model, self._kind, self._number = model, kind, number
        self._uses, self._generator = uses_of_values(model.program), numpy.random.default_rng(1)
        self._own = [i for i in model.program.ids("parameter")]
        self.weight_bytes = sum(model.program.values[i].bytes for i in self._own)
        count = copies_of(self.weight_bytes, options)
        self._inputs = {i: self._random(i, kind) for i in model.inputs if i not in self._own}
        self._outputs = [self._empty(i) for i in model.program.outputs]
        shared = {i: self._random(i) for i in model.weights if i not in self._own}
        text = model.proto.SerializeToString()
        self._copies = []
        for _ in range(min(count, MOST_SESSIONS_ON_GPU) if kind != "cpu" else count):
            self._copies.append(self._copy(text, shared, session_options(), providers))
        self.copies = len(self._copies)
        self.distinct_copies = distinct_copies([[_range(value) for value in own.values()] for _, _, own in self._copies])
        self._next, self._run_options = 0, onnxruntime.RunOptions()
        if kind != "cpu":  # only at the edges of a window
            self._run_options.add_run_config_entry("disable_synchronize_execution_providers", "1")

    def run(self, iterations):
        return clocked(lambda: self._iterate(iterations), self._synchronize)

    def memory(self):
        self.run(1)
        return {}  # its arenas keep a count that Python is not told

    def results(self):
        return [value.numpy() for value in self._outputs]

    def _iterate(self, iterations):
        for _ in range(iterations):
            session, binding, _ = self._copies[self._next]
            self._next = (self._next + 1) % len(self._copies)
            session.run_with_iobinding(binding, self._run_options)

    def _synchronize(self):
        if self._kind != "cpu":
            for _, binding, _ in self._copies:
                binding.synchronize_outputs()

    def _copy(self, text, shared, options, providers):
        fed = [i for i in self._own if i in self._model.inputs]
        own = {i: self._random(i, self._kind if i in fed else "cpu") for i in self._own}
        weights = {**shared, **own}
        if self._model.weights:
            options.add_external_initializers([f"v{i}" for i in self._model.weights], [weights[i] for i in self._model.weights])
        session = onnxruntime.InferenceSession(text, options, providers=providers)
        if session.get_providers()[0] != (providers[0] if isinstance(providers[0], str) else providers[0][0]):
            raise Refusal("unsupported", f"ONNX Runtime does not start {providers[0][0]} here")
        binding = session.io_binding()
        for i, value in {**self._inputs, **{i: own[i] for i in fed}}.items():
            binding.bind_ortvalue_input(f"v{i}", value)
        for name, value in zip(self._model.outputs, self._outputs):
            binding.bind_ortvalue_output(name, value)
        binding.synchronize_inputs()
        return session, binding, own

    def _random(self, i, kind="cpu"):
        value = self._model.program.values[i]
        array = random_array(value, self._uses[i], self._generator)
        if value.element == "bf16":
            if kind != "cpu":
                raise Refusal("unsupported", "inputs in bf16 on a GPU: they would be copied there in each iteration")
            return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array, type_of("bf16"))
        return onnxruntime.OrtValue.ortvalue_from_numpy(array, kind, self._number)

    def _empty(self, i):
        value = self._model.program.values[i]
        return onnxruntime.OrtValue.ortvalue_from_shape_and_type(value.shape, type_of(value.element), self._kind, self._number)


def _range(value):
    return value.data_ptr(), value.data_ptr() + value.tensor_size_in_bytes()
