"""Operators over images: depthwise and transposed convolution, adaptive pools, padding, upsampling, slices, reshape."""

import torch
from torch.nn import functional as F

from reference import case, numbers


def depthwise():
    def made(name, attributes, multiplier=1, bias=True, height=5, width=6, kernel=(3, 3), **fields):
        operands = {"x": numbers(2, 3, height, width), "w": numbers(3 * multiplier, 1, *kernel, seed=1)}
        if bias:
            operands["b"] = numbers(3 * multiplier, seed=2)
        reads = ", ".join(f"@{key}" for key in operands)
        bias_field = "bias=true, " if bias else ""
        return case(f"depthwise_conv2d, {name}", f"%y = depthwise_conv2d({reads}) {{{bias_field}{attributes}}}", operands,
                    lambda x, w, b=None: F.conv2d(x, w, b, groups=3, **fields))

    yield made("padding 1", "padding=[1,1,1,1]", padding=1)
    yield made("stride 2", "padding=[1,1,1,1], stride=[2,2]", padding=1, stride=2)
    yield made("dilation", "dilation=[2,1], stride=[1,3]", dilation=(2, 1), stride=(1, 3))
    yield made("multiplier 3", "padding=[0,0,1,1]", multiplier=3, padding=(0, 1))
    yield made("5x2, no bias", "padding=[2,2,1,1]", bias=False, kernel=(5, 2), padding=(2, 1))


def separable():
    operands = {"x": numbers(2, 4, 6, 5), "d": numbers(4, 1, 3, 3, seed=1), "p": numbers(3, 4, 1, 1, seed=2), "b": numbers(3, seed=3)}
    yield case("separable convolution",
               "%h = depthwise_conv2d(@x, @d) {padding=[1,1,1,1], stride=[2,1]} %y = conv2d(%h, @p, @b) {bias=true}", operands,
               lambda x, d, p, b: F.conv2d(F.conv2d(x, d, None, (2, 1), 1, groups=4), p, b))


def transpose():
    def made(name, attributes, filters=2, groups=1, bias=True, kernel=(3, 3), **fields):
        operands = {"x": numbers(2, 4, 3, 2), "w": numbers(4, filters // groups, *kernel, seed=1)}
        if bias:
            operands["b"] = numbers(filters, seed=2)
        reads = ", ".join(f"@{key}" for key in operands)
        extra = (["bias=true"] if bias else []) + ([f"groups={groups}"] if groups > 1 else []) + [attributes]
        return case(f"conv2d_transpose, {name}", f"%y = conv2d_transpose({reads}) {{{', '.join(extra)}}}", operands,
                    lambda x, w, b=None: F.conv_transpose2d(x, w, b, groups=groups, **fields))

    yield made("stride 1", "stride=[1,1]")
    yield made("stride 2, kernel 2", "stride=[2,2]", kernel=(2, 2), stride=2)
    yield made("stride 2, output padding", "stride=[2,2], padding=[1,1,1,1], output_padding=[1,1]", stride=2, padding=1, output_padding=1)
    yield made("stride 3 by 2", "stride=[3,2], output_padding=[2,0], padding=[0,0,2,2]", bias=False, stride=(3, 2), output_padding=(2, 0),
               padding=(0, 2))
    yield made("groups", "stride=[2,1], padding=[1,1,0,0]", groups=2, stride=(2, 1), padding=(1, 0))
    yield made("one filter a channel", "stride=[2,2], padding=[1,1,1,1]", filters=4, groups=4, stride=2, padding=1)
    yield made("dilation", "dilation=[2,3], stride=[2,1]", kernel=(2, 3), dilation=(2, 3), stride=(2, 1))
    yield made("wide", "padding=[1,1,1,1]", filters=8, padding=1)
    operands = {"x": numbers(2, 3, 2, 3), "w": numbers(3, 4, 2, 2, seed=1), "b": numbers(4, seed=2)}
    yield case("conv2d_transpose and relu", "%t = conv2d_transpose(@x, @w, @b) {bias=true, stride=[2,2]} %y = relu(%t)", operands,
               lambda x, w, b: F.relu(F.conv_transpose2d(x, w, b, 2)))


def means():
    yield case("mean over steps", "%y = mean(@s)", {"s": numbers(2, 5, 3)}, lambda s: s.mean(1))
    yield case("mean over the features of steps", "%y = mean(@s) {axis=2}", {"s": numbers(2, 5, 3)}, lambda s: s.mean(2))


def pools():
    for name, padding, fields in (("cells inside", "1,1,1,1", {"padding": 1, "count_include_pad": False}),
                                  ("padded cells too", "1,1,1,1", {"padding": 1}),
                                  ("padded cells too, 3 by 2", "1,1,0,0", {"padding": (1, 0)})):
        counted = "" if "count_include_pad" in fields else ", count_include_pad=true"
        yield case(f"avg_pool2d, {name}", f"%y = avg_pool2d(@x) {{kernel=[3,2], stride=[2,1], padding=[{padding}]{counted}}}",
                   {"x": numbers(2, 2, 5, 4)}, lambda x, fields=fields: F.avg_pool2d(x, (3, 2), (2, 1), **fields))
    for source, size in (((2, 2, 7, 5), (3, 4)), ((1, 2, 5, 5), (7, 2)), ((1, 2, 6, 8), (3, 2)), ((2, 2, 5, 6), (1, 1))):
        x = {"x": numbers(*source)}
        text = f"{source[2]}x{source[3]} to {size[0]}x{size[1]}"
        yield case(f"adaptive_avg_pool2d, {text}", f"%y = adaptive_avg_pool2d(@x) {{size=[{size[0]},{size[1]}]}}", x,
                   lambda x: F.adaptive_avg_pool2d(x, size))
        yield case(f"adaptive_max_pool2d, {text}", f"%y = adaptive_max_pool2d(@x) {{size=[{size[0]},{size[1]}]}}", x,
                   lambda x: F.adaptive_max_pool2d(x, size))
    for extents in ((4, 5), (17, 16)):  # byte indices suffice, and do not
        x = {"x": numbers(1, 1, *extents)}
        yield case(f"global_max_pool2d, {extents[0]}x{extents[1]}", "%y = global_max_pool2d(@x)", x, lambda x: x.amax((2, 3), keepdim=True))


def upsample():
    x = {"x": numbers(1, 2, 3, 4)}

    def made(name, attributes, **fields):
        return case(f"upsample2d, {name}", f"%y = upsample2d(@x) {{{attributes}}}", x, lambda x: F.interpolate(x, **fields))

    yield made("nearest, twice", "factor=2", scale_factor=2)
    yield made("nearest, 3 by 1", "factor=[3,1]", scale_factor=(3, 1))
    yield made("nearest to 7x9", "size=[7,9]", size=(7, 9))
    yield made("bilinear, twice", "factor=2, mode=bilinear", scale_factor=2, mode="bilinear", align_corners=False)
    yield made("bilinear to 7x11", "size=[7,11], mode=bilinear", size=(7, 11), mode="bilinear", align_corners=False)
    yield made("bilinear to 3x2", "size=[3,2], mode=bilinear", size=(3, 2), mode="bilinear", align_corners=False)
    yield made("bilinear to 9x10, aligned corners", "size=[9,10], mode=bilinear, align_corners=true", size=(9, 10), mode="bilinear",
               align_corners=True)
    yield made("bilinear to 1x8, aligned corners", "size=[1,8], mode=bilinear, align_corners=true", size=(1, 8), mode="bilinear",
               align_corners=True)


def places():
    x = {"x": numbers(1, 6, 4, 5)}
    yield case("zero_pad2d", "%y = zero_pad2d(@x) {padding=[0,1,2,3]}", x, lambda x: F.pad(x, (2, 3, 0, 1)))
    operands = {"x": x["x"], "w": numbers(4, 6, 3, 3, seed=1)}
    yield case("zero_pad2d and conv2d", "%p = zero_pad2d(@x) {padding=[0,1,0,1]} %y = conv2d(%p, @w) {stride=[2,2]}", operands,
               lambda x, w: F.conv2d(F.pad(x, (0, 1, 0, 1)), w, stride=2))
    yield case("slice of channels", "%y = slice(@x) {axis=channels, begin=2, end=5}", x, lambda x: x[:, 2:5])
    yield case("slice of rows", "%y = slice(@x) {axis=height, begin=1, end=3}", x, lambda x: x[:, :, 1:3])
    yield case("slice of columns", "%y = slice(@x) {axis=width, begin=4}", x, lambda x: x[:, :, :, 4:])
    yield case("slice of a row", "%y = slice(@x) {begin=1, end=4}", {"x": numbers(3, 7)}, lambda x: x[:, 1:4])
    yield case("reshape of an image", "%y = reshape(@x) {shape=[3,-1,8]}", x, lambda x: x.reshape(1, 3, 5, 8))
    yield case("reshape to a row", "%y = reshape(@x) {shape=[-1]}", x, lambda x: x.reshape(1, -1))
    yield case("reshape of a row", "%y = reshape(@x) {shape=[2,3,4]}", {"x": numbers(3, 24)}, lambda x: x.reshape(3, 2, 3, 4))
    operands = {"x": x["x"], "w": numbers(3, 3, 3, 3, seed=1)}
    yield case("reshape and conv2d", "%r = reshape(@x) {shape=[3,5,8]} %y = conv2d(%r, @w) {padding=[1,1,1,1]}", operands,
               lambda x, w: F.conv2d(x.reshape(1, 3, 5, 8), w, padding=1))
    operands = {"x": x["x"], "w": numbers(120, 2, seed=1)}
    yield case("reshape and dense", "%r = reshape(@x) {shape=[120]} %y = dense(%r, @w)", operands, lambda x, w: x.reshape(1, -1) @ w)


def cases():
    for family in (depthwise, separable, transpose, means, pools, upsample, places):
        yield from family()
