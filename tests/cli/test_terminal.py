"""What both programs tell of themselves: help, misspelt words, manual pages, standard input."""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import BIN, DTNN_RUN, DTNNC, ROOT, CommandTest, run, why_no_ranks
from test_files import gray_png
from test_generate import GPT

PROGRAMS = {"dtnnc": DTNNC, "dtnn-run": DTNN_RUN}
# DESIGN says them; the table of the code has to.
CODES = {0, 1, 2, 3, 4, 5, 6, 70, 75}
# Examples that measure the machine for a minute, or last until they are ended.
LONG = ("dtnnc calibrate", "mpiexec -n 2 dtnnc calibrate", "dtnn-run serve")
# Without LLVM no code is generated.
LLVM = os.path.exists(os.path.join(BIN, "libdtnn_codegen.so"))
# Without PCRE2 no text is taken apart.
with open(os.path.join(BIN, "libdtnn_runtime.so"), "rb") as library:
    PCRE2 = b"libpcre2" in library.read()


def section(text, title):
    """The lines of a part of `--help`."""
    found = re.search(rf"^{re.escape(title)}:\n((?:  .*\n)+)", text, re.M)
    return found.group(1).split("\n")[:-1] if found else []


def rows(text, title):
    """{term: text} of a part of `--help`, lines joined."""
    found, term = {}, None
    for line in section(text, title):
        match = re.match(r"  (?:    )?(\S.*?)(?:  +(\S.*))?$", line) if not line.startswith(" " * 10) else None
        if match:
            term = match.group(1)
            found[term] = match.group(2) or ""
        else:
            found[term] = (found[term] + " " + line.strip()).strip()
    return found


def help_of(program, *words):
    process = run(PROGRAMS[program], *words, "--help")
    assert (process.returncode, process.stderr) == (0, ""), (words, process.stderr)
    return process.stdout


def commands_of(program):
    """The names of all commands, of one word or of two."""
    names = []
    for title in re.findall(r"^(\S.*):$", help_of(program), re.M):
        if title in ("Options of all commands", "Exit codes", "Environment", "Examples"):
            continue
        for term in rows(help_of(program), title):
            words = [word for word in term.split() if re.fullmatch(r"[a-z]+", word)]
            names.append(" ".join(words))
    return names


def codes_of(text):
    return {int(code) for code in rows(text, "Exit codes")}


def examples_of(text):
    """[(command, what it does)]"""
    lines = section(text, "Examples")
    return [(line.strip(), lines[i + 1].strip()) for i, line in enumerate(lines) if not line.startswith("      ")]


class Help(CommandTest):
    def test_the_table_of_exit_codes_is_the_designs(self):
        with open(os.path.join(ROOT, "tools", "command_line", "exit_codes.def"), encoding="utf-8") as file:
            table = {int(code): meaning for code, meaning in re.findall(r"^DTNN_EXIT_CODE\(\w+, (\d+), \"(.*)\"\)$",
                                                                        file.read(), re.M)}
        self.assertEqual(set(table), CODES)
        for program in PROGRAMS:
            text = help_of(program)
            self.assertEqual({int(code): meaning for code, meaning in rows(text, "Exit codes").items()}, table)
            for code in table:
                found = subprocess.run(["grep", "-cE", rf"^  {code} "], input=text, text=True, capture_output=True)
                self.assertEqual(found.stdout, "1\n", code)
        # Every diagnostic has one, too.
        with open(os.path.join(ROOT, "compiler", "support", "diagnostics.def"), encoding="utf-8") as file:
            diagnostics = {int(code) for code in re.findall(r"^DTNN_DIAGNOSTIC\(\w+, (\d+),", file.read(), re.M)}
        self.assertTrue(diagnostics and diagnostics <= codes_of(help_of("dtnnc")))
        self.assertLessEqual(diagnostics, codes_of(help_of("dtnnc", "compile")))

    def test_programs_say_arguments_commands_by_purpose_exit_codes_and_examples(self):
        for program, purposes in (("dtnnc", ("Prepare", "Look", "Compare", "Measure", "Learn", "Help")),
                                  ("dtnn-run", ("Look", "Measure", "Run", "Use", "Help"))):
            text = help_of(program)
            self.assertTrue(text.startswith(program + ": "))
            titles = re.findall(r"^(\S.*):$", text, re.M)
            for purpose in purposes:
                self.assertTrue(any(title.startswith(purpose) for title in titles), (purpose, titles))
            self.assertGreaterEqual(len(examples_of(text)), 3)
            self.assertIn(f"Usage: {program}", text)
        self.assertIn("  check SPEC... ", help_of("dtnnc"))
        self.assertIn("  evaluate PLAN ", help_of("dtnn-run"))

    def test_every_command_says_what_it_takes_its_exit_codes_and_an_example(self):
        for program in PROGRAMS:
            names = commands_of(program)
            self.assertGreater(len(names), 8)
            for name in names:
                with self.subTest(f"{program} {name}"):
                    text = help_of(program, *name.split())
                    usage = re.search(r"^Usage: (.*)$", text, re.M).group(1)
                    self.assertTrue(usage.startswith(f"{program} {name}"), usage)
                    # Words in capitals there are explained below.
                    named = re.findall(r"(?<![-\w|])\[?([A-Z][A-Z|]*)(?:\.\.\.)?\]?(?= |$)", usage.split(" -")[0].replace("[OPTIONS]", ""))
                    arguments = rows(text, "Arguments")
                    self.assertEqual([term.removesuffix("...") for term in arguments], named)
                    for term, told in {**arguments, **rows(text, "Options")}.items():
                        self.assertGreater(len(told), 8 if term != "-h, --help" else 3, term)
                    self.assertLessEqual({0, 2, 70}, codes_of(text))
                    self.assertLessEqual(codes_of(text), CODES)
                    self.assertTrue(examples_of(text))
                    for command, what in examples_of(text):
                        self.assertIn(f"{program} {'' if name == 'train' else name}".strip(), command)
                        self.assertGreater(len(what), 5)
                    self.assertLessEqual(max(map(len, text.partition("\nExamples:\n")[0].split("\n"))), 100)
                    told = self.expect(run(PROGRAMS[program], "help", *name.split()), 0)
                    self.assertEqual(told.stdout, text)

    def test_help_of_what_there_is_not(self):
        self.expect(self.dtnnc("help", "compil"), 2, "no command is named `compil`", "did you mean `compile`?")
        self.expect(self.dtnn_run("help", "weights", "lst"), 2, "did you mean `list`?")
        self.expect(self.dtnn_run("help", "weights"), 0, "weights list FILE", "weights export FILE")
        self.expect(self.dtnn_run("weights", "--help"), 0, "weights list FILE")
        self.assertEqual(self.dtnnc("help").stdout, help_of("dtnnc"))

    def test_every_word_of_the_index_is_explained(self):
        with open(os.path.join(ROOT, "docs", "words.md"), encoding="utf-8") as file:
            rows = re.findall(r"^\| ([^|]+?) \| (.+) \|$", file.read(), re.M)[1:]
        self.assertGreater(len(rows), 80)
        for words, where in rows:
            page = re.search(r"\]\((?:\.\./)?([^)]*)\)", where)[1]
            for word in words.split(", "):
                self.expect(self.dtnnc("explain", word), 0, page)
        for spelt in ("KFold", "k_fold", "Cross Validation", "ONNX", "serving", "ensemble"):
            self.expect(self.dtnnc("explain", spelt), 0, "index of pages")
        self.expect(self.dtnnc("explain", "servng"), 2, "did you mean `serving`?")

    def test_words_of_other_programs_are_answered_with_what_does_it_here(self):
        plan = self.compile()
        for command, said in ((("train", "tiny.yaml"), "`dtnn-run plan.json` trains"), (("fit",), "dtnn-run plan.json"),
                              (("validate", "tiny.yaml"), "`dtnnc check SPEC`"), (("weights",), "dtnn-run --help"),
                              (("help", "sweep"), "`dtnn-run sweep DIR`"), (("sbatch", plan), "`dtnnc slurm PLAN"),
                              (("compile", "tiny.yaml", "--epochs", "3"), "`--set training.epochs=3`"),
                              (("compile", "tiny.yaml", "--device=cuda"), "--target cuda"),
                              (("slurm", plan, "--gres", "gpu:2"), "`--ranks` and `--nodes`"),
                              (("compile", "tiny.yaml", "--target", "gpu"), "cuda, which is for GPUs"),
                              (("compile", "tiny.yaml", "training.epochs=3"), "`--set training.epochs=3` changes a field"),
                              (("compile", "tiny.yaml", "--training.epochs=3"), "`--set training.epochs=3` changes a field"),
                              (("compile", "tiny.yaml", "--training.epochs", "3"), "`--set training.epochs=VALUE` changes a field"),
                              (("compile", "tiny.yaml", "--set", "training.epochs", "3"), "`--set training.epochs=3`"),
                              (("compile", "tiny.yaml", "-D", "training.epochs=3"), "`--set` changes it"),
                              (("compile", "tiny.yaml", "--config_name", "x"), "`dtnnc compile job.yaml`"),
                              (("compile", "tiny.yaml", "--multirun"), "`dtnn-run sweep FOLDER`"),
                              (("compile", "tiny.yaml", "-O3"), "every plan is optimised"),
                              (("compile", "tiny.yaml", "-j", "4"), "`--threads N`"),
                              (("compile", "tiny.yaml", "--verbose"), "`dtnnc explain PLAN`"),
                              (("compile", "tiny.yaml", "-o"), "--output needs a value: --output FILE"),
                              (("slurm", plan, "-p", "gpu"), "`--partition NAME`"),
                              (("ls",), "`dtnnc explain` lists the words"), (("download", "cifar10"), "nothing to download"),
                              (("describe", plan), "`dtnnc summary PLAN`"), (("print", plan), "`dtnnc resolve SPEC`"),
                              (("plot", plan), "`dtnnc graph SPEC"), (("flops", plan), "--with flops"),
                              (("convert", "model.onnx"), "weights export"), (("version",), "`dtnnc --version`"),
                              (("generate", "words"), "`dtnn-run generate RUN --prompt TEXT`")):
            with self.subTest(command):
                process = self.expect(self.dtnnc(*command), 2, "help: ", said)
                self.assertEqual(process.stdout, "")
        for command, said in ((("compile", "tiny.yaml"), "`dtnnc compile SPEC"), (("fit", plan), "dtnn-run plan.json"),
                              (("resume", "run"), "`dtnn-run --resume RUN`"), (("explain", "relu"), "dtnnc --help"),
                              (("test", plan), "`dtnn-run evaluate PLAN"), (("help", "diff"), "dtnnc --help"),
                              ((plan, "--set", "training.epochs=3"), "`dtnnc compile SPEC --set training.epochs=3"),
                              ((plan, "--lr=0.1"), "the plan says it"), ((plan, "--gpus", "2"), "`--ranks N`"),
                              ((plan, "--pretrained", "x"), "`--weights FILE`"),
                              ((plan, "--epochs", "3"), "`dtnnc compile SPEC --set training.epochs=3"),
                              ((plan, "--resume"), "--resume needs a value: --resume RUN"),
                              ((plan, "--ckpt_path", "last"), "`--resume RUN` goes on"),
                              ((plan, "--nproc_per_node", "2"), "`--ranks N`"), ((plan, "--devices=2"), "`--ranks N`"),
                              ((plan, "training.epochs=3"), "the plan says it"), ((plan, "--overwrite"), "`--force`"),
                              (("infer", plan), "`dtnn-run predict PLAN"),
                              (("chat",), "`dtnn-run generate RUN --prompt TEXT`"),
                              (("onnx", plan), "weights export"), (("logs", "runs/x"), "history.jsonl"),
                              (("status",), "history.jsonl"), (("frobnicate", plan), "no command is named `frobnicate`"),
                              (("predict", plan, "--weights", "x", "--image", "a.png"), "`--input FILE`"),
                              (("bench", plan, "--profile"), "`--per-step`"), (("bench", plan, "--iterations", "9"), "`--steps N`"),
                              (("version",), "`dtnn-run --version`")):
            with self.subTest(command):
                process = self.expect(self.dtnn_run(*command), 2, "help: ", said)
                self.assertEqual(process.stdout, "")

    def test_misspelt_words_are_answered_with_what_may_be_meant(self):
        plan = self.compile()
        for command, meant in ((("chek", "tiny.yaml"), "check"), (("sumary", "tiny.yaml"), "summary"),
                               (("compile", "tiny.yaml", "--taget", "cpu"), "--target"),
                               (("compile", "--output-file=x", "tiny.yaml"), "--output"),
                               (("check", "tiny.yaml", "--max-eror", "3"), "--max-errors"),
                               (("--hlep",), "--help"), (("check", "--versoin"), "--version"),
                               (("summary", "tiny.yaml", "--format", "jsn"), "json"),
                               (("check", "tiny.yaml", "--color=allways"), "always"),
                               (("tiny.yaml",), "dtnnc check tiny.yaml")):
            with self.subTest(command):
                process = self.expect(self.dtnnc(*command), 2, f"did you mean `{meant}`?")
                self.assertEqual(process.stdout, "")
        for command, meant in ((("trian",), "train"), (("evalute", plan), "evaluate"), (("repor", "run"), "report"),
                               (("--resum", "run"), "--resume"), ((plan, "--ouput", "run"), "--output"),
                               (("weights", "exprot", "run"), "export"), (("bench", plan, "--per-steps"), "--per-step"),
                               ((plan, "--progress", "plian"), "plain")):
            with self.subTest(command):
                process = self.expect(self.dtnn_run(*command), 2, f"did you mean `{meant}`?")
                self.assertEqual(process.stdout, "")
        # All of them at once, and no guess where nothing is near.
        process = self.expect(self.dtnnc("compile", "--taget", "cpu", "--xyzzy", "tiny.yaml"), 2, "--target", "--xyzzy",
                              "`dtnnc compile --help`")
        self.assertEqual(process.stderr.count("did you mean"), 1)
        # The value of an option is no option, and nothing behind -- is.
        self.expect(self.dtnnc("check", "--set", "--taget", "tiny.yaml"), 2, "--set")
        self.expect(self.dtnnc("check", "--", "--taget"), 2, "cannot read `--taget`")
        # The name of a file that is there is no misspelt command.
        shutil.copy(plan, self.path("trian"))
        self.expect(self.dtnn_run("trian", "--output", "run", "--progress", "none"), 0)

    def test_missing_and_superfluous_words(self):
        self.expect(self.dtnnc("compile"), 2, "SPEC is missing", "`dtnnc compile --help`")
        self.expect(self.dtnnc("graph", "tiny.yaml"), 2, "--output is missing")
        self.expect(self.dtnnc("compile", "tiny.yaml", "tiny.yaml"), 2, "nothing more is expected at `tiny.yaml`")
        self.expect(self.dtnnc("help", "check", "compile"), 2)
        self.expect(self.dtnn_run("weights"), 2, "list, export")
        self.expect(self.dtnn_run("train", "x.json", "--map", "m.json"), 2, "--map", "--weights")
        self.expect(self.dtnn_run("--resume", "run", "--force"), 2, "--force", "--resume")

    def test_examples_work(self):
        """Each as it stands, in a folder that has what it names."""
        scene = self.scene()
        here = self.path("here")
        environment = {"PATH": BIN + ":" + os.environ["PATH"], "DTNN_CACHE_DIR": self.path("cache"),
                       "DTNN_TUNING": self.path("times.json")}
        tried = set()
        for program in PROGRAMS:
            texts = [help_of(program)] + [help_of(program, *name.split()) for name in commands_of(program)]
            for command in dict.fromkeys(command for text in texts for command, _ in examples_of(text)):
                if command.startswith(LONG):
                    continue
                if "--ranks 2" in command and why_no_ranks():
                    print(f"skipped: no mpiexec for `{command}`", file=sys.stderr)
                    continue
                if "| man " in command and not shutil.which("man"):
                    print(f"skipped: no man for `{command}`", file=sys.stderr)
                    continue
                if "codegen" in command and not LLVM:
                    print(f"skipped: no LLVM for `{command}`", file=sys.stderr)
                    continue
                if "books/" in command and not PCRE2:
                    print(f"skipped: no PCRE2 for `{command}`", file=sys.stderr)
                    continue
                if ".svg" in command and "graph" in command and not shutil.which("dot"):
                    print(f"skipped: no Graphviz for `{command}`", file=sys.stderr)
                    continue
                with self.subTest(command):
                    shutil.copytree(scene, here)
                    for made in re.findall(r"--output (\S+)", command):
                        shutil.rmtree(os.path.join(here, made), ignore_errors=True)
                    done = run("bash", "-c", "set -o pipefail; " + command, cwd=here, env=environment, timeout=240)
                    shutil.rmtree(here)
                    # A comparison may find something.
                    self.assertIn(done.returncode, (0, 1) if command.startswith("dtnnc diff") else (0,), done.stderr)
                    tried.add(command)
        self.assertGreater(len(tried), 40)

    def scene(self):
        folder = self.path("scene")
        os.makedirs(os.path.join(folder, "pictures"))
        os.makedirs(os.path.join(folder, "share", "man", "man1"))
        job = self.read("tiny.yaml")
        for name, text in (("job.yaml", job), ("ranks.yaml", job.replace("batch_size: 64", "batch_size: 8") +
                                               "parallel: {data: auto}\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text.replace("train_samples: 300", "train_samples: 1000").replace("digits", "synthetic, shape: [1, 28, 28], "
                                                                                             "classes: 10")
                           .replace("train_samples: 1000", "train_samples: 6000" if name == "ranks.yaml" else "train_samples: 300"))
        with open(os.path.join(folder, "pictures", "one.png"), "wb") as file:
            file.write(gray_png(28, 28))
        for name in ("rose", "daisy"):
            os.makedirs(os.path.join(folder, "flowers", name))
            for i in range(5):
                with open(os.path.join(folder, "flowers", name, f"{i}.png"), "wb") as file:
                    file.write(gray_png(28, 28))
        for words in (("job.yaml", "-o", "plan.json"), ("ranks.yaml", "-o", "ranks.json"),
                      ("job.yaml", "--set", "training.epochs=3", "-o", "other.json"),
                      ("job.yaml", "--sweep", "training.batch_size=32,64", "-o", "sw")):
            self.expect(run(DTNNC, "compile", *words, cwd=folder), 0)
        for name in ("first", "second"):
            self.expect(run(DTNN_RUN, "plan.json", "--output", "runs/" + name, cwd=folder), 0)
        with open(os.path.join(folder, "words.yaml"), "w", encoding="utf-8") as file:
            file.write(GPT)
        self.expect(run(DTNNC, "compile", "words.yaml", "-o", "words.json", cwd=folder), 0)
        self.expect(run(DTNN_RUN, "words.json", "--output", "runs/words", cwd=folder), 0)
        self.expect(run(DTNN_RUN, "weights", "export", "runs/first", "--layout", "torch", "-o", "theirs.safetensors",
                        cwd=folder), 0)
        shutil.copy(os.path.join(ROOT, "tests", "peers", "keras", "tiny_image.keras"), os.path.join(folder, "net.keras"))
        self.expect(run(DTNNC, "export", "plan.json", "--weights", "runs/first/weights.safetensors", "-o", "net.onnx",
                        cwd=folder), 0)
        self.expect(run(DTNNC, "compile", "job.yaml", "--sweep", "training.epochs=1,2", "-o", "sw", cwd=folder), 0)
        os.makedirs(os.path.join(folder, "books"))
        for name in ("one", "two"):
            shutil.copy(os.path.join(ROOT, "README.md"), os.path.join(folder, "books", name))
        if PCRE2:
            self.expect(run(DTNNC, "vocabulary", "books", "--size", "300", cwd=folder), 0)
        return folder


class StandardInput(CommandTest):
    def piped(self, *words, text=None, **options):
        return self.dtnnc(*words, input=self.read("tiny.yaml") if text is None else text, **options)

    def test_specs_are_read_from_it(self):
        plan = self.compile()
        os.remove(self.path("plan.json"))
        self.assertEqual(self.piped("check", "-").returncode, 0)
        self.expect(self.piped("compile", "-", "-o", "plan.json"), 0)
        self.expect(self.dtnnc("diff", "tiny.yaml", plan), 0)
        self.assertEqual(self.piped("diff", "-", plan).returncode, 0)
        self.assertEqual(self.piped("diff", plan, "-").returncode, 0)
        for words in (("summary", "-"), ("settings", "-"), ("resolve", "-"), ("graph", "-", "-o", "-"),
                      ("data", "-", "--no-step"), ("forecast", "-", "--machine", "laptop")):
            with self.subTest(words):
                told = self.expect(self.piped(*words), 0)
                named = self.expect(self.dtnnc(*["tiny.yaml" if word == "-" and i == 1 else word for i, word in enumerate(words)]), 0)
                if words[0] in ("summary", "graph", "forecast"):
                    self.assertEqual(told.stdout, named.stdout)

    def test_plans_are_read_from_it(self):
        plan = self.compile()
        text = self.read("plan.json")
        for words in (("summary", "-"), ("settings", "-"), ("diff", plan, "-"), ("explain", "-"), ("explain", "-", "conv2d"),
                      ("slurm", "-"), *([("codegen", "-")] if LLVM else [])):
            with self.subTest(words):
                self.expect(self.piped(*words, text=text), 0)
        self.assertEqual(self.piped("summary", "-", text=text).stdout, self.dtnnc("summary", plan).stdout)
        self.expect(self.piped("check", "-", text=text), 3, "<stdin>", "plan")
        self.expect(self.piped("summary", "-", text=text[:5000]), 5, "<stdin>")

    def test_alone_it_is_checked(self):
        process = self.expect(self.piped("-"), 0)
        self.assertTrue(process.stdout.startswith("<stdin>: ok: 5 layers, "), process.stdout)
        wrong = self.read("tiny.yaml").replace("filters: 4", "filtres: 4")
        process = self.expect(self.piped("-", text=wrong), 3, "<stdin>:8:16: error:", "did you mean `filters`?")
        self.assertEqual(process.stderr, self.piped("check", "-", text=wrong).stderr)
        self.assertIn("    8 |     - conv2d: {filtres", process.stderr)
        (found,) = json.loads(self.expect(self.piped("-", "--format", "json", text=wrong), 3).stdout)["diagnostics"]
        self.assertEqual((found["file"], found["line"]), ("<stdin>", 8))
        self.expect(self.piped("-", "--set", "training.batch_size=0"), 3, "batch_size")

    def test_paths_and_names_are_those_of_the_working_directory(self):
        os.makedirs(self.path("inner"))
        self.write("inner/net.yaml", "kind: model\nname: net\ninput: {shape: [1, 28, 28]}\nlayers: [flatten, {dense: {units: 10}}, softmax]\n")
        job = "kind: job\nmodel: ./inner/net.yaml\ndataset: {extends: digits, train_samples: 200, test_samples: 64}\ntraining: adam\n"
        self.expect(self.piped("compile", "-", text=job), 0, "wrote stdin.plan.json")
        self.assertIn("stdin.plan.json", os.listdir(self.folder))
        self.expect(self.piped("check", "-", text=job.replace("./inner", "./outer")), 3, "<stdin>:2:8")
        # A file of its name is another one.
        self.write("<stdin>", "kind: job\n")
        self.expect(self.piped("check", "-", text=job), 0)

    def test_what_cannot_be_read(self):
        self.expect(self.piped("diff", "-", "-"), 2, "standard input can be read once")
        self.expect(self.piped("check", "-", "-"), 2, "standard input can be read once")
        self.expect(self.piped("check", "-", text=""), 3, "<stdin>")
        closed = run("sh", "-c", f"'{DTNNC}' check - <&-", cwd=self.folder)
        self.expect(closed, 2, "cannot read standard input")
        # Without an end it is read as far as a spec may go.
        with open("/dev/zero", "rb") as zeros:
            self.expect(self.dtnnc("check", "-", stdin=zeros, timeout=20), 3, "too-large")
        self.expect(self.piped("check", "-", text="# " + "x" * (5 << 20)), 3, "too-large")

    def test_formulas_and_sweeps(self):
        spec = self.read("tiny.yaml").replace("    - relu", "    - bent").replace(
            "  layers:", "  operators: {bent: {forward: \"max(x, 0.1 * x)\"}}\n  layers:", 1)
        self.expect(self.piped("explain", "--", "-#bent", text=spec), 0, "bent")
        process = self.expect(self.piped("summary", "-", "--sweep", "training.batch_size=32,64", "--format", "csv"), 0)
        self.assertEqual(len(process.stdout.splitlines()), 3)
        self.expect(self.piped("compile", "-", "--sweep", "training.batch_size=32,64", "-o", "wide"), 0)
        self.assertEqual(len(os.listdir(self.path("wide"))), 3)


class StandardInputOfRuns(CommandTest):
    """A plan from standard input, for one process."""

    def setUp(self):
        super().setUp()
        self.compile()
        self.text = self.read("plan.json")

    def piped(self, *words, text=None, **options):
        return self.dtnn_run(*words, input=self.text if text is None else text, **options)

    def test_runs_evaluates_predicts_and_measures(self):
        os.rename(self.path("plan.json"), self.path("kept.json"))
        self.expect(self.piped("-", "--output", "run", "--progress", "none"), 0)
        self.assertEqual(self.read("run/plan.json"), self.text)
        weights = "run/weights.safetensors"
        self.expect(self.piped("train", "-", "--output", "again", "--progress", "none"), 0)
        for words in (("evaluate", "-", "--weights", weights), ("predict", "-", "--weights", weights, "--input", "test"),
                      ("--dry-run", "-")):
            with self.subTest(words):
                named = self.dtnn_run(*["kept.json" if word == "-" else word for word in words])
                self.assertEqual(self.expect(self.piped(*words), 0).stdout, named.stdout)
        self.expect(self.piped("bench", "-", "--steps", "2"), 0)
        self.assertNotIn("<stdin>", os.listdir(self.folder))
        # A run that goes on needs no plan, and takes the one that it began with.
        self.expect(self.piped("-", "--resume", "run", "--epochs", "+1", "--progress", "none"), 0)

    def test_a_pipe_from_the_compiler(self):
        done = run("sh", "-c", f"'{DTNNC}' compile tiny.yaml -o - | '{DTNN_RUN}' - --output run --progress none", cwd=self.folder)
        self.expect(done, 0)
        self.assertEqual(self.read("run/plan.json"), self.text)

    def test_what_is_no_plan_is_five(self):
        for text in ("", "kind: job\n", self.text[:5000]):
            with self.subTest(text[:9]):
                self.expect(self.piped("-", "--output", "run", text=text), 5, "<stdin>")
                self.assertFalse(os.path.exists(self.path("run")))

    def test_several_processes_cannot_read_it(self):
        self.expect(self.piped("-", "--ranks", "2"), 2, "--ranks starts processes that each read the plan", "to a file")
        self.expect(self.piped("-", "--max-restarts", "1"), 2, "--max-restarts starts processes", "to a file")


class Manual(CommandTest):
    def test_pages_render_without_a_warning(self):
        if not shutil.which("groff"):
            self.skipTest("no groff (package groff-base) to render manual pages")
        for program in PROGRAMS:
            os.makedirs(self.path(program))
            self.expect(run(PROGRAMS[program], "man", "-o", self.path(program)), 0)
            pages = sorted(os.listdir(self.path(program)))
            names = [program] + [f"{program} {name}" for name in commands_of(program)]
            self.assertEqual(pages, sorted(name.replace(" ", "-") + ".1" for name in names))
            for page in pages:
                file = os.path.join(self.path(program), page)
                done = run("groff", "-man", "-ww", "-z", file)
                self.assertEqual((done.returncode, done.stderr), (0, ""), page)
                text = run("groff", "-man", "-Tascii", "-P-c", "-P-b", "-P-u", "-rLL=200n", file).stdout
                for title in ("NAME", "SYNOPSIS", "EXIT CODES", "EXAMPLES", "SEE ALSO"):
                    self.assertRegex(text, rf"(?m)^{title}$", page)

    def test_a_page_says_what_the_help_says(self):
        if not shutil.which("groff"):
            self.skipTest("no groff (package groff-base) to render manual pages")
        for program, name in (("dtnnc", "compile"), ("dtnn-run", "train"), ("dtnn-run", "weights list")):
            page = self.expect(run(PROGRAMS[program], "man", *name.split()), 0).stdout
            text = subprocess.run(["groff", "-man", "-Tascii", "-P-c", "-P-b", "-P-u", "-rLL=3000n"], input=page, text=True,
                                  capture_output=True, check=True).stdout
            told = " ".join(text.split())
            for part in ("Arguments", "Options", "Exit codes", "Examples"):
                for term, doc in rows(help_of(program, *name.split()), part).items():
                    for piece in (term, doc):
                        self.assertIn(" ".join(piece.replace("`", "").split()), told)
        self.expect(self.dtnnc("man", "compil"), 2, "did you mean `compile`?")


class Streams(CommandTest):
    """Answers on standard output, notes on standard error: the table of tools/README.md."""

    # command -> [(words, whether there is an answer, what is noted)]
    SAMPLES = {
        "dtnnc check": [(("tiny.yaml",), True, ""), (("tiny.yaml", "--quiet"), False, ""),
                         (("tiny.yaml", "--format", "json"), True, "")],
        "dtnnc compile": [(("tiny.yaml", "-o", "p.json"), False, "wrote p.json: "), (("tiny.yaml", "-o", "-"), True, ""),
                          (("tiny.yaml", "-o", "p.json", "--emit", "schedule"), True, "wrote p.json: "),
                          (("tiny.yaml", "-o", "wide", "--sweep", "training.epochs=1,2"), True, "wrote wide: 2 plans")],
        "dtnnc slurm": [(("plan.json",), True, None), (("plan.json", "-o", "job.sh"), False, "wrote job.sh")],
        "dtnnc summary": [(("tiny.yaml",), True, ""), (("plan.json", "--format", "csv"), True, "")],
        "dtnnc graph": [(("plan.json", "-o", "-"), True, ""), (("plan.json", "-o", "g.dot"), False, "wrote g.dot: ")],
        "dtnnc resolve": [(("tiny.yaml",), True, ""), (("tiny.yaml", "-o", "r.yaml"), False, "wrote r.yaml")],
        "dtnnc settings": [(("tiny.yaml",), True, "")],
        "dtnnc data": [(("tiny.yaml", "--no-step"), True, ""),
                       (("tiny.yaml", "--no-step", "--contact-sheet", "sheet.png"), True, "wrote sheet.png")],
        "dtnnc vocabulary": [(("tiny.yaml", "-o", "tokenizer.json"), False, "wrote tokenizer.json: ")] if PCRE2 else [],
        "dtnnc tokens": [(("tiny.yaml", "--vocabulary", "tokenizer.json", "-o", "t.bin"), False, "wrote t.bin: ")] if PCRE2 else [],
        "dtnnc codegen": [(("plan.json",), True, "")] if LLVM else [],
        "dtnnc export": [(("plan.json", "--weights", "run/weights.safetensors", "-o", "net.onnx"), False, "wrote net.onnx: ")],
        "dtnnc import": [(("net.onnx", "-o", "net.yaml", "--weights", "net.safetensors"), False, "wrote net.yaml: ")],
        "dtnnc diff": [(("tiny.yaml", "plan.json", "--set", "training.epochs=9"), True, "")],
        "dtnnc forecast": [(("tiny.yaml", "--machine", "laptop"), True, ""),
                           (("tiny.yaml", "--machine", "laptop", "--svg", "f.svg"), True, "wrote f.svg")],
        "dtnnc tune": [(("tiny.yaml", "--tuning", "t.json", "--repeats", "1", "-o", "tuned.json"), True, "wrote tuned.json")],
        "dtnnc explain": [((), True, ""), (("conv2d",), True, ""), (("plan.json",), True, "")],
        "dtnnc reference": [(("-o", "pages"), False, "wrote pages: ")],
        "dtnnc schema": [((), True, ""), (("-o", "schemas"), False, "wrote schemas: "),
                         (("-o", "schemas", "--kind", "job"), False, "wrote schemas: 2 files")],
        "dtnn-run train": [(("plan.json", "-o", "r1"), True, "epoch 2/2: "),
                           (("plan.json", "-o", "r2", "--format", "json", "--progress", "none"), True, ""),
                           (("plan.json", "--dry-run"), True, "")],
        "dtnn-run sweep": [(("sw", "--format", "csv"), True, "test: loss "), (("sw", "--table"), True, None)],
        "dtnn-run evaluate": [(("plan.json", "--weights", "run/weights.safetensors"), True, "")],
        "dtnn-run predict": [(("plan.json", "--weights", "run/weights.safetensors", "--input", "test"), True, ""),
                             (("plan.json", "--weights", "run/weights.safetensors", "--input", "test", "-o", "a.csv"), False,
                              "wrote a.csv")],
        "dtnn-run generate": [(("words", "--prompt", "the cat", "--length", "5"), True, ""),
                              (("words", "--prompt", "the cat", "--length", "5", "--format", "json"), True, "")],
        "dtnn-run bench": [(("plan.json", "--steps", "2"), True, ""),
                           (("plan.json", "--steps", "2", "--roofline", "r.svg", "--trace", "t.json"), True, "wrote r.svg")],
        "dtnn-run report": [(("run",), False, "wrote run/report.html"), (("run", "-o", "-"), True, "")],
        "dtnn-run weights list": [(("run",), True, "")],
        "dtnn-run weights export": [(("run", "-o", "w.npz"), False, "wrote w.npz")],
        "dtnn-run weights import": [(("run/weights.safetensors", "--plan", "plan.json", "-o", "own.safetensors"), False,
                                     "wrote own.safetensors")],
    }
    # It takes a minute; what it prints is held by tests/cli/test_forecast.py. Serving lasts until it is ended (test_serve.py).
    UNTRIED = {"dtnnc calibrate", "dtnn-run serve"}

    def test_every_command_has_a_row_and_samples(self):
        with open(os.path.join(ROOT, "tools", "README.md"), encoding="utf-8") as file:
            rows_of = set(re.findall(r"^\| `(dtnn[^`]*)` \|", file.read(), re.M))
        shared = ("help", "man", "completion")
        commands = {f"{program} {name}" for program in PROGRAMS for name in commands_of(program) if name not in shared}
        self.assertEqual(rows_of, commands)
        self.assertEqual(set(self.SAMPLES) | self.UNTRIED, commands)

    def test_answers_and_notes(self):
        plan = self.compile()
        self.expect(self.dtnn_run(plan, "--output", "run"), 0)
        self.compile(spec=self.write("words.yaml", GPT), plan="words.json")
        self.expect(self.dtnn_run("words.json", "--output", "words"), 0)
        self.expect(self.dtnnc("compile", "tiny.yaml", "--sweep", "training.epochs=1,2", "-o", "sw"), 0)
        shared = {f"{program} {name}": [(words, answers, notes)] for program in PROGRAMS for name, words, answers, notes in (
            ("help", ("man",), True, ""), ("man", (), True, ""), ("man", ("-o", "manuals"), False, "wrote manuals: "),
            ("completion", ("bash",), True, ""))}
        for command, samples in {**self.SAMPLES, **shared}.items():
            program, *words = command.split()
            for more, answers, notes in samples:
                with self.subTest((command, more)):
                    done = run(PROGRAMS[program], *words, *more, cwd=self.folder)
                    self.assertIn(done.returncode, (0, 1) if command == "dtnnc diff" else (0,), done.stderr)
                    self.assertEqual(done.stdout != "", answers, done.stdout[:300])
                    if notes == "":
                        self.assertEqual(done.stderr, "")
                    elif notes is not None:
                        self.assertIn(notes, done.stderr)

    def test_mistakes_are_no_answers(self):
        for command in ((DTNNC, "check", "nothing.yaml"), (DTNNC, "summary", "nothing.json"), (DTNNC, "explain", "xqzzy"),
                        (DTNNC, "diff", "nothing.json", "nothing.json"), (DTNN_RUN, "nothing.json"), (DTNN_RUN, "report", "nothing"),
                        (DTNN_RUN, "weights", "list", "nothing"), (DTNNC, "help", "xqzzy"), (DTNNC,), (DTNN_RUN,)):
            done = run(*command, cwd=self.folder)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, "", command)
            self.assertNotEqual(done.stderr, "", command)


class ProgressLines(CommandTest):
    def test_a_file_gets_lines_as_often_as_they_are_asked_for(self):
        """Of epochs that are longer than the interval; tests/unit/runtime/report_test.cpp has every half minute."""
        plan = self.compile("--set", "dataset={type: synthetic, train_samples: 60000, test_samples: 20000, shape: [1, 28, 28], classes: 10}",
                            "--set", "training.batch_size=1", "--set", "training.epochs=1", "--set", "training.validation_split=0.2")
        with open(self.path("slurm.out"), "w", encoding="utf-8") as file:
            self.assertEqual(self.dtnn_run(plan, "--output", "run", "--progress-every", "0.1", stdout=file, stderr=file).returncode, 0)
        lines = self.read("slurm.out").splitlines()
        told = [line for line in lines if re.match(r"epoch 1/1, step \d+/48000: loss \S+, accuracy \S+%; \S+ samples/s, \d+:\d\d left$", line)]
        (epoch,) = [event for event in self.history("run") if event["event"] == "epoch"]
        seconds = 48000 / epoch["samples_per_second"]
        self.assertGreaterEqual(len(told), 2)
        self.assertLessEqual(len(told), seconds / 0.1 + 1)
        steps = [int(re.search(r"step (\d+)", line).group(1)) for line in told]
        self.assertEqual(steps, sorted(set(steps)))
        self.assertTrue(any(line.startswith("validation: batch ") for line in lines), lines)
        self.assertTrue(any(line.startswith("test: batch ") for line in lines), lines)
        self.assertNotIn("\r", self.read("slurm.out"))
        # With the usual half minute there is nothing to tell of so short an epoch.
        done = self.expect(self.dtnn_run(plan, "--output", "again"), 0)
        if seconds < 25:
            self.assertNotIn("epoch 1/1, step", done.stderr)
        self.expect(self.dtnn_run(plan, "--output", "never", "--progress-every", "0"), 2, "--progress-every: 0 is not a number from 0.1")


class Pages(CommandTest):
    """docs/commands is what the programs say of themselves."""

    def test_pages_are_current(self):
        for program in PROGRAMS:
            committed = os.path.join(ROOT, "docs", "commands", program + ".md")
            written = self.expect(run(PROGRAMS[program], "man", "--format", "markdown"), 0).stdout
            if os.environ.get("DTNN_REWRITE_GOLDENS"):
                with open(committed, "w", encoding="utf-8") as file:
                    file.write(written)
            with open(committed, encoding="utf-8") as file:
                self.assertEqual(file.read(), written, f"`{program} man --format markdown -o docs/commands` writes it anew")
            for name in commands_of(program):
                self.assertIn(f"\n## `{program} {name}`\n", written)


if __name__ == "__main__":
    unittest.main(verbosity=2)
