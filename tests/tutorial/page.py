"""A page of Markdown as a script: what its fenced blocks say is done, in their order, in a folder of its own.

The words behind a block's language say what the block is:

    ```yaml file=net.yaml        the file net.yaml of the folder; any language, any name
    ```yaml part=training        a piece of a training, a dataset or a job: `dtnnc check` of a job that has it
    ```yaml file=job.yaml warns  a job that warnings are said of; of others there must be none
    ```sh                        commands, as one script of bash that ends at the first failure
    ```sh exit=3                 commands of which the last one to run ends with 3
    ```sh needs=mpiexec,dot      commands that are left out, with a note, where one of these programs, a library
                                 beside ours that programs can load (libdtnn_codegen.so), kernels for an instruction
                                 set (avx2), a server (boost) or vocabularies (pcre2) are not there
    ```sh not-run="reason"       left out everywhere; so are files and pieces with these words
    ```text output               what the commands before it print, standard error included
    ```text output numbers=vary  the same, but for the numbers and the units of times

A spec that begins with `kind:` and has no words is a file called by its `name`, and `dtnnc check` has no complaint.
In an output, `...` stands for any text of a line, and a line of it for any lines. Comments that no reader sees:

    <!-- run: COMMAND -->         is run as a block of commands is; `run needs=...:` likewise
    <!-- check: EXPRESSION -->    Python that must be true, with the functions of `Folder`

Commands see the two programs on the path, `DTNN`, the root of the repository, and no tuning or configuration of the
user. They stand for what a reader types, so there is nothing else that a page can do."""

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from commands import BIN, DTNN_RUN, ROOT, SANITIZED, is_there, limit, why_no_ranks

BLOCK = re.compile(r"^(?P<indent> *)```(?P<info>[^`\n]*)\n(?P<text>.*?)^(?P=indent)```$"
                   r"|^<!-- (?P<comment>run|check)(?P<words>(?: needs=\S+)?): (?P<code>.*?)\s-->$", re.M | re.S)
# Blocks of other languages (and of none) are pictures, messages and code of others.
DONE = {"sh", "yaml", "json"}
OTHER_NAMES = {"bash": "sh", "shell": "sh", "console": "sh", "yml": "yaml"}
NUMBER = r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?:[kMG]\b)?"
DURATION = r"\d[\d.]* (?:ms|s|min|h)\b(?: \d+ (?:s|min)\b)?"


PATIENCE = 120  # seconds for a block of commands under sanitizers, which make of a training's seconds an hour


class PageError(Exception):
    """What a page says is not so."""


class PageTooSlow(Exception):
    """What a page does takes too long under sanitizers."""


class Step:
    """A fenced block, or a comment that says what to do."""

    def __init__(self, line, language, words, text):
        self.line, self.language, self.text = line, language, text
        self.flags = {word for word in words if "=" not in word}
        self.values = dict(word.split("=", 1) for word in words if "=" in word)

    def unknown_words(self):
        return (self.flags - {"output", "warns"}) | (set(self.values) - {"file", "part", "exit", "needs", "not-run", "numbers"})


def steps(markdown):
    """What the page does, in its order."""
    found = []
    for match in BLOCK.finditer(markdown):
        line = markdown.count("\n", 0, match.start()) + 1
        if match["comment"]:
            found.append(Step(line, match["comment"], match["words"].split(), match["code"]))
            continue
        language, *words = shlex.split(match["info"]) or [""]
        if language in OTHER_NAMES:
            raise PageError(f"line {line}: `{language}` is written {OTHER_NAMES[language]}")
        text = re.sub(f"^{match['indent']}", "", match["text"], flags=re.M)
        step = Step(line, language, words, text)
        if language in DONE or step.flags or step.values:
            found.append(step)
    comments = sum(step.language in ("run", "check") for step in found)
    if comments != len(re.findall("^<!-- *(?:run|check)", markdown, re.M)):
        raise PageError("a comment that begins with `run` or `check` has another form than `<!-- run: ... -->`")
    return found


PROGRESS = r"(?m)^epoch \d+/\d+, step .*\n"  # what a run says after half a minute without another line


def pattern(text, numbers_vary):
    """The regular expression of an output: see above."""
    lines = []
    for line in text.splitlines():
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
            continue
        parts = re.split(r"(\.\.\.|\s+|" + DURATION + "|" + NUMBER + ")", line.rstrip())
        form = ""
        for part in parts:
            if part == "...":
                form += ".*"
            elif part.isspace():
                form += r"[ \t]+"
            elif numbers_vary and (kind := next((kind for kind in (DURATION, NUMBER) if re.fullmatch(kind, part)), None)):
                form += kind
            else:
                form += re.escape(part)
        lines.append(form + r"[ \t]*\n")
    return "".join(lines)


class Folder:
    """Where a page's commands run, and what its checks look at."""

    def __init__(self, path):
        self.path, self.output = path, ""

    def name(self, name):
        return os.path.join(self.path, name)

    def exists(self, name):
        return os.path.exists(self.name(name))

    def text(self, name):
        with open(self.name(name), encoding="utf-8") as file:
            return file.read()

    def events(self, run, kind):
        """The events of a run's history that are of one kind."""
        events = [json.loads(line) for line in self.text(os.path.join(run, "history.jsonl")).splitlines()]
        return [event for event in events if event["event"] == kind]

    def test(self, run, measure):
        """A loss or metric of the last evaluation of a run's test samples."""
        return self.events(run, "evaluate")[-1]["test"][measure]

    def rows(self, name):
        with open(self.name(name), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


class Page:
    def __init__(self, path):
        """The path is one from the root of the repository."""
        self.path = path
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            self.steps = steps(file.read())
        self.skipped = []

    @staticmethod
    def has(name):
        """Whether a program, a library beside ours, an instruction set, a server (boost) or vocabularies (pcre2) are there; mpiexec is of use with
        ours only."""
        if name.startswith("avx"):
            with open(os.path.join(BIN, "..", "CMakeCache.txt"), encoding="utf-8") as cache:
                sets = re.search("^DTNN_INSTRUCTION_SETS:.*=(.*)$", cache.read(), re.M)
            return not sets or name in sets[1].split(";") or sets[1] == "all"
        if name == "mpiexec":
            return not why_no_ranks("mpiexec")
        if name in ("boost", "pcre2"):
            with open(DTNN_RUN, "rb") as program:
                return {"boost": b"built without Boost.Beast", "pcre2": b"built without PCRE2"}[name] not in program.read()
        if name.endswith(".so"):
            return is_there(name) and not SANITIZED  # whose runtime has to be in the program
        return bool(shutil.which(name))

    def fail(self, step, what):
        raise PageError(f"{self.path}:{step.line}: {what}")

    def run(self, path):
        """Does what the page says in the folder `path`, which is empty."""
        folder = Folder(path)
        caches = os.path.join(os.path.dirname(path), "cache")
        self.environment = dict(os.environ, NO_COLOR="1", DTNN=ROOT, DTNN_CACHE_DIR=caches,
                                DTNN_TUNING=os.path.join(path, ".tuning.json"), PYTHONDONTWRITEBYTECODE="1",
                                PATH=BIN + os.pathsep + os.environ.get("PATH", ""))
        self.environment.pop("DTNN_SPEC_PATH", None)
        for step in self.steps:
            if unknown := step.unknown_words():
                self.fail(step, f"`{sorted(unknown)[0]}` says nothing about a block")
            if "not-run" in step.values:
                if len(step.values["not-run"]) < 10:
                    self.fail(step, "not-run has no reason")
                continue
            self.do(step, folder)
        for step in self.steps:
            if step.text.startswith("kind: job\n") and "file" in step.values and "warns" not in step.flags:
                self.shell(Step(step.line, "sh", [], f"dtnnc check --strict {step.values['file']}\n"), folder)

    def do(self, step, folder):
        if step.language == "check":
            names = {name: getattr(folder, name) for name in ("exists", "text", "events", "test", "rows", "output")}
            if not eval(step.text, names):  # pylint: disable=eval-used: the page is the repository's own
                self.fail(step, f"it does not hold that {step.text}\n{folder.output[-3000:]}")
        elif step.language == "run" or step.language == "sh":
            missing = [name for name in step.values.get("needs", "").split(",") if name and not self.has(name)]
            if missing:
                folder.output = None
                self.skipped.append(f"{self.path}:{step.line}: {missing[0]} is not installed")
            else:
                self.shell(step, folder)
        elif "output" in step.flags:
            self.compare(step, folder)
        elif "part" in step.values:
            self.check_part(step, folder)
        else:
            self.write_file(step, folder)

    def shell(self, step, folder, expected=None):
        script = 'trap \'echo "line $((LINENO - 1)) of the block failed: $BASH_COMMAND" >&2\' ERR\n' + step.text
        command = ["bash", "-e", "-o", "pipefail", "-c", script]
        if SANITIZED:
            command = ["timeout", "--kill-after=5", str(PATIENCE), *command]
        done = subprocess.run(command, cwd=folder.path, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=limit(300), check=False)
        if SANITIZED and done.returncode == 124:
            raise PageTooSlow(f"{self.path}:{step.line}: it takes more than {PATIENCE} seconds under sanitizers")
        expected = int(step.values.get("exit", expected or 0))
        if done.returncode != expected:
            self.fail(step, f"exit code {done.returncode}, not {expected}:\n{step.text}{done.stdout[-6000:]}")
        folder.output = re.sub(r"^(?:bash: line \d+: )?line \d+ of the block failed: .*\n", "", done.stdout, flags=re.M)

    def compare(self, step, folder):
        if folder.output is None:
            return  # of a command that was left out
        printed = folder.output if re.search(PROGRESS, step.text) else re.sub(PROGRESS, "", folder.output)
        if not re.fullmatch(pattern(step.text, step.values.get("numbers") == "vary"), printed):
            self.fail(step, f"the output is another:\n{folder.output}--- the page has\n{step.text}")

    def write_file(self, step, folder):
        name = step.values.get("file")
        if not name:
            if not step.text.startswith("kind: "):
                self.fail(step, "say what the block is: file=NAME, part=KIND or not-run=REASON")
            named = re.search(r"^name: ([\w-]+)$", step.text, re.M)
            name = (named[1] if named else step.text.split()[1]) + ".yaml"
        os.makedirs(os.path.dirname(folder.name(name)), exist_ok=True)
        with open(folder.name(name), "w", encoding="utf-8") as file:
            file.write(step.text)
        if "file" not in step.values:
            self.shell(Step(step.line, "sh", [], f"dtnnc check {shlex.quote(name)}\n"), folder)

    def check_part(self, step, folder):
        """A job of the smallest parts that there are, with the piece in the place of its own."""
        part = step.values["part"]
        parts = {"model": "model: residual_small\n", "dataset": "dataset: digits\n", "training": "training: {}\n"}
        if part == "job":
            parts = {key: text for key, text in parts.items() if not re.search(f"^{key}:", step.text, re.M)}
            job = "kind: job\n" + "".join(parts.values()) + step.text
        elif part in parts:
            parts[part] = f"{part}:\n" + re.sub("^(?=.)", "  ", step.text, flags=re.M)
            job = "kind: job\n" + "".join(parts.values())
        else:
            self.fail(step, f"a part is of a model, a dataset, a training or a job, not of a `{part}`")
        with open(folder.name("part.yaml"), "w", encoding="utf-8") as file:
            file.write(job)
        self.shell(Step(step.line, "sh", [], "dtnnc check part.yaml\n"), folder)
