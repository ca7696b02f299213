# SPDX-License-Identifier: Apache-2.0
"""Pooling, resizing, pixel shuffles."""
from ..program import same_padding


def pool(context):
    kind, kernel, fields = context.fields.text("kind", "max"), context.fields.integers("kernel"), context.fields
    axes = len(kernel)
    stride, dilation = context.list("stride", axes, 1), context.list("dilation", axes, 1)
    begins, ends = context.list("padding_begin", axes, 0), context.list("padding_end", axes, 0)
    if fields.flag("same_padding"):
        begins, ends = same_padding(context, kernel, stride, dilation)
    attributes = {"kernel_shape": kernel, "strides": stride, "pads": begins + ends, "ceil_mode": int(fields.flag("ceil_mode"))}
    if kind == "max":
        if context.wants(1):
            context.refuse("with indices")
        return context.build.node("MaxPool", [context.name(0)], dilations=dilation, **attributes)
    if kind != "average":
        context.refuse(kind)
    if begins != ends:
        context.refuse("a mean with padding that differs between the sides")
    return context.build.node("AveragePool", [context.name(0)], count_include_pad=1, **attributes)


def adaptive_pool(context):
    size, extents, kind = context.fields.integers("size"), context.shape(0)[2:], context.fields.text("kind", "average")
    if kind not in ("average", "max") or len(size) != len(extents):
        context.refuse(kind)
    name = "AveragePool" if kind == "average" else "MaxPool"
    if all(one == 1 for one in size):
        return context.build.node(f"Global{name}", [context.name(0)])
    if any(one < 1 or extent % one for one, extent in zip(size, extents)):
        context.refuse("to a size that does not divide the input's: ONNX has no such operator")
    step = [extent // one for one, extent in zip(size, extents)]
    return context.build.node(name, [context.name(0)], kernel_shape=step, strides=step)


def resize(context):
    if context.rank(0) != 4:
        context.refuse("of other than images")
    kind, sizes = context.fields.text("kind", "nearest"), context.build.integers(context.output().shape)
    how = {"mode": kind, "coordinate_transformation_mode": "half_pixel", "cubic_coeff_a": -0.75}  # PyTorch's
    if kind == "nearest":
        how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return context.build.node("Resize", [context.name(0), "", "", sizes], **how)


def grid_sample(context):
    mode = "nearest" if context.fields.text("kind", "linear") == "nearest" else "linear"
    return context.build.node("GridSample", [context.name(0), context.name(1)], mode=mode, padding_mode="zeros", align_corners=0)


def pixel_shuffle(context):
    factor, build = context.fields.integer("factor", 1), context.build
    if not context.fields.flag("inverse"):
        return build.node("DepthToSpace", [context.name(0)], blocksize=factor, mode="CRD")
    # ONNX's SpaceToDepth has its channels in another order.
    if context.rank(0) != 4 or factor < 1:
        context.refuse("of other than images")
    n, c, h, w = context.shape(0)
    apart = build.node("Reshape", [context.name(0), build.integers([n, c, h // factor, factor, w // factor, factor])])
    turned = build.node("Transpose", [apart], perm=[0, 1, 3, 5, 2, 4])
    return build.node("Reshape", [turned, build.integers(context.output().shape)])


OPERATORS = {"pool": pool, "adaptive_pool": adaptive_pool, "resize": resize, "grid_sample": grid_sample,
             "pixel_shuffle": pixel_shuffle}
