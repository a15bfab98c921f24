"""Random networks as specs, for comparisons with ONNX Runtime: every operator that a forward graph can have, formulas
of users among them."""

import random

ACTIVATIONS = ["relu", "sigmoid", "tanh", "relu6", "selu", "silu", "hard_swish", "hard_sigmoid", "log_sigmoid",
               "leaky_relu: {negative_slope: 0.2}", "elu: {alpha: 0.7}", "gelu", "gelu: {approximation: tanh}",
               "softplus: {beta: 2}", "scale: {factor: 0.7, offset: 0.1}", "identity", "dropout: {rate: 0.3}"]
FORMULAS = {
    "swish_of": 'parameters: {beta: {type: real, default: 1.3, trainable: one}}, forward: "x * sigmoid(beta * x)"',
    "bent": 'parameters: {slope: {type: real, default: 0.25, trainable: per_channel}}, '
            'forward: "where(x > 0, x, slope * x)"',
    "soft_clip": 'forward: "where(abs(x) < 1, x, x / max(abs(x), 0.1) * (1 + log(abs(x) + 1)))"',
    "wave": 'forward: "expm1(min(x, 1)) - log1p(abs(x)) + erf(x) * floor(x + 0.5) - square(x) / (1 + x ** 2)"',
    "compared": 'forward: "(x >= 0) * sqrt(abs(x)) + (x == 0) - atanh(tanh(x) / 2) + pow(abs(x) + 1, 0.3)"',
}


class Images:
    """Layers behind each other, with branches, over one image."""

    def __init__(self, rng):
        self.rng, self.lines, self.channels = rng, [], rng.choice([1, 3])
        self.start, self.size = self.channels, rng.choice([12, 15, 16])
        self.height = self.width = self.size

    def pick(self, *things):
        return self.rng.choice(things)

    def window(self, kernel, most=2):
        """Fields of a sliding window that fits, which change the extents."""
        stride = self.pick(1, 1, most) if self.height > 4 else 1
        padding = self.pick("same", "valid", "1", "[0, 1, 1, 0]") if kernel > 1 else "valid"
        if min(self.height, self.width) < 2 * kernel:
            stride, padding = 1, "same"
        before, after = {"1": (2, 2), "[0, 1, 1, 0]": (1, 1)}.get(padding, (0, 0))
        for name, more in (("height", before), ("width", after)):
            extent = getattr(self, name)
            setattr(self, name, -(-extent // stride) if padding == "same" else (extent + more - kernel) // stride + 1)
        return f"kernel: {kernel}, stride: {stride}, padding: {padding}"

    def layer(self):
        rng = self.rng
        kind = rng.randrange(17)
        if kind < 3:
            filters, groups = rng.choice([4, 6, 8]), 1
            if self.channels % 2 == 0 and rng.random() < 0.4:
                groups = 2
            self.channels, bias = filters, rng.choice(["true", "false"])
            return f"conv2d: {{filters: {filters}, {self.window(rng.choice([1, 2, 3]))}, groups: {groups}, bias: {bias}}}"
        if kind == 3:
            self.channels *= 2
            return f"depthwise_conv2d: {{{self.window(3)}, multiplier: 2}}" if self.channels <= 16 else self.undo()
        if kind == 4:
            self.channels = 4
            self.height, self.width = 2 * self.height, 2 * self.width
            return "conv2d_transpose: {filters: 4, kernel: 2, stride: 2}" if self.height <= 32 else self.shrink()
        if kind == 5:
            return f"max_pool2d: {{{self.window(rng.choice([2, 3]))}}}"
        if kind == 6:
            return f"avg_pool2d: {{{self.window(rng.choice([2, 3]))}, count_include_pad: {self.pick('true', 'false')}}}"
        if kind == 7:
            old = self.height, self.width
            self.height, self.width = min(5, old[0]), min(4, old[1])
            return f"{self.pick('adaptive_avg_pool2d', 'adaptive_max_pool2d')}: {{size: [{self.height}, {self.width}]}}"
        if kind == 8:
            return self.pick("batch_norm", "layer_norm", "layer_norm: {axis: channels}", "layer_norm: {affine: false}")
        if kind == 9:
            groups = self.pick(1, self.channels, 2 if self.channels % 2 == 0 else 1)
            return f"group_norm: {{groups: {groups}, affine: {self.pick('true', 'false')}}}"
        if kind == 10:
            return f"local_response_norm: {{size: {self.pick(2, 3, 4, 5)}, alpha: 0.3, k: 2}}"
        if kind == 11:
            self.height, self.width = self.height + 1, self.width + 3
            return "zero_pad2d: {padding: [0, 1, 2, 1]}"
        if kind == 12:
            factor = self.pick("factor: 2", "size: [14, 17]")
            if max(self.height, self.width) > 16:
                return self.shrink()
            if factor == "factor: 2":
                self.height, self.width = 2 * self.height, 2 * self.width
            elif self.height > 14 or self.width > 17:
                return self.shrink()
            else:
                self.height, self.width = 14, 17
            mode = self.pick("nearest", "bilinear", "bilinear, align_corners: true")
            return f"upsample2d: {{{factor}, mode: {mode}}}"
        if kind == 13 and self.height > 3 and self.channels > 2:
            axis = self.pick("channels", "height", "width")
            if axis == "channels":
                self.channels -= 1
            else:
                setattr(self, axis, getattr(self, axis) - 1)
            return f"slice: {{axis: {axis}, begin: 1}}"
        if kind == 14:
            name = rng.choice(sorted(FORMULAS))
            return name
        if kind == 15:
            return self.pick("softmax", "log_softmax")
        return rng.choice(ACTIVATIONS)

    def undo(self):
        self.channels //= 2
        return "relu"

    def shrink(self):
        self.channels = 4
        self.height = self.width = 8
        return "adaptive_avg_pool2d: {size: [8, 8]}\n  - conv2d: {filters: 4, kernel: 1}"

    def joined(self):
        """Two branches that end alike, joined."""
        join = self.pick("add", "multiply", "concat", "elementwise", "gate")
        same = f"[conv2d: {{filters: {self.channels}, kernel: 3, padding: same}}, {self.rng.choice(ACTIVATIONS)}]"
        if join == "gate":
            gate = f"[global_avg_pool2d, conv2d: {{filters: {self.channels}, kernel: 1}}, sigmoid]"
            if self.pick(True, False):
                gate = f"[global_max_pool2d, flatten, dense: {{units: {self.channels}}}, sigmoid]"
            return f"multiply: [[], {gate}]"
        if join == "concat":
            self.channels *= 2
            return f"concat: [[], {same}]"
        if join == "elementwise":
            return ("elementwise: {expression: \"x0 * sigmoid(1.7 * x1) - max(x1, -x0)\", "
                    f"branches: [[], {same}]}}")
        return f"{join}: [[], {same}, {same}]"

    def spec(self, name):
        for _ in range(self.rng.randrange(4, 9)):
            self.lines.append(self.joined() if self.rng.random() < 0.2 else self.layer())
        end = self.pick("flatten", "[global]", "reshape: {shape: [-1]}")
        end = ["global_avg_pool2d", "flatten"] if end == "[global]" else [end]
        self.lines += [*end, "dense: {units: 5}", self.pick("softmax", "identity")]
        return model(name, f"input: {{shape: [{self.start}, {self.size}, {self.size}]}}", self.lines)


def sequence(rng, name):
    """Layers over steps and features, of one input or of three."""
    lines = []
    for _ in range(rng.randrange(2, 5)):
        lines.append(rng.choice(["dense: {units: 6}", "layer_norm", "batch_norm", "softmax: {axis: steps}", "bent",
                                 "group_norm: {groups: 2}", "slice: {axis: steps, end: -1}", "swish_of"]))
    lines = ["dense: {units: 6, name: a}"] + [line for line in lines if "end: -1" not in line]
    if rng.random() < 0.4:
        lines += ["concat: [[], [tanh]]", "dense: {units: 6}"]
    lines += [rng.choice(["mean: {axis: steps}", "flatten"]), "dense: {units: 4}", "softmax"]
    return model(name, "input: {shape: [7, 5]}", lines)


def several(rng, name):
    lines = ["conv2d: {filters: 4, kernel: 3}", rng.choice(ACTIVATIONS), "flatten: {name: seen}",
             "dense: {name: read, from: table, units: 6}", "one_hot: {name: known, from: word, classes: 9}",
             "concat: {from: [seen, read, known]}", "dense: {units: 4}", "softmax"]
    return model(name, "inputs:\n  image: {shape: [1, 8, 8]}\n  table: {shape: [7]}\n"
                       "  word: {shape: [2], dtype: i32, values: 9}", lines)


def tokens(rng, name):
    """Integers through embeddings and attention."""
    heads = rng.choice([1, 2, 4])
    shared = rng.choice([h for h in (1, 2, 4) if heads % h == 0])
    place = rng.choice(["position_embedding: {positions: 12}", "position_embedding: {form: sinusoidal}", "rms_norm", "layer_norm"])
    causal = rng.choice(["true", "false"])
    lines = ["embedding: {entries: 20, units: 16}", place]
    if rng.random() < 0.5:
        width = 16 // heads
        lines += [f"dense: {{units: {width * (heads + 2 * shared)}}}",
                  f"attention: {{heads: {heads}, key_value_heads: {shared}, causal: {causal}}}"]
    else:
        pairs = rng.choice(["halves", "neighbours"])
        lines += ["identity: {name: x}", f"dense: {{name: k, from: x, units: {16 // heads * shared}}}",
                  f"rotary_embedding: {{name: turned, heads: {shared}, pairs: {pairs}}}",
                  f"dense: {{name: v, from: x, units: {16 // heads * shared}}}",
                  f"rotary_embedding: {{name: q, from: x, heads: {heads}, pairs: {pairs}}}",
                  f"attention: {{from: [q, turned, v], heads: {heads}, key_value_heads: {shared}, causal: {causal}, scale: 0.7}}"]
    lines += ["identity: {name: y}", "dense: {name: gate, units: 9}", "dense: {name: up, from: y, units: 9}",
              "swiglu: {from: [gate, up]}", rng.choice(["first_step", "last_step", "mean: {axis: steps}"]), "dense: {units: 4}",
              "softmax"]
    return model(name, "inputs:\n  words: {shape: [8], axes: [step], dtype: i32, values: 20}", lines)


def model(name, inputs, lines):
    formulas = "".join(f"  {key}: {{{text}}}\n" for key, text in FORMULAS.items()
                       if any(key == line.split(":")[0] for line in lines))
    operators = f"operators:\n{formulas}" if formulas else ""
    layers = "".join(f"  - {line}\n" for line in lines)
    return f"kind: model\nname: {name}\n{inputs}\n{operators}layers:\n{layers}"


def random_network(number):
    rng = random.Random(number)
    name = f"random_{number}"
    kind = rng.random()
    if kind < 0.15:
        return sequence(rng, name)
    if kind < 0.22:
        return several(rng, name)
    if kind < 0.32:
        return tokens(rng, name)
    return Images(rng).spec(name)
