# SPDX-License-Identifier: Apache-2.0
"""Normalisations."""
import torch
from torch.nn import functional

from .kernel import of

EPSILON, MOMENTUM = 1e-5, 0.1


def batch_norm(context):
    training = context.training
    return of(context, lambda x, scale, shift, mean, variance: torch.batch_norm(x, scale, shift, mean, variance, training, MOMENTUM,
                                                                                EPSILON, True), 0, optional=(1, 2, 3, 4))


def _last_extents(context):
    axes = context.fields.integer("axes", 1)
    if not 1 <= axes <= context.rank(0):
        context.refuse("over more axes than there are")
    return context.shape(0)[-axes:]


def layer_norm(context):
    if context.fields.flag("channels_first"):  # torchvision's LayerNorm2d, through the order with channels last
        channels = [context.shape(0)[1]]
        return of(context, lambda x, scale, shift: functional.layer_norm(x.movedim(1, -1), channels, scale, shift, EPSILON)
                  .movedim(-1, 1), 0, optional=(1, 2))
    extents = _last_extents(context)
    return of(context, lambda x, scale, shift: functional.layer_norm(x, extents, scale, shift, EPSILON), 0, optional=(1, 2))


def rms_norm(context):
    extents = _last_extents(context)
    return of(context, lambda x, scale: functional.rms_norm(x, extents, scale, EPSILON), 0, optional=(1,))


def group_norm(context):
    groups = context.fields.integer("groups", 1)
    return of(context, lambda x, scale, shift: functional.group_norm(x, groups, scale, shift, EPSILON), 0, optional=(1, 2))


def instance_norm(context):
    return of(context, lambda x, scale, shift: torch.instance_norm(x, scale, shift, None, None, True, MOMENTUM, EPSILON, True), 0,
              optional=(1, 2))


OPERATORS = {"batch_norm": batch_norm, "layer_norm": layer_norm, "rms_norm": rms_norm, "group_norm": group_norm,
             "instance_norm": instance_norm}
