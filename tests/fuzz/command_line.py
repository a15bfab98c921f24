#!/usr/bin/env python3
"""Random command lines for dtnnc and dtnn-run, made of the words that --help names.

command_line.py SECONDS [SEED]: each command line runs in a fresh copy of a folder with specs, plans, a run, weights and
data. What must hold of any: it ends within TIME_LIMIT with an exit code that its `--help` says, an error is said and is
text, no sanitizer complains, it takes at most MEMORY, and what it was not told to touch is as before.
DTNN_BIN=DIR takes other programs than build/release/bin, those of a sanitized build say. Exit code 0: no fault.
"""

import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))
from commands import DTNN_RUN, DTNNC, TINY  # noqa: E402

TIME_LIMIT = 60
MEMORY = 2 << 30
# One measures the machine for a minute, one lasts until it is ended: their options are read, and they are not run.
UNTRIED = ("calibrate", "serve")
TOO_LARGE_TO_TUNE = ("resnet18", "digits_ranks", "simplecnn")
GARBAGE = ("", "-", "--", "=", "--=", "-1", "0", "1e400", "nan", "\x1b[31m", "\u00e9\u202e", "a" * 5000, "../..", "/dev/null",
           "/dev/full", "/proc/self/mem", ".", "%s%n", "{", "[", "x=" + "[" * 3000, "training.batch_size=", "=5", "training.batch_size=0",
           "model=none", "a.b.c.d=1", "--help", "\udcff\udcfe", "18446744073709551616", "tiny.yaml:3", "\n", "tiny.yaml\n")
WORDS = {"SPEC": ("tiny.yaml", "bad.yaml", "digits_ranks", "resnet18", "simplecnn", "empty.yaml", "one.plan.json"),
         "PLAN": ("one.plan.json", "many.plan.json", "tiny.yaml", "cut.plan.json"),
         "COMMAND": ("check", "weights list", "chek"), "SHELL": ("bash", "fish"), "WORD": ("conv2d", "check", "unknown-field"),
         "RUN": ("run", "other"), "FILE": ("run/weights.safetensors", "run", "weights.npz", "map.json"),
         "--set": ("training.batch_size=8", "training.epochs=1", "model.layers[0].conv2d.filters=2", "training.optimizer=adam"),
         "--sweep": ("training.batch_size=8,16", "training.epochs=1,1", "training.batch_size=1..3"),
         "--weights": ("run/weights.safetensors", "weights.npz", "map.json"), "--map": ("map.json", "tiny.yaml", "torchvision"),
         "--plan": ("one.plan.json", "many.plan.json", "tiny.yaml"), "--keep": ("dense_1.*", "*", "none/*", "{"),
         "--resume": ("run", "other"), "--output": ("out", "run", "tiny.yaml", "out/in/side", "out.npz"), "--trace": ("trace.json",),
         "--log-samples": ("samples.jsonl",), "--input": ("test", "x.npy", "image.png", "."), "--target": ("cpu", "cuda"),
         "--isa": ("baseline", "avx512", "avx1024"), "--memory-budget": ("1KiB", "4GiB", "-1"), "--spec-path": (".", "none"),
         "--disable": ("fuse_epilogues", "schedule", "none"), "--emit": ("differentiate:train", "lower:predict", "none:none"),
         # More ranks are more processes than this machine has room for.
         "--ranks": ("1", "2", "0", "x", "1000001"), "--max-restarts": ("0", "1", "-1"), "--steps": ("1", "3", "0"),
         "--threads": ("1", "2", "0", "4097"), "--contact-sheet": ("sheet.png",), "--time": ("0:10:00", "x"), "--machine": ("laptop", "none")}
NUMBERS = ("1", "2", "3", "17", "0", "-1", "4096", "2147483648", "x")


class Option:
    """One of --help's lines: what it is called, whether it takes a value, the words it says."""

    def __init__(self, names, kind):
        self.name = names.split(", ")[-1]
        self.choices = kind.split("|") if kind.islower() else []
        self.takes_value = bool(kind)
        self.is_number = kind in ("N", "X")


def help_of(program, words):
    return subprocess.run([program, *words, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout


def part_of(text, title):
    """What stands below a title of --help."""
    found = re.search(rf"^{title}:\n((?:  .*\n)+)", text, re.M)
    return found.group(1) if found else ""


def commands_of(program):
    """[(words of the command, positionals, options, its exit codes)]"""
    text = help_of(program, ())
    commands = []
    for words in re.findall(r"^  ([a-z]+(?: [a-z]+)?)(?:\s|$)", text.partition("\nOptions of all commands:")[0], re.M):
        told = help_of(program, words.split())
        places = re.findall(r"^  (\[?[A-Z|]+)", part_of(told, "Arguments"), re.M)
        options = [Option(*match) for match in re.findall(r"^  (?:    )?(--?[\w-]+(?:, --[\w-]+)*)(?: (\S+))?(?:  .*)?$", part_of(told, "Options"), re.M)]
        codes = {int(code) for code in re.findall(r"^  (\d+) ", part_of(told, "Exit codes"), re.M)}
        commands.append((words.split(), places, [option for option in options if option.name != "--help"], codes))
    return commands


class Scene:
    """The folder that every command line finds."""

    def __init__(self, folder):
        self.folder = folder
        self.write("tiny.yaml", TINY.replace("train_samples: 300", "train_samples: 90"))
        self.write("bad.yaml", TINY.replace("conv2d", "conv3d").replace("units: 10", "units: x"))
        self.write("empty.yaml", "")
        self.write("map.json", '{"*": "*"}\n')
        self.write("ranks.yaml", TINY.replace("train_samples: 300", "train_samples: 90") + "parallel: {data: auto}\n")
        for name, plan in (("tiny", "one"), ("ranks", "many")):
            self.run(DTNNC, "compile", f"{name}.yaml", "-o", f"{plan}.plan.json")
        with open(os.path.join(folder, "one.plan.json"), encoding="utf-8") as file:
            self.write("cut.plan.json", file.read()[:5000])
        self.run(DTNN_RUN, "one.plan.json", "--output", "run", "--progress", "none")
        self.run(DTNN_RUN, "weights", "export", "run/weights.safetensors", "-o", "weights.npz")
        os.makedirs(os.path.join(folder, "other"))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, *command):
        subprocess.run(command, check=True, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def value_of(draw, option, name):
    if draw.random() < 0.15:
        return draw.choice(GARBAGE)
    if option is not None and option.choices:
        return draw.choice(option.choices)
    if name in WORDS:
        return draw.choice(WORDS[name])
    return draw.choice(NUMBERS) if option is not None and option.is_number else draw.choice(("out", "tiny.yaml", *NUMBERS))


def command_line(draw, command):
    words, places, options, _ = command
    line = []
    for option in draw.sample(options, min(len(options), draw.choice((0, 1, 1, 2, 3, 6)))):
        if not option.takes_value:
            line.append(option.name)
        elif draw.random() < 0.5 and option.name.startswith("--"):
            line.append(f"{option.name}={value_of(draw, option, option.name)}")
        else:
            line += [option.name, value_of(draw, option, option.name)]
    for place in places:
        kinds = place.split("|")
        for _ in range(draw.choice((1, 1, 1, 1, 0, 2))):
            kind = "SPEC" if place in ("A", "B") else draw.choice(kinds)
            line.insert(draw.choice((0, len(line))), value_of(draw, None, kind))
    for _ in range(draw.choice((0, 0, 0, 1, 2))):
        what = draw.randrange(4)
        if what == 0 and line:
            line.pop(draw.randrange(len(line)))
        elif what == 1 and line:
            line.insert(draw.randrange(len(line)), draw.choice(line))
        elif what == 2:
            line.insert(draw.randrange(len(line) + 1), draw.choice(GARBAGE))
        else:
            draw.shuffle(line)
    # Measuring each kernel of a large network takes a minute by itself.
    if words == ["tune"]:
        line = ["tiny.yaml" if word in TOO_LARGE_TO_TUNE else word for word in line]
    return [*words, *line]


def untouched(line, folder, before):
    """Specs and data that no word names are what they were."""
    named = " ".join(line)
    for name, content in before.items():
        if name in named:
            continue
        try:
            with open(os.path.join(folder, name), "rb") as file:
                if file.read() != content:
                    return f"{name} has changed"
        except OSError:
            return f"{name} is gone"
    return ""


def try_line(program, line, codes, folder, before):
    """Why it is a fault; empty: it is none."""
    environment = dict(os.environ, NO_COLOR="1", DTNN_TUNING="times.json", UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1", ASAN_OPTIONS="detect_leaks=0")
    arguments = [os.fsencode(word) for word in [program, *line]]
    top = os.path.dirname(folder)
    with open(os.path.join(top, "told"), "w+b") as told, open(os.path.join(top, "answer"), "w+b") as answer:
        process = subprocess.Popen(arguments, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=answer, stderr=told,
                                   start_new_session=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28)))
        end = time.monotonic() + TIME_LIMIT
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > end:
                os.killpg(process.pid, 9)
                os.wait4(process.pid, 0)
                return f"it has not ended after {TIME_LIMIT} s"
            time.sleep(0.002)
        process.returncode = code = os.waitstatus_to_exitcode(status)
        told.seek(0)
        text = told.read()
        answered = answer.seek(0, os.SEEK_END) > 0
    name = os.path.basename(program)
    # Those that its help says; nothing is our mistake, and nobody stops it.
    if code not in codes - {70, 75}:
        return f"exit code {code}: {text[-3000:].decode(errors='replace')}"
    if re.search(rb"Sanitizer|runtime error:|internal error", text):
        return text[-3000:].decode(errors="replace")
    differ = name == "dtnnc" and "diff" in line[:1] and code == 1
    # With --format json diagnostics are the answer.
    if code != 0 and not text.strip() and not differ and not (answered and "json" in " ".join(line)):
        return f"exit code {code} without a word"
    try:
        text.decode()
    except UnicodeDecodeError:
        return f"its words are no UTF-8: {text!r}"
    # Colour and a moving bar may be asked for, whatever reads them.
    if b"\x1b" in text and not {"always", "bar"} & set(" ".join(line).replace("=", " ").split()):
        return f"escape sequences reach the terminal: {text!r}"
    if usage.ru_maxrss * 1024 > MEMORY:
        return f"it took {usage.ru_maxrss >> 10} MiB"
    return untouched(line, folder, before)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    draw = random.Random(seed)
    tried, codes = {}, {}
    with tempfile.TemporaryDirectory(prefix="dtnn-command-line-") as top:
        scene = os.path.join(top, "scene")
        os.makedirs(scene)
        Scene(scene)
        before = {}
        for name in os.listdir(scene):
            if os.path.isfile(os.path.join(scene, name)):
                with open(os.path.join(scene, name), "rb") as file:
                    before[name] = file.read()
        commands = [(program, command) for program in (DTNNC, DTNN_RUN) for command in commands_of(program) if command[0][0] not in UNTRIED]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            program, command = draw.choice(commands)
            line = command_line(draw, command)
            folder = os.path.join(top, "here")
            shutil.copytree(scene, folder)
            why = try_line(program, line, command[3], folder, before)
            shutil.rmtree(folder)
            name = " ".join((os.path.basename(program), *command[0]))
            tried[name] = tried.get(name, 0) + 1
            if why:
                print(f"fault: {os.path.basename(program)} {line!r}\n{why}\nseed {seed}, trial {sum(tried.values())}")
                return 1
    print(f"command lines: {sum(tried.values())} of {len(tried)} commands in {seconds:.0f} s, no fault; left out: {', '.join(UNTRIED)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
