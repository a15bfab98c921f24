#!/usr/bin/env python3
"""Weights of Hugging Face's transformers, in and out, beside that program itself.

    transformers_weights.py            # GPT-2, BERT and Llama of a middle size
    transformers_weights.py --write    # the tiny ones beside this file, which the test cli_transformers_weights reads

Each gets random weights and is saved as safetensors. `dtnn-run predict` reads the file by the map that ships, and must
say what transformers says to 1e-5 of the largest probability; what `dtnn-run weights export` writes must be their file.
It needs torch, transformers, safetensors and numpy, says so and ends with 77 where they are not. The programs are those
of DTNN_BIN, else of build/release/bin."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy
    import safetensors.numpy
    import torch
    import transformers
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
BIN = os.environ.get("DTNN_BIN", os.path.join(ROOT, "build", "release", "bin"))
LIMIT = 1e-5  # of the largest probability


def gpt2(p):
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(
        n_layer=p["layers"], n_head=p["heads"], n_embd=p["width"], vocab_size=p["classes"], n_positions=p["positions"],
        bos_token_id=None, eos_token_id=None))


def bert(p):
    return transformers.BertForSequenceClassification(transformers.BertConfig(
        num_hidden_layers=p["layers"], num_attention_heads=p["heads"], hidden_size=p["width"], intermediate_size=4 * p["width"],
        vocab_size=p["words"], max_position_embeddings=p["positions"], num_labels=p["classes"], pad_token_id=None))


def llama(p):
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        num_hidden_layers=p["layers"], num_attention_heads=p["heads"], num_key_value_heads=p["key_value_heads"],
        hidden_size=p["width"], intermediate_size=p["hidden"], vocab_size=p["classes"], max_position_embeddings=p["steps"],
        tie_word_embeddings=True, rope_theta=p["base"], rms_norm_eps=1e-5, bos_token_id=None, eos_token_id=None))


# Of our model: theirs, the parameters of a tiny one, and those of one of middle size.
MODELS = {
    "gpt2": (gpt2, {"layers": 2, "heads": 2, "width": 8, "steps": 5, "positions": 7, "classes": 13},
             {"layers": 6, "heads": 6, "width": 384, "steps": 128, "positions": 128, "classes": 5000}),
    "bert_base": (bert, {"layers": 2, "heads": 2, "width": 8, "steps": 5, "positions": 7, "words": 13, "classes": 3},
                  {"layers": 6, "heads": 6, "width": 384, "steps": 128, "positions": 128, "words": 5000, "classes": 3}),
    "llama_3_2_1b": (llama, {"layers": 2, "heads": 4, "key_value_heads": 2, "width": 16, "hidden": 12, "steps": 5,
                             "classes": 13, "base": 500000.0},
                     {"layers": 6, "heads": 8, "key_value_heads": 2, "width": 256, "hidden": 704, "steps": 128,
                      "classes": 5000, "base": 500000.0}),
}


def made(name, parameters, file):
    """Their model with random weights, which goes to the file; the inputs, and what it says of them."""
    torch.manual_seed(len(name))
    model = MODELS[name][0](parameters).eval()
    for weights in model.parameters():
        torch.nn.init.normal_(weights, 0 if weights.dim() > 1 else 0.3, 1.5 / weights.shape[-1] ** 0.5 if weights.dim() > 1 else 0.3)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        shutil.copy(os.path.join(folder, "model.safetensors"), file)
    draw = numpy.random.default_rng(len(name))
    shape = (2, parameters["steps"])
    inputs = {"tokens": draw.integers(0, parameters.get("words", parameters["classes"]), shape)}
    more = {}
    if name == "bert_base":
        inputs["segments"] = draw.integers(0, 2, shape)
        more["token_type_ids"] = torch.tensor(inputs["segments"])
    with torch.no_grad():
        logits = model(torch.tensor(inputs["tokens"]), **more).logits
    return inputs, torch.softmax(logits.double(), -1).numpy()


def write():
    for name, (_, parameters, _) in MODELS.items():
        inputs, probabilities = made(name, parameters, os.path.join(HERE, f"tiny_{name}.safetensors"))
        with open(os.path.join(HERE, f"tiny_{name}.json"), "w", encoding="utf-8") as file:
            json.dump({"parameters": parameters, "inputs": {key: value.tolist() for key, value in inputs.items()},
                       "probabilities": probabilities.ravel().tolist()}, file)
            file.write("\n")


def dtnn(*command):
    process = subprocess.run([os.path.join(BIN, command[0]), *command[1:]], capture_output=True, text=True, check=False)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} ends with {process.returncode}:\n{process.stderr}")


def check(name, parameters, folder):
    path = {key: os.path.join(folder, key) for key in ("job.yaml", "plan.json", "theirs.safetensors", "ours.safetensors",
                                                       "back.safetensors", "x.npz", "p.npz")}
    inputs, wanted = made(name, parameters, path["theirs.safetensors"])
    numpy.savez(path["x.npz"], **{key: value.astype("<i4") for key, value in inputs.items()})
    labels = "" if name == "bert_base" else "labels: step, "
    with open(path["job.yaml"], "w", encoding="utf-8") as file:
        file.write(f"kind: job\nname: {name}\nmodel: {{extends: {name}, parameters: {json.dumps(parameters)}}}\n"
                   f"dataset: {{type: synthetic, {labels}classes: {parameters['classes']}, train_samples: 2, test_samples: 2}}\n"
                   "training: {batch_size: 2}\n")
    dtnn("dtnnc", "compile", path["job.yaml"], "-o", path["plan.json"])
    dtnn("dtnn-run", "predict", path["plan.json"], "--weights", path["theirs.safetensors"], "--input", path["x.npz"], "-o",
         path["p.npz"])
    with numpy.load(path["p.npz"]) as predictions:
        worst = numpy.abs(predictions["probabilities"].reshape(wanted.shape) - wanted).max() / wanted.max()
    dtnn("dtnn-run", "weights", "import", path["theirs.safetensors"], "--plan", path["plan.json"], "-o", path["ours.safetensors"])
    dtnn("dtnn-run", "weights", "export", path["ours.safetensors"], "--plan", path["plan.json"], "--map", "huggingface", "-o",
         path["back.safetensors"])
    theirs, back = (safetensors.numpy.load_file(path[key]) for key in ("theirs.safetensors", "back.safetensors"))
    same = theirs.keys() == back.keys() and all(numpy.array_equal(theirs[key], back[key]) for key in theirs)
    print(f"{name:<14} {len(theirs):>4} tensors  probabilities {worst:.1e}  the way back {'the same' if same else 'DIFFERS'}",
          flush=True)
    return same and worst <= LIMIT


def main():
    if "--write" in sys.argv[1:]:
        return write()
    with tempfile.TemporaryDirectory() as folder:
        good = [check(name, parameters, folder) for name, (_, _, parameters) in MODELS.items()]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
