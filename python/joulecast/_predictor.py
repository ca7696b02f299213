# SPDX-License-Identifier: Apache-2.0
"""predict() and its kin."""
from __future__ import annotations

from . import _library, _models
from ._results import Prediction, Predictions, Recommendation, Recommendations

_shared = None


class Predictor:
    """A predictor pack and the GPUs it may be asked about. It never changes: threads may share one.

    pack: a pack made by `joulecast train`; None for the shipped one. gpu_files: descriptions of GPUs of one's own.
    """

    def __init__(self, pack=None, gpu_files=()):
        self._handle = _library.open_predictor(pack, gpu_files)

    def predict(self, model, *, gpu="all", batch=None, input=None, shapes=None, framework=None, example=None, **options):
        """As joulecast.predict()."""
        found = Predictions()
        questions, name = _models.opened(model, framework, example, batch, input, shapes)
        for handle, request in questions:
            answer = _library.predict(self._handle, handle, _given(gpu=gpu, **request, **options))
            found += [Prediction(values, name or answer["model"]) for values in answer["predictions"]]
            found.left_out += [why for why in answer["left_out"] if why not in found.left_out]
        one = len(found) == 1 and not found.left_out and isinstance(gpu, str) and gpu != "all" and not isinstance(batch, (list, tuple))
        return found[0] if one else found

    def recommend(self, model, *, gpu="all", batch=None, input=None, shapes=None, framework=None, example=None, **options):
        """As joulecast.recommend()."""
        questions, name = _models.opened(model, framework, example, batch, input, shapes)
        if len(questions) > 1:
            raise ValueError("recommend() takes one batch with `input`, and of modules that hold for one batch; else it takes several")
        handle, request = questions[0]
        answer = _library.recommend(self._handle, handle, _given(gpu=gpu, **request, **options))
        found = [Recommendation(values, name or answer["model"]) for values in answer["candidates"]]
        return Recommendations(found, answer["left_out"], answer["notes"])

    def gpus(self):
        """The GPUs that may be asked for, with every figure known of them."""
        return _library.gpus(self._handle)["gpus"]


def _given(**words):
    return {key: value for key, value in words.items() if value is not None}


def _default():
    global _shared
    if _shared is None:
        _shared = Predictor()
    return _shared


def predict(model, *, gpu="all", batch=None, input=None, shapes=None, framework=None, example=None, **options):
    """What `model` costs on `gpu`.

    model: the path of a model file, or an object of a framework that is loaded: onnx.ModelProto, torch.nn.Module (with `input`, or
    with `example`), torch.jit.ScriptModule, torch.export.ExportedProgram, a model or config of transformers, keras.Model.
    gpu: a name ("a30", "NVIDIA H100 80GB HBM3"), a list of them, or "all".
    batch: a number or a list of them. input: the shape of one example of the network's only input, (3, 224, 224) or
    "3,224,224"; the channels may stand last. example: what a module of PyTorch is called with, at any batch: a tensor, a tuple of arguments, or a dict of them by
    name. shapes: whole shapes by the inputs' names. framework: whose file it is, instead of what its bytes say.
    options: mode="training", precision="fp16", runtime="pytorch-compiled", layout, host, optimizer, top, breakdown, sm_clock,
    power_limit, measured, as `joulecast predict --help` has them.

    Returns a Prediction for one GPU and one batch, else Predictions. Raises Error, or its subclasses InvalidInputError (also
    a ValueError) and UnsupportedError.
    """
    return _default().predict(model, gpu=gpu, batch=batch, input=input, shapes=shapes, framework=framework, example=example,
                              **options)


def recommend(model, *, gpu="all", batch=None, input=None, shapes=None, framework=None, example=None, **options):
    """The GPUs, batches and settings at which `model` does best: a Recommendations, a list of Recommendation with the best first.

    model, gpu, batch, input, shapes, framework, example, mode, precision, runtime, layout, host, optimizer, measured: as for predict().
    best="energy": what of one example is to be least: "energy", "time" or "edp". choose="limit": which settings may be changed: the
    power "limit", the SM "clock", "both" or "none". within_s: seconds a batch may take. slowdown_percent: by how much a batch may be
    slower than at the default setting. What needs more memory than its GPU has is left out; Error where nothing is left.
    """
    return _default().recommend(model, gpu=gpu, batch=batch, input=input, shapes=shapes, framework=framework, example=example,
                                **options)


def inspect(model, *, batch=None, input=None, shapes=None, framework=None, example=None, top=None, as_written=None):
    """What is in a model: inputs, outputs, operators, parameters, FLOPs and bytes, as `joulecast inspect --json` has it."""
    questions, _ = _models.opened(model, framework, example, batch, input, shapes)
    handle, request = questions[0]
    return _library.inspect(handle, _given(top=top, as_written=as_written, **request))


def gpus():
    """The GPUs of the catalogue, with every figure known of them."""
    return _default().gpus()
