#!/usr/bin/env python3
"""The convolutions of a network and what oneDNN's primitives take for each, through PyTorch; run by compare_convolutions.py.

Prints a JSON list: channels, size, filters, kernel, stride, padding, groups, batch, bias, first (no gradient of its source
is asked for), count (how often the network has it), and seconds of conv2d, conv2d_backward_weights, conv2d_backward_data:
the least of several runs, images channels last; of forward the better of weights as they are and weights that are
packed beforehand.
"""

import argparse
import json
import time

import torch

from torch_peer import Network

SECONDS = 0.15  # of a measurement, at least
RUNS = (4, 60)  # of a measurement, least and most


def least(run):
    run()
    best, began, runs = float("inf"), time.perf_counter(), 0
    while runs < RUNS[0] or (time.perf_counter() - began < SECONDS and runs < RUNS[1]):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
        runs += 1
    return best


def convolutions(model, source):
    """Distinct convolutions in their order, with how often each comes."""
    found = {}

    def look(module, inputs, _):
        image = inputs[0]
        key = (image.shape[1], image.shape[2], module.out_channels, module.kernel_size[0], module.stride[0], module.padding[0],
               module.groups, image.shape[0], module.bias is not None, image is source or not found)
        square = all(pair[0] == pair[1] for pair in (image.shape[2:], module.kernel_size, module.stride, module.padding))
        assert square and set(module.dilation) == {1}, "convolutions of squares alone"
        found[key] = found.get(key, 0) + 1

    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d):
            module.register_forward_hook(look)
    model.eval()
    model(source)
    names = ("channels", "size", "filters", "kernel", "stride", "padding", "groups", "batch", "bias", "first")
    return [dict(zip(names, key), count=count) for key, count in found.items()]


def measure(one):
    image = torch.rand(one["batch"], one["channels"], one["size"], one["size"]).to(memory_format=torch.channels_last)
    weights = torch.rand(one["filters"], one["channels"] // one["groups"], one["kernel"], one["kernel"])
    weights = weights.to(memory_format=torch.channels_last)
    bias = torch.rand(one["filters"]) if one["bias"] else None
    stride, padding, groups = [one["stride"]] * 2, [one["padding"]] * 2, one["groups"]
    result = torch.nn.functional.conv2d(image, weights, bias, stride, padding, 1, groups)
    gradient = torch.rand_like(result)
    forms = [lambda: torch.nn.functional.conv2d(image, weights, bias, stride, padding, 1, groups)]
    packed = torch._C._nn.mkldnn_reorder_conv2d_weight(weights.to_mkldnn(), padding, stride, [1, 1], groups, image.shape)
    forms.append(lambda: torch.ops.mkldnn._convolution_pointwise(image, packed, bias, padding, stride, [1, 1], groups,
                                                                 "none", [], ""))

    def backward(source, filters):
        return torch.ops.aten.convolution_backward(gradient, image, weights, [one["filters"]], stride, padding, [1, 1], False,
                                                   [0, 0], groups, [source, filters, filters and one["bias"]])

    times = {"conv2d": min(least(form) for form in forms), "conv2d_backward_weights": least(lambda: backward(False, True))}
    if not one["first"]:
        times["conv2d_backward_data"] = least(lambda: backward(True, False))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("summary", help="what dtnnc summary --format json printed")
    parser.add_argument("--shape", required=True, help="of a sample: 3,224,224")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    with open(options.summary, encoding="utf-8") as file:
        layers = json.load(file)["layers"]
    shape = [int(extent) for extent in options.shape.split(",")]
    with torch.inference_mode():
        found = convolutions(Network(layers, shape), torch.rand(options.batch, *shape))
        for one in found:
            one["seconds"] = measure(one)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
