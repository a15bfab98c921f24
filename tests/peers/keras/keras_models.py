#!/usr/bin/env python3
"""What `dtnnc import` makes of Keras' own files (.keras), beside Keras itself.

    python3 tests/peers/keras/keras_models.py                # small networks of many layers; MobileNet
    python3 tests/peers/keras/keras_models.py --all          # the architectures of keras.applications, too
    python3 tests/peers/keras/keras_models.py unet ResNet50  # some
    python3 tests/peers/keras/keras_models.py --write        # the tiny files beside this one, and what they predict

Each model gets random weights and the statistics of a batch, is saved, comes in, and must predict what Keras predicts,
to 1e-4 of what the predictions of samples are apart and a tenth of the largest, or to four times what Keras differs by
itself from what it says in float64. It needs keras, tensorflow and numpy,
says so and ends with 77 where they are not. The programs are those of DTNN_BIN, else of build/release/bin."""

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
try:
    import numpy
    import tensorflow  # noqa: F401, the backend
    import h5py  # comes with Keras
    import keras
    from keras import layers
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
BIN = os.environ.get("DTNN_BIN", os.path.join(ROOT, "build", "release", "bin"))
LIMIT = 1e-4
# Of keras.applications, with the side of the image; any other that is named gets 64.
APPLICATIONS = {"MobileNet": 64, "MobileNetV2": 64, "ResNet50": 64, "ResNet50V2": 64, "DenseNet121": 64,
                "InceptionV3": 96, "Xception": 96, "VGG16": 32, "EfficientNetB0": 64}


# ---- Networks

def convnet():
    return keras.Sequential([keras.Input((28, 28, 1)), layers.Rescaling(1 / 255), layers.Conv2D(16, 3, padding="same", activation="relu"),
                             layers.MaxPooling2D(), layers.Conv2D(24, 3, strides=2), layers.BatchNormalization(), layers.ReLU(),
                             layers.Flatten(), layers.Dropout(0.5), layers.Dense(32, activation="gelu"),
                             layers.Dense(10, activation="softmax")])


def perceptron():
    x = inputs = keras.Input((20,))
    normalization = layers.Normalization()
    normalization.adapt(3 + 2 * numpy.random.default_rng(1).standard_normal((50, 20)).astype("f4"))
    x = normalization(x)
    for name in ("relu", "elu", "selu", "silu", "tanh", "softplus", "softsign", "mish", "hard_sigmoid", "hard_silu", "leaky_relu",
                 "relu6", "sigmoid", "celu", "hard_tanh", "soft_shrink", "hard_shrink", "exponential"):
        x = layers.Dense(16, kernel_initializer="he_normal")(x)
        x = layers.LayerNormalization()(x)
        x = layers.Activation(name)(x)
    x = layers.BatchNormalization(scale=False)(x)
    x = layers.GaussianNoise(0.1)(x)
    return keras.Model(inputs, layers.Dense(7)(layers.PReLU()(x)))


def unet():
    def block(x, filters):
        for _ in range(2):
            x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
            x = layers.BatchNormalization(momentum=0.9)(x)
            x = layers.LeakyReLU(negative_slope=0.1)(x)
        return x
    x = inputs = keras.Input((32, 32, 3))
    kept = []
    for filters in (8, 12):
        x = block(x, filters)
        kept.append(x)
        x = layers.MaxPooling2D(2)(x)
    x = block(x, 16)
    x = layers.Conv2DTranspose(12, 2, strides=2, padding="same")(x)
    x = block(layers.Concatenate()([x, kept.pop()]), 12)
    x = layers.UpSampling2D(2, interpolation="bilinear")(x)
    x = block(layers.Concatenate()([x, kept.pop()]), 8)
    return keras.Model(inputs, layers.Conv2D(3, 1, activation="sigmoid")(x))


def shapes():
    """Padding, cutting, pools, transposed convolutions of odd windows, branches, a channel's gate."""
    x = inputs = keras.Input((19, 17, 4))
    x = layers.ZeroPadding2D(((1, 2), (0, 3)))(x)
    x = layers.Conv2D(8, (3, 5), strides=(2, 1), padding="same", groups=2, activation="swish")(x)
    x = layers.Cropping2D(((1, 0), (2, 1)))(x)
    x = layers.SeparableConv2D(12, 3, padding="same", depth_multiplier=2, activation="elu")(x)
    x = layers.DepthwiseConv2D(3, depth_multiplier=2, dilation_rate=1, strides=2, padding="same")(x)
    x = layers.GroupNormalization(4)(x)
    x = layers.PReLU(shared_axes=[1, 2])(x)
    gate = layers.GlobalAveragePooling2D(keepdims=True)(x)
    gate = layers.Conv2D(24, 1, activation="sigmoid")(gate)
    x = layers.Multiply()([x, gate])
    for window, stride, padding in ((3, 2, "same"), (2, 3, "valid"), (4, 2, "same"), (3, 1, "valid")):
        x = layers.Conv2DTranspose(8, window, strides=stride, padding=padding)(x)
    a = layers.AveragePooling2D(3, strides=2, padding="same")(x)
    b = layers.MaxPooling2D(3, strides=2, padding="same")(x)
    x = layers.Average()([a, b, layers.Maximum()([a, b]), layers.Subtract()([a, b])])
    x = layers.LayerNormalization()(x)
    x = layers.Conv2D(6, 3, dilation_rate=2, padding="same", activation="softmax")(x)
    x = x * 2.0 + layers.SpatialDropout2D(0.1)(x)
    x = layers.Dense(5)(layers.UpSampling2D((2, 3))(x))
    both = layers.Concatenate()([layers.GlobalAveragePooling2D()(x), layers.GlobalMaxPooling2D()(x)])
    return keras.Model(inputs, layers.Dense(9)(both))


def nested():
    """Models in models, one of them used twice, and a layer that is shared."""
    inner = keras.Sequential([keras.Input((10, 10, 4)), layers.Conv2D(4, 3, padding="same"), layers.BatchNormalization()], name="inner")
    y = outer_input = keras.Input((10, 10, 4))
    outer = keras.Model(outer_input, layers.Add()([y, inner(y)]), name="outer")
    x = inputs = keras.Input((10, 10, 3))
    x = outer(outer(layers.Conv2D(4, 1)(x)))
    shared = layers.Conv2D(4, 3, padding="same", activation=layers.ReLU(max_value=4.0))
    x = layers.Add()([shared(x), shared(shared(x))])
    x = layers.Flatten()(x)
    return keras.Model(inputs, layers.Dense(6)(layers.Dense(8, activation="relu")(x)))


def decoder():
    """Rows that become images, and images that become rows, between which numbers stand in Keras' order."""
    x = inputs = keras.Input((8, 8, 3))
    x = layers.Conv2D(6, 3, strides=2, padding="same")(x)
    x = layers.Flatten()(x)
    for norm in (layers.BatchNormalization(), layers.PReLU(), layers.LayerNormalization()):
        x = norm(x)
    x = keras.ops.relu(layers.Dense(10)(x)) * 0.5 + 1.0
    x = layers.Dense(4 * 3 * 5, use_bias=False)(x)
    x = layers.LeakyReLU()(layers.BatchNormalization()(x))
    x = layers.Reshape((4, 3, 5))(x)
    x = layers.Conv2DTranspose(4, 3, strides=2, padding="same", activation="tanh")(x)
    return keras.Model(inputs, layers.Dense(6)(layers.Flatten()(x)))


def either_order(last):
    """A network with channels last or first."""
    form = {"data_format": "channels_last" if last else "channels_first"}
    x = inputs = keras.Input((9, 7, 3) if last else (3, 9, 7))
    x = layers.Conv2D(4, 3, padding="same", activation="relu", **form)(x)
    x = layers.BatchNormalization(axis=3 if last else 1)(x)
    x = layers.DepthwiseConv2D(3, **form)(layers.ZeroPadding2D(1, **form)(x))
    x = layers.Softmax(axis=3 if last else 1)(x)
    x = layers.MaxPooling2D(2, padding="same", **form)(x)
    return keras.Model(inputs, layers.Dense(6)(layers.Flatten(**form)(x)))


def sequence():
    x = inputs = keras.Input((12, 5))
    x = layers.Dense(8, activation="relu")(x)
    x = layers.LayerNormalization()(x)
    x = layers.BatchNormalization()(x)
    return keras.Model(inputs, layers.Dense(4)(layers.GlobalAveragePooling1D()(x)))


def steps():
    """Windows over one axis."""
    x = inputs = keras.Input((24, 5))
    x = layers.Conv1D(8, 3, padding="same", activation="relu")(x)
    x = layers.MaxPooling1D(2)(layers.BatchNormalization()(x))
    x = layers.Conv1D(8, 3, padding="causal", dilation_rate=2)(x)
    x = layers.Add()([x, layers.SeparableConv1D(8, 5, padding="same")(layers.LayerNormalization()(x))])
    x = layers.AveragePooling1D(3, strides=2, padding="same")(layers.DepthwiseConv1D(3, depth_multiplier=2)(x))
    x = layers.Concatenate()([layers.GlobalMaxPooling1D()(x), layers.GlobalAveragePooling1D()(x), layers.Flatten()(x)])
    return keras.Model(inputs, layers.Dense(4)(x))


def two_inputs():
    image, row = keras.Input((8, 8, 3), name="image"), keras.Input((6,), name="row")
    x = layers.GlobalMaxPooling2D()(layers.Conv2D(5, 3)(image))
    x = layers.Concatenate()([x, layers.Dense(4)(row)])
    return keras.Model([image, row], layers.Dense(3)(x))


def tiny_image():
    x = inputs = keras.Input((6, 6, 2))
    x = layers.Conv2D(3, 3, padding="same", use_bias=False, name="conv")(x)
    x = layers.BatchNormalization(name="norm")(x)
    x = layers.ReLU(name="relu")(x)
    x = layers.Add(name="sum")([x, layers.SeparableConv2D(3, 3, padding="same", name="separable")(x)])
    x = keras.Sequential([keras.Input((6, 6, 3)), layers.DepthwiseConv2D(3, strides=2, padding="same")], name="inner")(x)
    x = layers.Flatten(name="flat")(x)
    return keras.Model(inputs, layers.Dense(4, activation="softmax", name="scores")(x))


def tiny_rows():
    return keras.Sequential([keras.Input((3,)), layers.Dense(4, activation="gelu", name="hidden"), layers.Dropout(0.25),
                             layers.Dense(2, name="scores")], name="rows")


SMALL = {function.__name__: function for function in (convnet, perceptron, unet, shapes, nested, decoder, sequence, steps, two_inputs,
                                                      tiny_image, tiny_rows)}


def application(name):
    side = APPLICATIONS.get(name, 64)
    return getattr(keras.applications, name)(weights=None, input_shape=(side, side, 3), classifier_activation=None, classes=100)


def samples_of(model, count, seed):
    rng = numpy.random.default_rng(seed)
    made = [rng.uniform(-1, 1, (count, *value.shape[1:])).astype("f4") for value in model.inputs]
    return made if len(made) > 1 else made[0]


def randomised(model):
    """Weights that no initializer gives alike, and statistics of a batch, which keep samples apart through many layers."""
    rng = numpy.random.default_rng(2)
    norms = [layer for layer in model._flatten_layers() if isinstance(layer, layers.BatchNormalization)]
    for weight in model.trainable_weights:
        if len(weight.shape) == 1:
            weight.assign(weight.numpy() + 0.2 * rng.standard_normal(weight.shape).astype("f4"))
    momenta = [layer.momentum for layer in norms]
    for layer in norms:
        layer.momentum = 0.0
    model(samples_of(model, 8, 3), training=True)
    for layer, momentum in zip(norms, momenta):
        layer.momentum = momentum
    return model


# ---- Both predictions

def dtnn(*command):
    process = subprocess.run([os.path.join(BIN, command[0]), *command[1:]], capture_output=True, text=True, check=False,
                             env=dict(os.environ, DTNN_TUNING="", NO_COLOR="1"))
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ends with {process.returncode}:\n{process.stderr}")
    return process


def channels_first(sample):
    return numpy.ascontiguousarray(numpy.moveaxis(sample, -1, 1)) if sample.ndim == 4 else sample


def predicted(file, names, samples, folder):
    spec, weights, plan, x, p = (os.path.join(folder, name) for name in
                                 ("net.yaml", "net.safetensors", "plan.json", "x.npz" if len(samples) > 1 else "x.npy", "p.npz"))
    dtnn("dtnnc", "import", file, "-o", spec, "--weights", weights)
    dtnn("dtnnc", "compile", spec, "-o", plan, "--threads", "2")
    arrays = {name: channels_first(sample) for name, sample in zip(names, samples)}
    if len(samples) > 1:
        numpy.savez(x, **arrays)
    else:
        numpy.save(x, *arrays.values())
    dtnn("dtnn-run", "predict", plan, "--weights", weights, "--input", x, "-o", p)
    with numpy.load(p) as made:
        return next(made[key] for key in ("probabilities", "scores", "values") if key in made)


def in_float64(model, samples):
    """What Keras predicts where it rounds less."""
    def of_float64(layer):
        return type(layer).from_config({**layer.get_config(), "dtype": "float64"})
    exact = keras.models.clone_model(model, clone_function=of_float64)
    exact.set_weights(model.get_weights())
    return numpy.asarray(exact(numpy.asarray(samples, "f8"), training=False))


def check(name, model, saved=None):
    """`saved` is the same model, if that is another one."""
    began = time.monotonic()
    samples = samples_of(model, 4, 5)
    with contextlib.redirect_stdout(io.StringIO()):
        theirs = model.predict(samples, verbose=0)
    if not isinstance(samples, list):
        samples = [samples]
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "net.keras")
        (saved or model).save(file)
        try:
            ours = predicted(file, [value.name for value in model.inputs], samples, folder)
        except RuntimeError as error:
            print(f"{name}: {error}", flush=True)
            return False
    # As a part of what samples are apart, since networks that nobody has trained say nearly the same of all.
    ours, theirs = (x.reshape(len(x), -1) for x in (ours, channels_first(theirs)))
    apart = numpy.abs(theirs - theirs.mean(axis=0)).max() + 0.1 * numpy.abs(theirs).max()
    difference = float(numpy.abs(ours - theirs).max() / apart)
    good, itself = difference <= LIMIT, ""
    if not good and name in APPLICATIONS:
        rounded = float(numpy.abs(in_float64(model, samples[0]) - theirs).max() / apart)
        good, itself = difference <= 4 * rounded, f"  Keras by itself {rounded:.1e}"
    print(f"{name:<20} {model.count_params():>12,} parameters  differs by {difference:.1e}{itself}  "
          f"{time.monotonic() - began:.0f} s{'' if good else '  TOO MUCH'}", flush=True)
    return good


def pack(name, contents):
    path = os.path.join(HERE, f"{name}.keras")
    with zipfile.ZipFile(path, "w") as packed:
        for member, content in contents.items():
            packed.writestr(zipfile.ZipInfo(member, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED, 9)
    print(f"{path}: {os.path.getsize(path):,} bytes")


def changed(weights, change):
    """The file of weights with the kernel of the first layer otherwise: `change` gets its group and its numbers."""
    image = io.BytesIO(weights)
    with h5py.File(image, "a") as file:
        group = file["layers/dense/vars"]
        numbers = group["0"][()]
        del group["0"]
        change(group, numbers)
    return image.getvalue()


def write():
    """The tiny files, packed, and what Keras predicts of some samples; and one with weights in places that none may be."""
    for name in ("tiny_image", "tiny_rows"):
        keras.utils.set_random_seed(0)
        model = randomised(SMALL[name]())
        sample = samples_of(model, 3, 5)
        with tempfile.TemporaryDirectory() as folder:
            plain = os.path.join(folder, "net.keras")
            model.save(plain)
            with zipfile.ZipFile(plain) as source:
                contents = {member: source.read(member) for member in ("metadata.json", "config.json", "model.weights.h5")}
        pack(name, contents)
        with open(os.path.join(HERE, f"{name}.json"), "w", encoding="utf-8") as file:
            json.dump({"keras": keras.__version__, "samples": channels_first(sample).tolist(),
                       "predictions": model.predict(sample, verbose=0).tolist()}, file)
            file.write("\n")
    weights = contents["model.weights.h5"]
    for name, change in (("linked", lambda group, numbers: group.__setitem__("0", h5py.ExternalLink("other.h5", "/x"))),
                         ("outside", lambda group, numbers: group.create_dataset(
                             "0", numbers.shape, "f4", external=[("/dev/zero", 0, numbers.nbytes)])),
                         ("packed", lambda group, numbers: group.create_dataset("0", data=numbers, compression="gzip")),
                         ("integers", lambda group, numbers: group.create_dataset("0", data=numbers.astype("i4"))),
                         ("half", lambda group, numbers: group.create_dataset("0", data=numbers.astype("f2")))):
        pack(f"weights_{name}", {**contents, "model.weights.h5": changed(weights, change)})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.write:
        return write()
    names = given.names or [*SMALL, "channels_first", *(APPLICATIONS if given.all else ["MobileNet"])]
    results = []
    for name in names:
        keras.utils.set_random_seed(0)
        if name == "channels_first":  # which Keras runs on few processors
            model, first = randomised(either_order(True)), either_order(False)
            first.set_weights(model.get_weights())
            results.append(check(name, model, first))
            continue
        results.append(check(name, randomised(SMALL[name]() if name in SMALL else application(name))))
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
