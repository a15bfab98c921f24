#!/usr/bin/env python3
"""Trains a model of ours with PyTorch on made-up data, or runs its inference, and prints samples per second as JSON.

The network is made from what `dtnnc summary MODEL --format json` prints, layer by layer, and must have the same number of trainable
parameters. PyTorch's best form on CPUs: channels last, one set of gradient tensors kept, subnormal numbers flushed; the caller sets
GLIBC_TUNABLES. The loss is cross entropy on logits, so that the last softmax is left out.

--inference FORM runs the same network without its loss, on one batch that stays where it is: `eager`, `jit` (traced, frozen, by
optimize_for_inference), `compile` (torch.compile, frozen), `onnxruntime` or `openvino` (exported from the same network).
"""

import argparse
import collections
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


class Positions(nn.Module):
    """Learned rows, added to the steps."""

    def __init__(self, positions, units):
        super().__init__()
        self.rows = nn.Parameter(0.02 * torch.randn(positions, units))

    def forward(self, value):
        return value + self.rows[:value.shape[1]]


class ClassToken(nn.Module):
    def __init__(self, units):
        super().__init__()
        self.token = nn.Parameter(torch.zeros(units))

    def forward(self, value):
        return torch.cat([self.token.expand(value.shape[0], 1, -1), value], 1)


class Attention(nn.Module):
    """By PyTorch's own choice among its attentions for CPUs."""

    def __init__(self, attributes):
        super().__init__()
        self.heads = attributes["heads"]
        self.shared = attributes.get("key_value_heads", self.heads)
        self.causal, self.dropout = attributes["causal"], attributes["dropout"]

    def forward(self, *sources):
        if len(sources) == 1:
            width = sources[0].shape[-1] // (self.heads + 2 * self.shared)
            sources = sources[0].split([self.heads * width, self.shared * width, self.shared * width], -1)
        q, k, v = (x.unflatten(-1, (heads, -1)).transpose(1, 2)
                   for x, heads in zip(sources, (self.heads, self.shared, self.shared)))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal, enable_gqa=self.heads != self.shared,
                                                    dropout_p=self.dropout if self.training else 0.0)
        return y.transpose(1, 2).flatten(2)


class Recurrent(nn.Module):
    """PyTorch's layer; it has a bias for the state, too, where ours needs none."""

    def __init__(self, kind, inputs, units, reverse):
        super().__init__()
        self.layer = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}[kind](inputs, units, batch_first=True)
        self.reverse = reverse
        self.more = {"rnn": 1, "lstm": 4, "gru": 2}[kind] * units

    def forward(self, value):
        value = value.flip(1) if self.reverse else value
        value = self.layer(value)[0]
        return value.flip(1) if self.reverse else value


class Call(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *values):
        return self.function(*values)


def step_layer(layer, source, made):
    """A layer over sequences; None: it is none. `made` has those before, by name."""
    a, kind = layer["attributes"], layer["type"]
    if kind == "embedding":
        return nn.Embedding(a["entries"], a["units"])
    if kind == "position_embedding" and a["form"] == "learned":
        return Positions(layer["weights_shape"][0], source[-1])
    if kind in ("layer_norm", "rms_norm"):
        assert len(source) == 1 or a["axis"] == "features", layer["name"]
        return (nn.LayerNorm if kind == "layer_norm" else nn.RMSNorm)(source[-1], eps=a["epsilon"], elementwise_affine=a["affine"])
    if kind == "dense" and "share" in a:
        shared = made[a["share"]]
        return Call(lambda x: functional.linear(x, shared.weight))
    if kind in ("rnn", "lstm", "gru"):
        return Recurrent(kind, source[-1], a["units"], a["reversed"])
    return {"attention": lambda: Attention(a), "class_token": lambda: ClassToken(source[-1]),
            "gelu": lambda: nn.GELU(approximate=a["approximation"]), "tanh": nn.Tanh,
            "pixels_to_steps": lambda: Call(lambda x: x.flatten(2).transpose(1, 2)),
            "first_step": lambda: Call(lambda x: x[:, 0]), "last_step": lambda: Call(lambda x: x[:, -1]),
            "mean": lambda: Call(lambda x: x.mean(1)), "transpose": lambda: Call(lambda x: x.transpose(1, 2)),
            "swiglu": lambda: Call(lambda x, y: functional.silu(x) * y)}.get(kind, lambda: None)()


class Network(nn.Module):
    """The layers of a summary; values that nothing reads any more are let go."""

    def __init__(self, layers, shape):
        super().__init__()
        shapes, named = collections.defaultdict(lambda: shape), {}  # inputs may have any name
        self.steps = []
        modules = []
        if layers[-1]["type"] == "softmax":
            layers = layers[:-1]
        for layer in layers:
            source = shapes[layer["from"][0]]
            kind = layer["type"]
            if (made := step_layer(layer, source, named)) is not None:
                pass
            elif kind in ("conv2d", "depthwise_conv2d"):
                made = conv(layer, source[0])
            elif kind == "batch_norm":
                made = (nn.BatchNorm2d if len(source) == 3 else nn.BatchNorm1d)(source[0], eps=layer["attributes"]["epsilon"])
            elif kind == "dense":
                made = nn.Linear(source[-1], layer["output_shape"][-1], bias=layer["attributes"]["bias"])
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
            named[layer["name"]] = made
            axis = -1 if layer["attributes"].get("axis") == "features" else 1
            self.steps.append((layer["name"], (kind, axis), layer["from"]))
            shapes[layer["name"]] = layer["output_shape"]
        self.made = nn.ModuleList(modules)
        self.last_reader = {}
        for number, (_, _, sources) in enumerate(self.steps):
            for source in sources:
                self.last_reader[source] = number

    def surplus(self):
        """Parameters that our network does without."""
        return sum(module.more for module in self.made if isinstance(module, Recurrent))

    def forward(self, value):
        values = {self.steps[0][2][0]: value}
        for number, (name, (kind, axis), sources) in enumerate(self.steps):
            read = [values[source] for source in sources]
            if kind == "add":
                value = read[0]
                for other in read[1:]:
                    value = value + other
            elif kind == "concat":
                value = torch.cat(read, axis)
            elif kind == "multiply":
                value = read[0] * read[1]
            else:
                value = self.made[number](*read)
            for source in sources:
                if self.last_reader[source] == number:
                    values.pop(source, None)
            values[name] = value
        return value


def training_step(model, source, result, compiled):
    """A function that trains one batch; of predictions [steps, classes] each step has a label."""
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    labels = torch.randint(0, result[-1] if len(result) == 2 else result[0], (source.shape[0] * (result[0] if len(result) == 2 else 1),))
    run = torch.compile(model) if compiled else model

    def step():
        optimizer.zero_grad(set_to_none=False)
        given = run(source)
        loss = functional.cross_entropy(given.flatten(0, 1) if len(result) == 2 else given, labels)
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
    parser.add_argument("--values", type=int, default=0, help="of samples of integers: how many there are")
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
    wanted = sum(layer["trainable"] for layer in summary["layers"])
    assert sum(p.numel() for p in model.parameters()) - model.surplus() == wanted
    model = model.to(memory_format=torch.channels_last)
    source = torch.randint(options.values, (options.batch, *shape)) if options.values else torch.rand(options.batch, *shape)
    if len(shape) == 3:
        source = source.contiguous(memory_format=torch.channels_last)

    with torch.inference_mode() if options.inference else contextlib.nullcontext():
        if options.inference:
            step = inference_step(options.inference, model, source, options.threads)
        else:
            step = training_step(model, source, summary["layers"][-1]["output_shape"], options.compile)
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
