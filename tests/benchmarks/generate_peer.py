#!/usr/bin/env python3
"""`dtnn-run generate` beside Hugging Face's transformers: a token of one text, by turns, in f32, with random weights that
both read. Greedy texts must be the same.

    generate_peer.py [--threads 2] [--length 128] [--rounds 3] [--prompt 3] [MODEL...]      gpt2, llama

What starting takes is left out: of texts of --length and of a quarter of it the difference counts. The table has the
median of the rounds, and the weights' bytes a second. It needs torch, transformers and safetensors. The programs are those
of DTNN_BIN, else of build/release/bin."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import transformers

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BIN = os.environ.get("DTNN_BIN", os.path.join(ROOT, "build", "release", "bin"))
ENVIRONMENT = dict(os.environ, DTNN_SPEC_PATH=os.path.join(ROOT, "specs"))
NONE = {"bos_token_id": None, "eos_token_id": None}
# Of each: our model, its parameters, theirs.
MODELS = {
    "gpt2": ("gpt2", {}, lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(**NONE)), 50257, 1024),
    "llama": ("llama_3_2_1b", {"layers": 12, "heads": 12, "key_value_heads": 4, "width": 768, "hidden": 2048, "steps": 1024,
                               "classes": 32000, "base": 10000.0},
              lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(
                  num_hidden_layers=12, num_attention_heads=12, num_key_value_heads=4, hidden_size=768, intermediate_size=2048,
                  vocab_size=32000, max_position_embeddings=1024, rope_theta=10000.0, rms_norm_eps=1e-5,
                  tie_word_embeddings=True, **NONE)), 32000, 1024),
}


def ours(folder, prompt, length, threads):
    begin = time.perf_counter()
    said = subprocess.run([os.path.join(BIN, "dtnn-run"), "generate", "plan.json", "--weights", "theirs/model.safetensors",
                           "--prompt", " ".join(map(str, prompt)), "--length", str(length), "--temperature", "0", "--format", "json"],
                          cwd=folder, env=dict(ENVIRONMENT, OMP_NUM_THREADS=str(threads)), stdout=subprocess.PIPE, text=True, check=True)
    return time.perf_counter() - begin, [int(token) for token in json.loads(said.stdout)["text"].split()]


def theirs(model, prompt, length):
    begin = time.perf_counter()
    with torch.inference_mode():
        tokens = model.generate(torch.tensor([prompt]), max_new_tokens=length, min_new_tokens=length, do_sample=False, pad_token_id=0)
    return time.perf_counter() - begin, tokens[0, len(prompt):].tolist()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("models", nargs="*", metavar="MODEL", help="gpt2, llama; both unless said")
    for name, value in (("threads", 2), ("length", 128), ("rounds", 3), ("prompt", 3)):
        options.add_argument(f"--{name}", type=int, default=value)
    wish = options.parse_args()
    torch.set_num_threads(wish.threads)
    short = max(1, wish.length // 4)
    print(f"{'model':8} {'ours':>9} {'theirs':>9} {'ratio':>6}  ours reads  first token apart")
    for name in wish.models or MODELS:
        model, parameters, make, classes, steps = MODELS[name]
        torch.manual_seed(1)
        network = make().eval()
        with tempfile.TemporaryDirectory() as folder:
            network.save_pretrained(os.path.join(folder, "theirs"))
            with open(os.path.join(folder, "tokens.bin"), "wb") as file:
                file.write(bytes(2 * 3 * steps))
            with open(os.path.join(folder, "job.yaml"), "w", encoding="utf-8") as file:
                file.write(f"kind: job\nmodel: {json.dumps({'extends': model, 'parameters': parameters})}\n"
                           f"dataset: {{type: tokens, path: tokens.bin, item: u16, classes: {classes}, steps: {steps}, test_share: 0.4}}\n"
                           "training: {epochs: 1, batch_size: 1, optimizer: sgd}\ngeneration: {}\n")
            subprocess.run([os.path.join(BIN, "dtnnc"), "compile", "job.yaml", "--threads", str(wish.threads), "-o", "plan.json"],
                           cwd=folder, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)
            prompt = [(17 * i + 5) % classes for i in range(wish.prompt)]
            theirs(network, prompt, 8)
            own, other = [], []
            for _ in range(wish.rounds):
                first, text = ours(folder, prompt, short, wish.threads)[0], ours(folder, prompt, wish.length, wish.threads)
                own.append((text[0] - first) / (wish.length - short))
                first, said = theirs(network, prompt, short)[0], theirs(network, prompt, wish.length)
                other.append((said[0] - first) / (wish.length - short))
            apart = next((i for i, (a, b) in enumerate(zip(text[1], said[1])) if a != b), None)
            weights = sum(parameter.numel() for parameter in network.parameters()) * 4
            own, other = statistics.median(own), statistics.median(other)
            print(f"{name:8} {own * 1e3:6.1f} ms {other * 1e3:6.1f} ms {other / own:6.2f}  {weights / own / 1e9:5.1f} GB/s  "
                  f"{'none' if apart is None else apart}")


if __name__ == "__main__":
    sys.exit(main())
