"""What is checked and measured on a machine with a GPU."""

STEPS = 50
# model -> batch of the comparison with the CPU, learning rate. Fifty steps amplify rounding, of deep networks with batch norm most:
# in double all losses are held against the CPU's; in float the first ten, whose distance from the CPU's in double is at most
# FLOAT_FACTOR times that of the CPU's in float.
MODELS = {
    "simplecnn": (64, 0.01),
    "resnet20_cifar10": (32, 0.001),
    "vgg16_cifar10": (16, 0.001),
    "densenet_cifar10": (16, 0.001),
    "mobilenet_v2": (8, 0.001),
}
DOUBLE_BOUND = 1e-9
FLOAT_FACTOR = 5
SHAPES = {"mobilenet_v2": ["model.input.shape=[3, 64, 64]"]}
# What else a plan may compute with: bound of the first ten losses, beside the CPU's in f32.
COMPUTES = {"tf32": 1e-2, "bf16": 5e-2, "fp16": 2e-2}
FIRST = ("simplecnn", "resnet20_cifar10")  # of the first stage
# What is measured: name -> model, batch, settings, PyTorch's type.
MEASURED = {
    "simplecnn": ("simplecnn", 128, [], "f32"),
    "resnet20_cifar10": ("resnet20_cifar10", 128, [], "f32"),
    "resnet50 in bf16": ("resnet50", 256, ["training.compute=bf16"], "bf16"),
}
FORMS = {2: ("eager", "graphs"), 3: ("compile", "compile_graphs", "max_graphs")}
