"""Compares two jobs, trains the second, predicts an image and keeps the weights.

    PYTHONPATH=PREFIX/share/dtnn/python python3 examples/digits.py"""

import os
import tempfile

import dtnn

few = {"training.epochs": 2, "dataset.train_samples": 2000}
usual = dtnn.compile("digits_simplecnn", set=few)
plan = dtnn.compile("digits_simplecnn", set={**few, "training.batch_size": 32})
print(usual.diff(plan))
for epoch in plan.train():
    print(f"epoch {epoch.epoch} of {epoch.epochs}: loss {epoch.loss:.3f}")
print(plan.evaluate("test"))

image = bytearray(28 * 28)
for row in range(4, 24):
    image[row * 28 + 13] = image[row * 28 + 14] = 255  # a stroke
answers = plan.predict(memoryview(image).cast("B", (1, 1, 28, 28)))  # an array of NumPy's or PyTorch's likewise
numbers = answers.tolist()[0]
print("a stroke is a", plan.classes[numbers.index(max(numbers))])

with tempfile.TemporaryDirectory() as folder:
    plan.save_weights(os.path.join(folder, "digits.safetensors"))
    again = dtnn.compile("digits_simplecnn", set={**few, "training.batch_size": 32})
    again.load_weights(os.path.join(folder, "digits.safetensors"))
    assert again.evaluate() == plan.evaluate()
