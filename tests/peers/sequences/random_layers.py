"""Random layers over sequences, as data.

A layer is a map of its `op`, its fields, and `branches`, lists of layers that all read the layer before. Every layer that has
parameters, or that another one reads, has a name. torch_sequences.py computes what they mean."""

ACTIVATIONS = [{"op": op} for op in ("relu", "tanh", "sigmoid", "silu", "gelu", "softplus", "elu", "selu", "leaky_relu",
                                     "hard_swish", "log_sigmoid", "identity")]
ACTIVATIONS += [{"op": "gelu", "approximation": "tanh"}, {"op": "scale", "factor": 0.7, "offset": 0.1},
                {"op": "dropout", "rate": 0}, {"op": "elementwise", "expression": "x * sigmoid(1.7 * x) - max(x, 0) / 3"}]
OPERATORS = {
    "swish_of": {"parameters": {"beta": {"type": "real", "default": 1.3, "trainable": "one"}},
                 "forward": "x * sigmoid(beta * x)"},
    "bent": {"parameters": {"slope": {"type": "real", "default": 0.25, "trainable": "per_channel"}},
             "forward": "where(x > 0, x, slope * x)"},
}
JOINING = "x0 * sigmoid(1.7 * x1) - tanh(x1 + x0)"


def sides(padding, steps, kernel, stride, dilation):
    """Zeros before the first step and behind the last."""
    reach = dilation * (kernel - 1) + 1
    if padding == "same":
        total = max((-(-steps // stride) - 1) * stride + reach - steps, 0)
        return total // 2, total - total // 2
    if isinstance(padding, str):
        return (reach - 1 if padding == "causal" else 0), 0
    return (padding, padding) if isinstance(padding, int) else tuple(padding)


class Layers:
    """Layers behind each other; each part has the shape [steps, features] of what it reads and says that of what it gives."""

    def __init__(self, rng, large):
        self.most_steps, self.most_features, self.most_units = (90, 100, 40) if large else (14, 24, 12)
        self.rng, self.count, self.depth, self.scope = rng, 0, 0, 0
        self.blocks, self.owners = {}, []
        self.kinds = [(self.dense, 4), (self.norm, 3), (self.activation, 3), (self.softmax, 1), (self.attention, 4),
                      (self.attention_of_three, 3), (self.attention_of_branches, 1), (self.other_attention, 1), (self.joined, 4),
                      (self.gate, 1), (self.feed_forward, 2), (self.cut, 2), (self.class_token, 1), (self.turned, 1),
                      (self.recurrent, 3), (self.both_ways, 2), (self.positions, 2), (self.reshaped, 1), (self.repeat, 2),
                      (self.block, 2), (self.shared, 4), (self.residual, 2), (self.own_operator, 1), (self.read_again, 1),
                      (self.convolution, 4), (self.pool, 2), (self.product, 2)]

    def pick(self, *things):
        return self.rng.choice(things)

    def flag(self, share=0.5):
        return self.rng.random() < share

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def units(self, most=None):
        return self.rng.randrange(1 if self.flag(0.1) else 2, (most or self.most_units) + 1)

    def own(self, op, shape, **fields):
        """A layer with parameters, which others may share."""
        layer = {"op": op, "name": self.name(op[0]), **fields}
        self.owners.append((dict(layer), shape))
        return layer

    def some(self, shape, least=1, most=3):
        """A few parts behind each other."""
        lines = []
        for _ in range(self.rng.randrange(least, most + 1)):
            more, shape = self.part(shape)
            lines += more
        return lines, shape

    def part(self, shape):
        kinds, weights = zip(*self.kinds)
        for _ in range(20):
            owners, blocks = list(self.owners), {name: (list(uses), *rest) for name, (uses, *rest) in self.blocks.items()}
            made = self.rng.choices(kinds, weights)[0](shape)
            if made and made[1][0] <= self.most_steps and made[1][1] <= self.most_features:
                return made
            self.owners, self.blocks = owners, blocks
        return [{"op": "tanh"}], shape

    def nested(self, shape, most=2):
        """Layers of a branch, a block or a round, which give the shape that they read; not too deep."""
        if self.depth > 2:
            return [self.own("dense", shape, units=shape[1])]
        self.depth += 1
        lines, after = self.some(shape, 1, most)
        if after[0] != shape[0]:
            lines += [{"op": "transpose"}, self.own("dense", after[::-1], units=shape[0]), {"op": "transpose"}]
        if after[1] != shape[1]:
            lines.append(self.own("dense", (shape[0], after[1]), units=shape[1], bias=self.flag()))
        self.depth -= 1
        return lines

    def apart(self, shape):
        """Layers of a block or a repeat, which have names of their own there."""
        known, self.owners = self.owners, []
        self.scope += 1
        lines = self.nested(shape, 3)
        self.scope -= 1
        inside, self.owners = self.owners, known
        return lines, inside

    def dense(self, shape, units=None):
        units = units or self.units()
        fields = {} if self.flag() else {"bias": self.flag()}
        return [self.own("dense", shape, units=units, **fields)], (shape[0], units)

    def norm(self, shape):
        op = self.pick("layer_norm", "layer_norm", "rms_norm", "rms_norm", "batch_norm", "group_norm")
        fields = {} if self.flag() else {"epsilon": self.pick(1.0e-3, 1.0e-6, 0.1)}
        if op == "batch_norm":
            fields["momentum"] = self.pick(0.9, 0.6)
        elif self.flag(0.3):
            fields["affine"] = False
        if op in ("layer_norm", "rms_norm") and self.flag(0.3):
            fields["axis"] = self.pick("features", "channels")
        if op == "group_norm":
            fields["groups"] = self.rng.choice([n for n in (1, 2, 3, shape[1]) if shape[1] % n == 0])
        return [self.own(op, shape, **fields)], shape

    def activation(self, shape):
        return [dict(self.rng.choice(ACTIVATIONS))], shape

    def own_operator(self, shape):
        return [self.own(self.pick(*OPERATORS), shape)], shape

    def softmax(self, shape):
        return [{"op": self.pick("softmax", "softmax", "log_softmax"), "axis": self.pick("steps", "features", "channels")}], shape

    def heads(self):
        heads = self.pick(1, 2, 3, 4)
        shared = self.rng.choice([n for n in (1, 2, 3, 4) if heads % n == 0])
        return heads, shared, self.rng.randrange(1, 1 + self.most_units // 3)

    def how(self, heads, shared, same=True):
        """Fields of attention."""
        fields = {"heads": heads}
        if shared != heads or self.flag(0.2):
            fields["key_value_heads"] = shared
        if self.flag(0.6):
            fields["causal"] = same and self.flag(0.8)
        if self.flag(0.2):
            fields["scale"] = self.pick(0.5, 1.3)
        if self.flag(0.1):
            fields["dropout"] = 0
        return fields

    def attention(self, shape):
        """Of queries, keys and values side by side."""
        heads, shared, width = self.heads()
        line, _ = self.dense(shape, width * (heads + 2 * shared))
        return line + [{"op": "attention", **self.how(heads, shared)}], (shape[0], heads * width)

    def attention_of_three(self, shape):
        """Of three layers, some of them turned."""
        heads, shared, width = self.heads()
        x = self.name("x")
        lines, read = [{"op": "identity", "name": x}], []
        pairs = {} if self.flag() else {"pairs": self.pick("halves", "neighbours"), "base": self.pick(10000, 50)}
        turn = width % 2 == 0 and self.flag(0.7)
        for parts in (heads, shared, shared):
            layer = self.dense(shape, parts * width)[0][0]
            lines.append({**layer, "from": x})
            if turn and len(read) < 2:
                lines.append({"op": "rotary_embedding", "name": self.name("r"), "heads": parts, **pairs})
            read.append(lines[-1]["name"])
        return lines + [{"op": "attention", "from": read, **self.how(heads, shared)}], (shape[0], heads * width)

    def attention_of_branches(self, shape):
        """The layer itself asks."""
        heads = self.rng.choice([n for n in (1, 2, 3, 4) if shape[1] % n == 0])
        keys = [] if self.flag(0.3) else self.nested(shape, 1)
        return [{"op": "attention", **self.how(heads, heads), "branches": [[], keys, self.nested(shape, 1)]}], shape

    def other_attention(self, shape):
        """Of keys and values that are other steps than the queries are."""
        heads, shared, width = self.heads()
        x, parts, read = self.name("x"), (heads, shared, shared), []
        end = self.rng.randrange(1, shape[0] + 1)
        lines = [{"op": "identity", "name": x}]
        lines.append({"op": "slice", "name": x + "s", "axis": "steps", "end": end})
        for source, count in zip((x, x + "s", x + "s"), parts):
            lines.append({**self.dense(shape, count * width)[0][0], "from": source})
            read.append(lines[-1]["name"])
        return lines + [{"op": "attention", "from": read, **self.how(heads, shared, same=False)}], (shape[0], heads * width)

    def joined(self, shape):
        """Branches that give one shape, or of a concat extents that differ along its axis."""
        join = self.pick("add", "add", "multiply", "concat", "concat", "elementwise", "swiglu")
        if join == "concat":
            return self.concatenated(shape)
        branches = [[] if self.flag(0.3) else self.nested(shape) for _ in range(2)]
        if join == "add" and self.flag(0.3):
            branches.append(self.nested(shape))
        if not any(branches):
            branches[1] = [dict(self.rng.choice(ACTIVATIONS))]
        fields = {"expression": JOINING} if join == "elementwise" else {}
        return [{"op": join, **fields, "branches": branches}], shape

    def concatenated(self, shape):
        axis = self.pick("features", "steps", "channels")
        branches, extents = [[]] if self.flag() else [self.nested(shape)], [shape]
        for _ in range(self.pick(1, 1, 2)):
            branch, last = self.nested(shape), shape
            if axis != "steps" and self.flag():
                more, last = self.dense(shape)
                branch += more
            elif axis == "steps" and self.flag() and shape[0] > 1:
                branch, last = branch + [{"op": "slice", "axis": "steps", "begin": 1}], (shape[0] - 1, shape[1])
            branches.append(branch)
            extents.append(last)
        place = 0 if axis == "steps" else 1
        after = list(shape)
        after[place] = sum(extent[place] for extent in extents)
        return [{"op": "concat", "axis": axis, "branches": branches}], tuple(after)

    def gate(self, shape):
        """A number for each feature, of all steps, times the features of every step."""
        row = self.pick("mean", "first_step", "last_step")
        branch = [{"op": row}, self.own("dense", (1, shape[1]), units=shape[1]), {"op": "sigmoid"}]
        return [{"op": "multiply", "branches": self.pick([[], branch], [branch, []])}], shape

    def feed_forward(self, shape):
        units = self.units()
        gate, value = self.dense(shape, units)[0], self.dense(shape, units)[0]
        return [{"op": "swiglu", "branches": [gate, value]}, self.own("dense", (shape[0], units), units=shape[1])], shape

    def residual(self, shape):
        """Added to what it reads, behind a norm or not."""
        branch = (self.norm(shape)[0] if self.flag() else []) + self.nested(shape)
        return [{"op": "add", "branches": self.pick([branch, []], [[], branch])}], shape

    def windows(self, shape, most=4):
        """Fields of windows along the steps, and how many there are; none where they do not fit."""
        steps, kernel = shape[0], self.rng.randrange(1, most + 1)
        stride, dilation = self.pick(1, 1, 1, 2, 3), self.pick(1, 1, 2, 3)
        padding = self.pick("valid", "same", "causal", "causal", 1, [2, 0])
        before, behind = sides(padding, steps, kernel, stride, dilation)
        count = (steps + before + behind - dilation * (kernel - 1) - 1) // stride + 1
        fields = {"kernel": kernel, "stride": stride, "dilation": dilation, "padding": padding}
        return (fields, count) if count > 0 else None

    def convolution(self, shape):
        made = self.windows(shape)
        if not made:
            return None
        fields, steps = made
        if not self.flag(0.7):
            fields["bias"] = False
        if self.flag(0.3):
            multiplier = self.pick(1, 1, 2)
            layer = {"op": "depthwise_conv1d", "name": self.name("d"), **fields, "multiplier": multiplier}
            return [layer], (steps, shape[1] * multiplier)
        groups = self.rng.choice([n for n in (1, 1, 2, 3) if shape[1] % n == 0])
        filters = groups * self.units(max(2, self.most_units // groups))
        lines = [{"op": "conv1d", "name": self.name("w"), **fields, "filters": filters, "groups": groups}]
        shape = steps, filters
        if self.flag(0.4):  # what fusions look for
            lines.append(self.own("batch_norm", shape))
        return lines + ([{"op": "relu"}] if self.flag() else []), shape

    def pool(self, shape):
        made = self.windows(shape, 3)
        if not made:
            return None
        fields, steps = made
        kernel, dilation = fields["kernel"], fields["dilation"]
        average = self.flag()
        if average:
            dilation = 1
            del fields["dilation"]
        before, behind = sides(fields["padding"], shape[0], kernel, fields["stride"], dilation)
        steps = (shape[0] + before + behind - dilation * (kernel - 1) - 1) // fields["stride"] + 1
        inside = [any(0 <= t * fields["stride"] + k * dilation - before < shape[0] for k in range(kernel)) for t in range(steps)]
        if steps < 1 or not all(inside):  # refused: a window of padding has no result
            return None
        if average:
            return [{"op": "avg_pool1d", **fields, "count_include_pad": self.flag()}], (steps, shape[1])
        return [{"op": "max_pool1d", **fields}], (steps, shape[1])

    def product(self, shape):
        """Of two branches: a number for each pair of steps, or of features."""
        first = self.flag()
        summed = shape[0] if first else shape[1]
        turned = {"transpose_first": True} if first else {"transpose_second": True}
        branches = [self.nested(shape), [] if self.flag() else self.nested(shape)]
        made = shape[::-1][:1] * 2 if first else shape[:1] * 2
        return [{"op": "matmul", **turned, "scale": round(summed ** -0.5, 3), "branches": branches}], made

    def cut(self, shape):
        axis = self.pick("steps", "features", "channels")
        place = 0 if axis == "steps" else 1
        begin = self.rng.randrange(0, shape[place])
        end = self.rng.randrange(begin + 1, shape[place] + 1)
        if end - begin < shape[place] // 3:
            return None
        after = list(shape)
        after[place] = end - begin
        fields = {"begin": begin} if begin or self.flag() else {}
        return [{"op": "slice", "axis": axis, **fields, **({"end": end} if end < shape[place] else {})}], tuple(after)

    def class_token(self, shape):
        return [self.own("class_token", shape)], (shape[0] + 1, shape[1])

    def turned(self, shape):
        """Steps mixed as features are, or features that stay steps."""
        if self.flag(0.3):
            return [{"op": "transpose"}], shape[::-1]
        return [{"op": "transpose"}, *self.dense(shape[::-1], shape[0])[0], {"op": "transpose"}], shape

    def cell(self, shape, units):
        fields = {"reversed": self.flag(0.7)} if self.flag() else {}
        return self.own(self.pick("lstm", "gru", "rnn"), shape, units=units, **fields)

    def recurrent(self, shape):
        if shape[0] == 1:  # refused: there is no step to go to
            return None
        units = self.units()
        return [self.cell(shape, units)], (shape[0], units)

    def both_ways(self, shape):
        if shape[0] == 1:
            return None
        units, other = self.units(), self.units()
        there, back = self.cell(shape, units), self.cell(shape, other)
        if self.flag(0.8):
            there["reversed"], back["reversed"] = False, True
        return [{"op": "concat", "axis": "features", "branches": [[there], [back]]}], (shape[0], units + other)

    def positions(self, shape):
        if self.flag():
            fields = {"base": 100} if self.flag() else {}
            return [{"op": "position_embedding", "form": "sinusoidal", **fields}], shape
        fields = {"positions": shape[0] + self.pick(0, 1, 5)} if self.flag() else {}
        return [self.own("position_embedding", shape, **fields)], shape

    def reshaped(self, shape):
        numbers = shape[0] * shape[1]
        steps = self.rng.choice([n for n in range(1, 15) if numbers % n == 0])
        wanted = [steps, numbers // steps]
        lines = [{"op": "flatten"}] if self.flag(0.3) else []
        return lines + [{"op": "reshape", "shape": self.pick(wanted, [steps, -1], [-1, wanted[1]])}], tuple(wanted)

    def repeat(self, shape):
        if self.depth > 1:
            return None
        lines, inside = self.apart(shape)
        lines = lines if self.flag() else [{"op": "add", "branches": [lines, []]}]
        fields = {"shared": True} if self.flag() else {}
        name = self.name("turn")
        if self.scope == 0:
            self.owners += [({**layer, "name": f"{name}_1/{layer['name']}"}, of) for layer, of in inside if "share" not in layer]
        return [{"op": "repeat", "name": name, "times": self.pick(1, 2, 2, 3), **fields, "layers": lines}], shape

    def block(self, shape):
        """A block used for the first time, or again, with the parameters of an earlier use or its own."""
        if self.scope:
            return None
        known = [(name, uses) for name, (uses, of, _) in self.blocks.items() if of == shape]
        use = self.name("use")
        if not known or self.flag(0.2):
            block, (lines, inside) = self.name("block"), self.apart(shape)
            self.owners += [({**layer, "name": f"{use}/{layer['name']}"}, of) for layer, of in inside if "share" not in layer]
            self.blocks[block] = ([use], shape, lines)
            return [{"op": block, "name": use}], shape
        block, uses = self.rng.choice(known)
        fields = {"share": self.rng.choice(uses)} if self.flag(0.7) else {}
        uses.append(use)
        return [{"op": block, "name": use, **fields}], shape

    def shared(self, shape):
        """A layer with the parameters of an earlier one of this scope, as they are or the other way round."""
        choices = []
        for layer, (steps, features) in self.owners:
            if not layer.get("affine", True):
                continue
            fields = {**layer, "name": self.name("again"), "share": layer["name"]}
            if layer["op"] == "dense" and layer["units"] == features and self.flag(0.5):
                fields["bias"] = self.flag()
            if layer["op"] in ("embedding", "dense") and shape[1] == layer["units"] and self.flag(0.8):
                reads = layer["entries"] if layer["op"] == "embedding" else features
                if reads != shape[1]:
                    other = {"op": "dense", "name": fields["name"], "share": layer["name"], "units": reads, "bias": self.flag()}
                    choices.append((other, reads))
            if layer["op"] in ("lstm", "gru", "rnn") and shape[0] == 1:
                continue
            if layer["op"] != "embedding" and features == shape[1]:
                if layer["op"] == "position_embedding" and steps != shape[0] and layer.get("positions", steps) < shape[0]:
                    continue
                if layer["op"] == "position_embedding":
                    fields["positions"] = layer.get("positions", steps)
                if "reversed" in fields and self.flag():
                    fields["reversed"] = not fields["reversed"]
                choices.append((fields, layer.get("units", features)))
        if not choices:
            return None
        layer, after = self.rng.choice(choices)
        self.owners.append((dict(layer), shape))
        return [layer], (shape[0] + (layer["op"] == "class_token"), after)

    def read_again(self, shape):
        """Layers that several read, from far and near."""
        x, y, z = self.name("x"), self.name("y"), self.name("z")
        lines = [{"op": "identity", "name": x}, *self.nested(shape), {"op": "identity", "name": y}, *self.nested(shape)]
        lines.append({"op": "tanh", "name": z})
        join = self.pick("add", "multiply", "elementwise", "swiglu")
        if join == "swiglu":
            lines += [{"op": "add", "name": z + "x", "from": [x, z]}, {"op": "swiglu", "from": [z + "x", y]}]
            return lines, shape
        fields = {"expression": "x0 * tanh(x1) + x2"} if join == "elementwise" else {}
        return lines + [{"op": join, "from": self.pick([x, y, z], [z, x, y], [y, z, y], [z, x, z]), **fields}], shape
