#!/usr/bin/env python3
"""What the compiler made of our kernels for devices, read from their machine code.

    tests/gpu/kernel_table.py LIBRARY [--cuobjdump PROGRAM] [--type bf16] [--kernels batch_norm] [--plan PLAN] [--frames]

A line for each kernel: registers, stack frame in bytes (spilled registers lie there as well), instructions of its main
loop (the innermost one that moves most bytes of global memory) for each byte that the loop moves, and the share of an
H100's memory bandwidth that can follow: 132 multiprocessors start 128 instructions of threads a cycle at 1.755 GHz, and
HBM moves 3.35 TB/s. Where a loop has several ways, all are counted. `--frames` prints nothing else and fails on a stack
frame that FRAMES does not explain. `--plan` adds up what the own kernels of a training step of a plan for CUDA move, and
the time of it at that bandwidth (READ_AGAIN has what they read twice).
"""

import argparse
import collections
import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys

INSTRUCTIONS_A_SECOND = 132 * 128 * 1.755e9
BANDWIDTH = 3.35e12

# Why a kernel has a stack frame, by a part of its symbol and the most bytes.
FRAMES = (
    (r"evaluate(_sums|_mean)?ILi\d+E", 2048, "the stack of an expression that is interpreted: an index says which place is meant"),
    (r"PassedGradientIdLi8E|WrittenGradientIdLi8E|PassedGradientIdLi1E", 48, "eight doubles a thread take more than 255 registers; double is for comparisons"),
    (r"PoolBackAxis|adaptive_max_pool2d_taps", 24, "the windows over a cell: two lists that an index is taken of"),
    (r"spatial_dropout2d_apply_philox|dropout", 16, "the four words that a counter of Philox gives, by an index"),
    (r"QueryTile|KeyTile", 24, "attention's dropout: likewise the four words of Philox; two registers of KeyTile beside them"),
    (r"(position|rotary)_embedding_each", 40, "sine and cosine of doubles: large angles are reduced by words that an index says"),
    (r"SharedFolds", 16, "what a row's threads have folded, which goes by address"),
)

# Sources whose bytes an operator's kernel reads a second time, by their place.
READ_AGAIN = {"batch_norm_training": (0,), "batch_norm_backward": (0, 1), "softmax_cross_entropy": (0,)}
LIBRARIES = {"cudnn", "cublas"}
TYPES = {"BFloat16": "bf16", "Float16": "fp16"}
# An unnamed namespace, with its file.
ANONYMOUS = re.compile(r"\d+_GLOBAL__N__[0-9a-f]+_\d+_(\w+?)_cu_[0-9a-f]{8}")
# Identifiers of a symbol that say how a kernel is launched, and not what it does.
FRAMEWORK = re.compile(r"dtnn|kernels|cuda|detail|(each|groups|tiles)_kernel|each(_pack|_element)?|reduce_\w+|fold_rows|sum_rows|over_windows|"
                       r"Shared\w+|Sums|Pack|Launch|DenseChannels|Divider|\w*Arguments|B?Float16|Wide|Unfolded|Largest\w*|OfChannels|\w*Axis")


def identifiers(symbol):
    """The names in a symbol (Itanium C++ ABI: their lengths stand before them), without literals and substitutions."""
    symbol = ANONYMOUS.sub("|", symbol)
    symbol = re.sub(r"L[a-z]n?\d+E|S[0-9A-Z]*_|T\d*_", "|", symbol)
    found, at = [], 0
    while match := re.compile(r"\d+").search(symbol, at):
        end = match.end() + int(match[0])
        if re.fullmatch(r"[A-Za-z_]\w*", symbol[match.end():end]):
            found.append(symbol[match.end():end])
            at = end
        else:
            at = match.end()
    return found


def described(symbol):
    """(what it does, the type of its values)"""
    names = identifiers(symbol)
    source = ANONYMOUS.search(symbol)
    own = [name for name in names if not FRAMEWORK.fullmatch(name)]
    whole = [name[:-3] for name in own if name.endswith("_of")]
    name = (whole or [own[0]] if whole or own else [source[1] if source else "?"])[0]
    if (functor := next((n for n in own if n[0].isupper()), None)) and functor != name:
        name += " " + functor
    width = re.search(r"ILi([148])E", symbol)
    kind = next((TYPES[n] for n in names if n in TYPES), "f64" if re.search(r"I(NS\w*E)?d[EL]", symbol) else "f32")
    return name + (f" x{width[1]}" if width else ""), kind


def resources(cuobjdump, library):
    text = subprocess.run([cuobjdump, "-res-usage", library], capture_output=True, text=True, check=True).stdout
    return {symbol: (int(registers), int(stack))
            for symbol, registers, stack in re.findall(r"Function (\S+):\s*\n\s*REG:(\d+) STACK:(\d+)", text)}


def functions(cuobjdump, library):
    """(symbol, [(address, operation, operands)]) of each kernel"""
    process = subprocess.Popen([cuobjdump, "-sass", library], stdout=subprocess.PIPE, text=True)
    symbol, code = None, []
    line_form = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)\s*(.*?);")
    for line in process.stdout:
        if "Function :" in line:
            if symbol:
                yield symbol, code
            symbol, code = line.split()[-1], []
        elif match := line_form.match(line):
            code.append((int(match[1], 16), match[2], match[3]))
    if symbol:
        yield symbol, code


def moved(operation):
    if not operation.startswith(("LDG", "STG")):
        return 0
    return next((width for part, width in ((".128", 16), (".64", 8), (".U16", 2), (".S16", 2), (".U8", 1), (".S8", 1)) if part in operation), 4)


def main_loop(code):
    """(instructions, bytes moved) of the loop that counts; the whole kernel where none moves anything."""
    ends = [(int(target[1], 16), address) for address, operation, operands in code
            if operation.startswith("BRA") and (target := re.search(r"0x([0-9a-f]+)", operands)) and int(target[1], 16) < address]
    best = (len(code), sum(moved(operation) for _, operation, _ in code))
    found = 0
    for begin, end in ends:
        if any((b, e) != (begin, end) and begin <= b and e <= end for b, e in ends):
            continue
        body = [operation for address, operation, _ in code if begin <= address <= end]
        total = sum(map(moved, body))
        if total > found:
            best, found = (len(body), total), total
    return best


def check_frames(frames):
    unexplained = 0
    for symbol, (registers, stack) in sorted(frames.items()):
        if stack and not any(stack <= most and re.search(part, symbol) for part, most, _ in FRAMES):
            print(f"a stack frame of {stack} bytes that nothing explains ({registers} registers): {described(symbol)}\n  {symbol}")
            unexplained += 1
    print(f"{len(frames)} kernels, {sum(stack > 0 for _, stack in frames.values())} with a stack frame, {unexplained} of them unexplained")
    return unexplained


def tensor_bytes(tensor):
    return math.prod(tensor["dims"]) * {"f64": 8, "i64": 8, "bf16": 2, "f16": 2, "u8": 1}.get(tensor["dtype"], 4)


def own_time(plan):
    """Prints what each operator's own kernels move in a training step, and the milliseconds of it."""
    with open(plan, encoding="utf-8") as file:
        program = next(p for p in json.load(file)["programs"] if p["kind"] == "train")
    rows = collections.Counter()
    for step in program["steps"]:
        if step["kernel"] not in LIBRARIES:
            again = sum(tensor_bytes(program["tensors"][step["sources"][i]]) for i in READ_AGAIN.get(step["op"], ()))
            rows[step["op"]] += step["bytes"] + again
    for op, count in [*rows.most_common(), ("all", sum(rows.values()))]:
        print(f"  {op:32} {count / 1e9:8.2f} GB  {count / BANDWIDTH * 1e3:6.2f} ms")


def find_cuobjdump():
    """CUDA's own, or the one that PyTorch's Triton brings."""
    triton = importlib.util.find_spec("triton")
    own = os.path.join(os.path.dirname(triton.origin), "backends", "nvidia", "bin", "cuobjdump") if triton else ""
    return os.environ.get("CUOBJDUMP") or shutil.which("cuobjdump") or (own if os.path.exists(own) else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--cuobjdump", default=find_cuobjdump())
    parser.add_argument("--type", default="bf16")
    parser.add_argument("--kernels", default="")
    parser.add_argument("--plan")
    parser.add_argument("--frames", action="store_true")
    options = parser.parse_args()
    if not options.cuobjdump:
        print("skipped: no cuobjdump here (CUDA's toolkit has it, and PyTorch's Triton; CUOBJDUMP names it)")
        return 77
    frames = resources(options.cuobjdump, options.library)
    if options.frames:
        return 1 if check_frames(frames) else 0
    rows = []
    for symbol, code in functions(options.cuobjdump, options.library):
        name, kind = described(symbol)
        if kind == options.type and name.startswith(options.kernels):
            instructions, total = main_loop(code)
            share = min(1.0, INSTRUCTIONS_A_SECOND / (instructions / total) / BANDWIDTH) if total else 1.0
            rows.append((name, *frames.get(symbol, (0, 0)), instructions, total, share))
    print(f"{'kernel':58} registers stack  loop  bytes  per byte  share of bandwidth")
    for name, registers, stack, instructions, total, share in sorted(rows):
        print(f"{name[:58]:58} {registers:9} {stack:5} {instructions:5} {total:6} {instructions / total if total else 0:9.2f} {share:8.0%}")
    if options.plan:
        own_time(options.plan)
    return 0


if __name__ == "__main__":
    sys.exit(main())
