#!/usr/bin/env python3
"""Trains a model of ours with PyTorch on made-up data, or runs its inference, and prints samples per second as JSON.

The network is made from what `dtnnc summary MODEL --format json` prints, layer by layer, and must have the same number of trainable
parameters. PyTorch's best form on CPUs: channels last, one set of gradient tensors kept, subnormal numbers flushed; the caller sets
GLIBC_TUNABLES. The loss is cross entropy on logits, so that the last softmax is left out.

--inference FORM runs the same network without its loss, on one batch that stays where it is: `eager`, `jit` (traced, frozen, by
optimize_for_inference), `compile` (torch.compile, frozen), `onnxruntime` or `openvino` (exported from the same network).
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time

import torch
from torch import nn
from torch.nn import functional


def padding_of(layer):
    """Rows and columns on either side, which are alike in what is compared."""
    a = layer["attributes"]
    padding = a.get("padding", "valid")
    if padding == "valid":
        return 0, 0
    if padding == "same":
        assert a.get("stride", [1, 1]) == [1, 1] and all(k % 2 for k in a["kernel"]), layer["name"]
        return tuple(k // 2 for k in a["kernel"])
    if len(padding) == 4:
        assert padding[0] == padding[1] and padding[2] == padding[3], layer["name"]
        padding = padding[::2]
    return tuple(padding)


def conv(layer, channels):
    a = layer["attributes"]
    depthwise = layer["type"] == "depthwise_conv2d"
    return nn.Conv2d(channels, layer["output_shape"][0], a["kernel"], stride=a.get("stride", 1), padding=padding_of(layer),
                     dilation=a.get("dilation", 1), groups=channels if depthwise else a["groups"], bias=a["bias"])


def pool(layer, kind):
    a = layer["attributes"]
    return kind(a["kernel"], stride=a.get("stride", a["kernel"]), padding=padding_of(layer))


class Network(nn.Module):
    """The layers of a summary; values that nothing reads any more are let go."""

    def __init__(self, layers, shape):
        super().__init__()
        shapes = {"input": shape}
        self.steps = []
        modules = []
        if layers[-1]["type"] == "softmax":
            layers = layers[:-1]
        for layer in layers:
            source = shapes[layer["from"][0]]
            kind = layer["type"]
            if kind in ("conv2d", "depthwise_conv2d"):
                made = conv(layer, source[0])
            elif kind == "batch_norm":
                made = (nn.BatchNorm2d if len(source) == 3 else nn.BatchNorm1d)(source[0], eps=layer["attributes"]["epsilon"])
            elif kind == "dense":
                made = nn.Linear(source[0], layer["output_shape"][0], bias=layer["attributes"]["bias"])
            elif kind == "max_pool2d":
                made = pool(layer, nn.MaxPool2d)
            elif kind == "avg_pool2d":
                made = pool(layer, nn.AvgPool2d)
            else:
                made = {"relu": lambda: nn.ReLU(inplace=False), "relu6": nn.ReLU6, "silu": nn.SiLU, "sigmoid": nn.Sigmoid,
                        "hard_swish": nn.Hardswish, "flatten": nn.Flatten, "global_avg_pool2d": lambda: nn.AdaptiveAvgPool2d(1),
                        "dropout": lambda: nn.Dropout(layer["attributes"]["rate"]), "add": nn.Identity, "concat": nn.Identity,
                        "multiply": nn.Identity}[kind]()
            modules.append(made)
            self.steps.append((layer["name"], kind, layer["from"]))
            shapes[layer["name"]] = layer["output_shape"]
        self.made = nn.ModuleList(modules)
        self.last_reader = {}
        for number, (_, _, sources) in enumerate(self.steps):
            for source in sources:
                self.last_reader[source] = number

    def forward(self, value):
        values = {"input": value}
        for number, (name, kind, sources) in enumerate(self.steps):
            read = [values[source] for source in sources]
            if kind == "add":
                value = read[0]
                for other in read[1:]:
                    value = value + other
            elif kind == "concat":
                value = torch.cat(read, 1)
            elif kind == "multiply":
                value = read[0] * read[1]
            else:
                value = self.made[number](read[0])
            for source in sources:
                if self.last_reader[source] == number:
                    values.pop(source, None)
            values[name] = value
        return value


def training_step(model, source, classes, compiled):
    """A function that trains one batch."""
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    labels = torch.randint(0, classes, (source.shape[0],))
    run = torch.compile(model) if compiled else model

    def step():
        optimizer.zero_grad(set_to_none=False)
        loss = functional.cross_entropy(run(source), labels)
        loss.backward()
        optimizer.step()
        loss.item()

    return step


def exported(model, source, folder):
    """A file in ONNX's format of what the network exports to."""
    path = os.path.join(folder, "model.onnx")
    with contextlib.redirect_stdout(sys.stderr):  # standard output is for the figures
        torch.onnx.export(model.to(memory_format=torch.contiguous_format), (source,), path, verbose=False)
    return path


def openvino_step(model, source, threads):
    """A function that runs one batch by OpenVINO, which computes in float as the others do."""
    import openvino
    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    with tempfile.TemporaryDirectory() as folder:
        request = openvino.compile_model(exported(model, source, folder), "CPU", settings).create_infer_request()
    values = [source.contiguous().numpy()]
    return lambda: request.infer(values, share_inputs=True)


def onnxruntime_step(model, source, threads):
    """A function that runs one batch by ONNX Runtime."""
    import onnxruntime
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.inter_op_num_threads = 1
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    settings.add_session_config_entry("session.set_denormal_as_zero", "1")
    with tempfile.TemporaryDirectory() as folder:
        session = onnxruntime.InferenceSession(exported(model, source, folder), settings, providers=["CPUExecutionProvider"])
    values = {session.get_inputs()[0].name: source.contiguous().numpy()}
    return lambda: session.run(None, values)


EXPORTED = {"onnxruntime": onnxruntime_step, "openvino": openvino_step}


def inference_step(form, model, source, threads):
    """A function that runs one batch in this form."""
    model.eval()
    if form in EXPORTED:
        return EXPORTED[form](model, source, threads)
    run = model
    if form == "compile":
        from torch._inductor import config
        config.freezing = True
        run = torch.compile(model)
    if form == "jit":
        run = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(model, source)))
    return lambda: run(source)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("summary", help="what dtnnc summary --format json printed")
    parser.add_argument("--shape", required=True, help="of a sample: 3,224,224")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--compile", action="store_true", help="train by torch.compile")
    parser.add_argument("--inference", choices=["eager", "jit", "compile", *EXPORTED], metavar="FORM")
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(0)
    with open(options.summary, encoding="utf-8") as file:
        summary = json.load(file)
    shape = [int(extent) for extent in options.shape.split(",")]
    model = Network(summary["layers"], shape)
    assert sum(p.numel() for p in model.parameters()) == sum(layer["trainable"] for layer in summary["layers"])
    model = model.to(memory_format=torch.channels_last)
    source = torch.rand(options.batch, *shape)
    if len(shape) == 3:
        source = source.contiguous(memory_format=torch.channels_last)

    with torch.inference_mode() if options.inference else contextlib.nullcontext():
        if options.inference:
            step = inference_step(options.inference, model, source, options.threads)
        else:
            step = training_step(model, source, summary["layers"][-1]["output_shape"][0], options.compile)
        times = []
        for number in range(options.steps + 3):
            start = time.perf_counter()
            step()
            if number >= 3:
                times.append(time.perf_counter() - start)
    rates = [options.batch / t for t in times]
    print(json.dumps({"samples_per_second": {"median": statistics.median(rates), "min": min(rates), "max": max(rates)},
                      "threads": options.threads, "torch": torch.__version__}))


if __name__ == "__main__":
    main()
