"""What PyTorch makes of a network of random_sequences.py, in double: predictions, losses of the steps of a training, weights."""

import fnmatch

import numpy
import torch
from random_layers import sides
from torch.nn import functional as F

PLAIN = {"relu": F.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "silu": F.silu, "softplus": F.softplus, "elu": F.elu,
         "selu": F.selu, "hard_swish": F.hardswish, "log_sigmoid": F.logsigmoid, "identity": lambda x: x, "dropout": lambda x: x,
         "mean": lambda x: x.mean(1), "first_step": lambda x: x[:, 0], "last_step": lambda x: x[:, -1], "global_max_pool1d": lambda x: x.amax(1),
         "transpose": lambda x: x.transpose(1, 2), "flatten": lambda x: x.flatten(1)}
EXPRESSIONS = {"x * sigmoid(1.7 * x) - max(x, 0) / 3": lambda x: x * torch.sigmoid(1.7 * x) - F.relu(x) / 3,
               "x0 * sigmoid(1.7 * x1) - tanh(x1 + x0)": lambda x, y: x * torch.sigmoid(1.7 * y) - torch.tanh(x + y),
               "x0 * tanh(x1) + x2": lambda x, y, z: x * torch.tanh(y) + z}


def by_head(x, heads):
    """[N, T, heads * width] as [N, heads, T, width]."""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def joined(x):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


def turned(x, heads, base=10000.0, neighbours=False):
    """Rotary embedding, of pairs as Llama has them or as the paper does."""
    x = by_head(x, heads)
    half = x.shape[-1] // 2
    angles = torch.outer(torch.arange(x.shape[2], dtype=x.dtype), base ** (-torch.arange(half, dtype=x.dtype) / half))
    a, b = (x[..., 0::2], x[..., 1::2]) if neighbours else (x[..., :half], x[..., half:])
    pair = a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()
    return joined(torch.stack(pair, dim=-1).flatten(-2) if neighbours else torch.cat(pair, dim=-1))


def waves(steps, features, base):
    """Sines and cosines of the steps."""
    f = torch.arange(features, dtype=torch.float64)
    angles = torch.arange(steps, dtype=torch.float64)[:, None] / base ** (2 * torch.div(f, 2, rounding_mode="floor") / features)
    return torch.where(f % 2 == 0, angles.sin(), angles.cos())


def attention(sources, layer):
    heads = layer["heads"]
    shared = layer.get("key_value_heads", heads)
    if len(sources) == 1:
        width = sources[0].shape[-1] // (heads + 2 * shared)
        sources = sources[0].split([heads * width, shared * width, shared * width], dim=-1)
    q, k, v = by_head(sources[0], heads), by_head(sources[1], shared), by_head(sources[2], shared)
    k, v = (part.repeat_interleave(heads // shared, dim=1) for part in (k, v))
    scores = q @ k.transpose(-1, -2) * layer.get("scale", q.shape[-1] ** -0.5)
    if layer.get("causal"):
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -torch.inf)
    return joined(torch.softmax(scores, dim=-1) @ v)


class Model:
    """A network of random layers over weights by name. `owner` says whose parameters a layer uses."""

    def __init__(self, network, weights, statistics):
        self.network, self.weights, self.statistics = network, weights, statistics
        self.owner, self.values, self.used = {}, {}, set()
        self.tables = {}  # of dense layers and embeddings: their weights as they use them
        self.training, self.before_last = False, None

    def __call__(self, inputs, training):
        self.values, self.training, self.owner = dict(inputs), training, {}
        *layers, last = self.network.layers
        self.before_last = self.behind(layers, next(iter(inputs.values())), "", "")
        return self.behind([last], self.before_last, "", "")

    def parameter(self, name, kind, statistics=False):
        """Its own, or that of the layer that it shares with, or of the one that that one shares with."""
        while not statistics and f"{name}.{kind}" not in self.weights:
            name = self.owner[name]
        self.used.add(f"{name}.{kind}")
        return (self.statistics if statistics else self.weights)[f"{name}.{kind}"]

    def found(self, name, prefix):
        """A value of this scope, or of one around it."""
        while prefix and prefix + name not in self.values:
            prefix = prefix[:prefix[:-1].rfind("/") + 1]
        return self.values[prefix + name]

    def behind(self, layers, x, prefix, twin):
        """Layers behind each other. `twin`: the scope whose layers share their parameters with these, if any."""
        for layer in layers:
            x = self.layer(layer, x, prefix, twin)
            if "name" in layer:
                self.values[prefix + layer["name"]] = x
        return x

    def layer(self, layer, x, prefix, twin):
        op, name = layer["op"], prefix + layer.get("name", "")
        if op == "repeat":
            for round_ in range(1, layer["times"] + 1):
                of = f"{name}_1/" if layer.get("shared") and round_ > 1 else f"{twin}{layer['name']}_{round_}/" if twin else ""
                x = self.behind(layer["layers"], x, f"{name}_{round_}/", of)
            return x
        if op in self.network.blocks:
            of = layer["share"] + "/" if "share" in layer else ""
            return self.behind(self.network.blocks[op], x, name + "/", of)
        if "share" in layer:
            self.owner[name] = prefix + layer["share"]
        elif twin and "name" in layer:
            self.owner[name] = twin + layer["name"]
        sources = [x]
        if "branches" in layer:
            sources = [self.behind(branch, x, prefix, twin) for branch in layer["branches"]]
        elif "from" in layer:
            names = layer["from"] if isinstance(layer["from"], list) else [layer["from"]]
            sources = [self.found(source, prefix) for source in names]
        return self.computed(op, layer, name, sources)

    def computed(self, op, layer, name, sources):
        x = sources[0]
        if op in PLAIN:
            return PLAIN[op](x)
        if hasattr(self, op):
            return getattr(self, op)(x, layer, name)
        if op in ("softmax", "log_softmax"):
            return getattr(torch, op)(x, dim=1 if layer.get("axis") == "steps" else -1)
        if op in ("add", "multiply"):
            if x.dim() != sources[1].dim():
                sources = [part if part.dim() == 3 else part[:, None] for part in sources]
            for other in sources[1:]:
                sources[0] = sources[0] + other if op == "add" else sources[0] * other
            return sources[0]
        if op == "concat":
            return torch.cat(sources, dim=1 if layer["axis"] == "steps" else -1)
        if op == "matmul":
            a, b = (part.transpose(1, 2) if layer.get(f"transpose_{which}") else part
                    for part, which in zip(sources, ("first", "second")))
            return layer.get("scale", 1) * (a @ b)
        if op == "swiglu":
            return F.silu(x) * sources[1]
        if op == "attention":
            return attention(sources, layer)
        if op == "elementwise":
            return EXPRESSIONS[layer["expression"]](*sources)
        raise KeyError(op)

    def dense(self, x, layer, name):
        if name in self.owner:
            weights, of = self.tables[self.owner[name]]
            turned_round = of == "embedding" or tuple(weights.shape) != (x.shape[-1], layer["units"])
            weights = weights.T if turned_round else weights
        else:
            weights = self.parameter(name, "weights")
        self.tables[name] = weights, "dense"
        return x @ weights + (self.parameter(name, "bias") if layer.get("bias", True) else 0)

    def padded(self, x, layer, value=0.0):
        """[N, features, steps], with what surrounds the steps."""
        around = sides(layer["padding"], x.shape[1], layer["kernel"], layer["stride"], layer.get("dilation", 1))
        return F.pad(x.transpose(1, 2), around, value=value)

    def conv1d(self, x, layer, name, groups=None):
        bias = self.parameter(name, "bias") if layer.get("bias", True) else None
        y = F.conv1d(self.padded(x, layer), self.parameter(name, "weights"), bias, layer["stride"], 0, layer["dilation"],
                     groups or layer["groups"])
        return y.transpose(1, 2)

    def depthwise_conv1d(self, x, layer, name):
        return self.conv1d(x, layer, name, x.shape[2])

    def max_pool1d(self, x, layer, name):
        y = F.max_pool1d(self.padded(x, layer, -torch.inf), layer["kernel"], layer["stride"], 0, layer["dilation"])
        return y.transpose(1, 2)

    def avg_pool1d(self, x, layer, name):
        def mean(x):
            return F.avg_pool1d(self.padded(x, layer), layer["kernel"], layer["stride"]).transpose(1, 2)
        return mean(x) if layer["count_include_pad"] else mean(x) / mean(torch.ones_like(x))

    def embedding(self, x, layer, name):
        self.tables[name] = self.parameter(name, "weights"), "embedding"
        return F.embedding(x, self.tables[name][0])

    def one_hot(self, x, layer, name):
        return F.one_hot(x, layer["classes"]).to(torch.float64).flatten(1)

    def class_token(self, x, layer, name):
        return torch.cat([self.parameter(name, "weights").expand(x.shape[0], 1, -1), x], dim=1)

    def position_embedding(self, x, layer, name):
        if layer.get("form") == "sinusoidal":
            return x + waves(x.shape[1], x.shape[2], float(layer.get("base", 10000)))
        return x + self.parameter(name, "weights")[:x.shape[1]]

    def rotary_embedding(self, x, layer, name):
        return turned(x, layer["heads"], float(layer.get("base", 10000)), layer.get("pairs") == "neighbours")

    def affine(self, layer, name, *kinds):
        return [self.parameter(name, kind) if layer.get("affine", True) else None for kind in kinds]

    def layer_norm(self, x, layer, name):
        return F.layer_norm(x, x.shape[-1:], *self.affine(layer, name, "gamma", "beta"), layer.get("epsilon", 1e-5))

    def rms_norm(self, x, layer, name):
        return F.rms_norm(x, x.shape[-1:], *self.affine(layer, name, "gamma"), layer.get("epsilon", 1e-5))

    def group_norm(self, x, layer, name):
        """Over all steps, of groups of features."""
        affine = self.affine(layer, name, "gamma", "beta")
        y = torch.group_norm(x.transpose(1, 2), layer["groups"], *affine, layer.get("epsilon", 1e-5))
        return y.transpose(1, 2)

    def batch_norm(self, x, layer, name):
        """Whose moving variance is of the numbers that there are, not of those that there might be."""
        mean, variance = (self.parameter(name, "running_" + kind, True) for kind in ("mean", "variance"))
        if self.training:
            own = x.detach()
            keep, now = layer.get("momentum", 0.9), (own.mean((0, 1)), own.var((0, 1), unbiased=False))
            for kept, new in zip((mean, variance), now):
                kept.mul_(keep).add_(new, alpha=1 - keep)
            mean = variance = None
        y = torch.batch_norm(x.transpose(1, 2), self.parameter(name, "gamma"), self.parameter(name, "beta"), mean, variance,
                             self.training, 0.0, layer.get("epsilon", 1e-5), False)
        return y.transpose(1, 2)

    def recurrent(self, x, layer, name, run, parts):
        """One layer by PyTorch's own, whose weights are rows and whose biases are two."""
        weights, hidden, bias = (self.parameter(name, kind) for kind in ("weights", "hidden_weights", "bias"))
        more = torch.zeros_like(bias)
        if parts == 3:
            more = torch.cat([torch.zeros(2 * hidden.shape[0], dtype=bias.dtype), self.parameter(name, "hidden_bias")])
        state = torch.zeros(1, x.shape[0], hidden.shape[0], dtype=x.dtype)
        state = (state, state) if parts == 4 else state
        x = x.flip(1) if layer.get("reversed") else x
        y = run(x, state, [weights.T, hidden.T, bias, more], True, 1, 0.0, True, False, True)[0]
        return y.flip(1) if layer.get("reversed") else y

    def rnn(self, x, layer, name):
        return self.recurrent(x, layer, name, torch._VF.rnn_tanh, 1)

    def lstm(self, x, layer, name):
        return self.recurrent(x, layer, name, torch._VF.lstm, 4)

    def gru(self, x, layer, name):
        return self.recurrent(x, layer, name, torch._VF.gru, 3)

    def leaky_relu(self, x, layer, name):
        return F.leaky_relu(x, 0.01)

    def gelu(self, x, layer, name):
        return F.gelu(x, approximate=layer.get("approximation", "none"))

    def scale(self, x, layer, name):
        return x * layer["factor"] + layer["offset"]

    def swish_of(self, x, layer, name):
        return x * torch.sigmoid(self.parameter(name, "beta") * x)

    def bent(self, x, layer, name):
        return torch.where(x > 0, x, self.parameter(name, "slope") * x)

    def slice(self, x, layer, name):
        part = slice(layer.get("begin", 0), layer.get("end"))
        return x[:, part] if layer["axis"] == "steps" else x[..., part]

    def reshape(self, x, layer, name):
        return x.reshape(x.shape[0], *layer["shape"])


def loss_of(network, model, samples, rows, training):
    """The mean over rows, or over all numbers. Classes are judged by what their softmax or sigmoid reads: no logarithm of 0."""
    inputs, labels = tensors(samples["inputs"], rows), torch.tensor(samples["labels"][rows])
    given, written = model(inputs, training), network.training["loss"]
    smoothing = 0 if isinstance(written, str) else written[network.loss]["smoothing"]
    if network.loss in ("categorical_cross_entropy", "negative_log_likelihood"):
        return F.cross_entropy(model.before_last.flatten(0, -2), labels.flatten(), label_smoothing=smoothing)
    if network.loss == "binary_cross_entropy":
        return F.binary_cross_entropy_with_logits(model.before_last, labels)
    losses = {"mean_squared_error": F.mse_loss, "mean_absolute_error": F.l1_loss, "huber": F.huber_loss}
    return losses[network.loss](given, labels)


def measures_of(network, model, test):
    """Loss and metrics of the test."""
    everything = slice(None)
    loss = loss_of(network, model, test, everything, False)
    given, labels = model(tensors(test["inputs"], everything), False), torch.tensor(test["labels"])
    values = {"loss": loss}
    for metric in network.training["metrics"]:
        if metric == "categorical_accuracy":
            values[metric] = (given.argmax(-1) == labels).to(torch.float64).mean()
        elif metric == "cross_entropy":
            values[metric] = F.cross_entropy(model.before_last.flatten(0, -2), labels.flatten())
        elif metric == "binary_accuracy":
            values[metric] = ((given >= 0.5) == (labels >= 0.5)).to(torch.float64).mean()
        else:
            values[metric] = {"mean_squared_error": F.mse_loss, "mean_absolute_error": F.l1_loss}[metric](given, labels)
    return {name: value.item() for name, value in values.items()}


def optimizer_of(recipe, weights):
    """Some weights are frozen, or have a learning rate of their own."""
    (name, fields), = recipe["optimizer"].items()
    group = recipe.get("groups", [{"parameters": "*"}])[0]
    chosen = [weight for key, weight in weights.items() if fnmatch.fnmatchcase(key, group["parameters"])]
    others = [weight for key, weight in weights.items() if not fnmatch.fnmatchcase(key, group["parameters"])]
    if group.get("frozen"):
        for weight in chosen:
            weight.requires_grad_(False)
        weights = [{"params": others}]
    else:
        rate = fields["learning_rate"] * group.get("learning_rate_scale", 1)
        weights = [{"params": others}, {"params": chosen, "lr": rate}]
    more = {"weight_decay": fields.get("weight_decay", 0)}
    if name == "adam":
        return torch.optim.Adam(weights, lr=fields["learning_rate"], eps=fields["epsilon"], **more)
    more["nesterov"] = fields.get("nesterov", False)
    return torch.optim.SGD(weights, lr=fields["learning_rate"], momentum=fields["momentum"], **more)


def tensors(samples, rows):
    return {name: torch.tensor(value[rows]) for name, value in samples.items()}


def trained(network, first, train, test):
    """First predictions of the test, losses of all steps and of the test at the end, last weights; what has been used."""
    moving = {name for name in first if name.rsplit(".", 1)[1].startswith("running_")}
    weights = {name: torch.tensor(value, requires_grad=True) for name, value in first.items() if name not in moving}
    statistics = {name: torch.tensor(first[name]) for name in moving}
    model = Model(network, weights, statistics)
    everything = slice(None)
    with torch.no_grad():
        predictions = model(tensors(test["inputs"], everything), False).numpy()
    recipe = network.training
    optimizer, losses = optimizer_of(recipe, weights), []
    batch, count = recipe["batch_size"], network.samples()["train"]
    together = batch * recipe.get("accumulation", 1)
    for begin in [begin for _ in range(recipe["epochs"]) for begin in range(0, count, batch)]:
        rows = slice(begin, begin + batch)
        loss = loss_of(network, model, train, rows, True)
        of_update = min(count, begin // together * together + together) - begin // together * together
        (loss * len(train["labels"][rows]) / of_update).backward()
        losses.append(loss.item())
        if (begin + batch) % together and begin + batch < count:
            continue
        if "clip" in recipe:
            learnt = [weight for weight in weights.values() if weight.requires_grad]
            torch.nn.utils.clip_grad_norm_(learnt, recipe["clip"]["norm"])
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        measures = measures_of(network, model, test)
    numbers = {name: value.detach().numpy() for name, value in {**weights, **statistics}.items()}
    return {"predictions": predictions, "losses": numpy.array(losses), "test": measures, "weights": numbers, "used": model.used}
