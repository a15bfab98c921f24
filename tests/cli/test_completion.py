"""Completion: what the scripts offer, and what becomes of a line when Tab is pressed in bash, zsh and fish."""

import os
import pty
import re
import select
import shutil
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import BIN, CommandTest, limit, run
from test_terminal import PROGRAMS, commands_of, help_of, rows

# Words as typed, and the line once Tab was pressed.
TYPED = [
    # commands
    ("dtnnc compi", "dtnnc compile "),
    ("dtnn-run ev", "dtnn-run evaluate "),
    ("dtnn-run weights li", "dtnn-run weights list "),
    ("dtnnc help sum", "dtnnc help summary "),
    # options, once; those that may be repeated again
    ("dtnnc compile --mem", "dtnnc compile --memory-budget "),
    ("dtnnc compile --isa avx2 --is", "dtnnc compile --isa avx2 --is"),
    ("dtnnc compile --set a=1 --se", "dtnnc compile --set a=1 --set "),
    ("dtnn-run plan.json --dry", "dtnn-run plan.json --dry-run "),
    ("dtnnc check -- --fo", "dtnnc check -- --fo"),
    # values of options
    ("dtnnc summary x --format js", "dtnnc summary x --format json "),
    ("dtnnc summary x --format=js", "dtnnc summary x --format=json "),
    ("dtnnc compile --disable fuse_ep", "dtnnc compile --disable fuse_epilogues "),
    # names of specs, words of the language
    ("dtnnc check zebra_n", "dtnnc check zebra_net "),
    ("dtnnc explain conv2d.fi", "dtnnc explain conv2d.filters "),
    ("dtnnc explain unknown-fie", "dtnnc explain unknown-field "),
    # files and folders
    ("dtnnc summary ti", "dtnnc summary tiny.yaml "),
    ("dtnnc summary one", "dtnnc summary one\\ plan.json "),
    ("dtnnc check ~/mi", "dtnnc check ~/mine.yaml "),
    ("dtnnc check two\\ words/ne", "dtnnc check two\\ words/net.yaml "),
    ("dtnn-run --resume runs/f", "dtnn-run --resume runs/first/"),
    ("dtnn-run train p --trace=no", "dtnn-run train p --trace=notes.txt "),
]

# For each shell: how it is started with the file `begin`, and the file, which binds ^G to telling the line.
SHELLS = {
    "bash": (["bash", "--noprofile", "--rcfile", "begin", "-i"], r"""
        PS1=
        for script in completion.*; do source "$script"; done
        tell() { printf '%s\n' "$READLINE_LINE" > line.new; mv line.new line; }
        bind 'set enable-bracketed-paste off'
        bind -x '"\C-g": tell'
        echo begun > line
        """),
    "zsh": (["zsh", "-d", "-f", "-i"], r"""
        PS1=
        unsetopt beep prompt_sp prompt_cr
        autoload -Uz compinit
        compinit -D -u
        for script in completion.*; do source "./$script"; done
        # The offers, beside what becomes of the line.
        compadd() {
            local -a words
            if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
                builtin compadd -A words "$@"
                (( $#words )) && print -rl -- "${words[@]}" >> offered
            fi
            builtin compadd "$@"
        }
        tell() { print -r -- "$BUFFER" > line.new; mv line.new line; }
        zle -N tell
        bindkey '^G' tell
        echo begun > line
        """),
    "fish": (["fish", "--no-config", "-i", "-C", "source begin"], r"""
        function fish_prompt; end
        for script in completion.*; source $script; end
        function tell; commandline > line.new; mv line.new line; end
        bind \cg tell
        bind \cu kill-whole-line
        echo begun > line
        """),
}


class Keyboard:
    """A shell in a terminal of its own, in this folder, at which somebody types."""

    def __init__(self, shell, folder, environment):
        self.folder = folder
        words, text = SHELLS[shell]
        with open(os.path.join(folder, "begin"), "w", encoding="utf-8") as file:
            file.write(text)
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, environment)
        if shell == "zsh":  # it would read all that is the system's or the user's
            self.type("source ./begin\n")
        self.line()

    def type(self, text):
        os.write(self.terminal, text.encode())

    def line(self):
        """What the shell tells next."""
        path, end = os.path.join(self.folder, "line"), time.monotonic() + limit(60)
        seen = b""
        while not os.path.exists(path):
            if time.monotonic() > end:
                raise AssertionError(f"the shell does not answer; it wrote {seen!r}")
            if select.select([self.terminal], [], [], 0.005)[0]:
                seen += os.read(self.terminal, 65536)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        os.unlink(path)
        return text.removesuffix("\n")

    def complete(self, text):
        """The line when Tab was pressed behind the text."""
        self.type(text + "\t\x07")
        line = self.line()
        self.type("\x15")
        return line

    def close(self):
        os.kill(self.process, signal.SIGKILL)
        os.close(self.terminal)
        os.waitpid(self.process, 0)


class Pressed(CommandTest):
    """In real shells, at a terminal."""

    def setUp(self):
        super().setUp()
        for folder in ("home", "runs/first", "two words", "specs/models"):
            os.makedirs(self.path(folder))
        for file in ("notes.txt", "one plan.json", "home/mine.yaml", "two words/net.yaml", "specs/models/zebra_net.yaml"):
            self.write(file, "")
        self.environment = {"PATH": BIN + ":" + os.environ["PATH"], "HOME": self.path("home"), "TERM": "dumb",
                            "DTNN_SPEC_PATH": self.path("specs"), "ZDOTDIR": self.path("home"), "LC_ALL": "C.UTF-8",
                            "XDG_CONFIG_HOME": self.path("home"), "XDG_DATA_HOME": self.path("home")}

    def shell(self, name):
        if not shutil.which(name):
            self.skipTest(f"{name} is not installed")
        for program in PROGRAMS:
            self.write(f"completion.{program}", self.expect(run(PROGRAMS[program], "completion", name), 0).stdout)
        try:
            keyboard = Keyboard(name, self.folder, self.environment)
        except OSError as error:  # as in a container without /dev/pts
            self.skipTest(f"no terminal can be had: {error}")
        self.addCleanup(keyboard.close)
        return keyboard

    def check_lines(self, name):
        keyboard = self.shell(name)
        for typed, line in TYPED:
            with self.subTest(shell=name, typed=typed):
                self.assertEqual(keyboard.complete(typed), line)

    def test_bash(self):
        self.check_lines("bash")

    def test_zsh(self):
        self.check_lines("zsh")

    def test_fish(self):
        self.check_lines("fish")

    def check_offers(self, offered):
        """`offered`: the words that a shell offers for lines."""
        lines, wanted = ["dtnnc comp", "dtnnc summary x --format "], [{"compile", "completion"},
                                                                     {"text", "table", "markdown", "csv", "json"}]
        for program in PROGRAMS:
            lines.append(program + " ")
            wanted.append({name.split()[0] for name in commands_of(program)})
            for name in commands_of(program):
                lines.append(f"{program} {name} -")
                terms = " ".join(rows(help_of(program, *name.split()), "Options"))
                wanted.append(set(re.findall(r"(?:^|, | )(--?[a-z][\w-]*)", terms)) - {"-h"})
        found = offered(lines)
        for line, words, exactly in zip(lines, wanted, [True, True] + [False] * len(lines)):
            with self.subTest(line=line):
                self.assertFalse(words - found[line])
                self.assertTrue(words)
                if exactly:
                    self.assertEqual(found[line], words)

    def test_zsh_offers_every_command_and_option(self):
        keyboard = self.shell("zsh")

        def offered(lines):
            found = {}
            for line in lines:
                self.write("offered", "")
                keyboard.complete(line)
                found[line] = set(self.read("offered").split("\n")) - {""}
            return found
        self.check_offers(offered)

    def test_fish_offers_every_command_and_option(self):
        self.shell("fish")

        def offered(lines):
            self.write("lines", "\n".join(lines) + "\n")
            script = ("for script in completion.*; source $script; end; "
                      "while read -l line; echo \">$line\"; complete -C $line; end < lines")
            said = self.expect(run("fish", "--no-config", "-c", script, cwd=self.folder, env=self.environment), 0)
            self.assertEqual(said.stderr, "")
            found = {}
            for line in said.stdout.splitlines():
                if line.startswith(">"):
                    words = found[line[1:]] = set()
                else:
                    words.add(line.split("\t")[0])
            return found
        self.check_offers(offered)


class Offered(CommandTest):
    """What bash would offer at Tab, by its script."""

    def bash(self, *words, program="dtnnc"):
        """The words as bash takes them apart, the last one being completed."""
        script = self.expect(run(PROGRAMS[program], "completion", "bash"), 0).stdout
        self.write("completion.bash", script)
        function = "_" + program.replace("-", "_")
        call = (f"source completion.bash; COMP_WORDS=({program} \"$@\"); COMP_CWORD=$#; {function}; "
                "printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = run("bash", "--norc", "-c", call, "bash", *words, cwd=self.folder,
                   env={"PATH": BIN + ":" + os.environ["PATH"], "DTNN_SPEC_PATH": self.path("specs")})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line for line in done.stdout.split("\n") if line]

    def test_commands(self):
        self.assertEqual(self.bash("comp"), ["compile", "completion"])
        everything = self.bash("")
        for name in commands_of("dtnnc"):
            self.assertIn(name, everything)
        self.assertEqual(self.bash("help", "sum"), ["summary"])
        self.assertEqual(self.bash("ev", program="dtnn-run"), ["evaluate"])
        self.assertEqual(self.bash("weights", "", program="dtnn-run"), ["list", "export", "import"])
        self.assertEqual(self.bash("help", "weights", "l", program="dtnn-run"), ["list"])

    def test_options(self):
        self.assertEqual(self.bash("compile", "--mem"), ["--memory-budget"])
        self.assertIn("--no-requeue", self.bash("slurm", "plan.json", "--"))
        # An option that may not be given again is not offered again.
        self.assertEqual(self.bash("compile", "--isa", "avx2", "--is"), [])
        self.assertEqual(self.bash("compile", "--set", "a=1", "--se"), ["--set"])
        self.assertEqual(self.bash("--resu", program="dtnn-run"), ["--resume"])
        self.assertEqual(self.bash("plan.json", "--dry", program="dtnn-run"), ["--dry-run"])

    def test_every_option_of_the_help_is_completed(self):
        for program in PROGRAMS:
            for name in commands_of(program):
                offered = self.bash(*name.split(), "-", program=program)
                for term in rows(help_of(program, *name.split()), "Options"):
                    for flag in re.findall(r"(?:^|, )(--?[\w-]+)", term):
                        if flag != "-h":
                            self.assertIn(flag, offered, f"{program} {name}")

    def test_values(self):
        self.assertEqual(self.bash("summary", "x", "--format", ""), ["text", "table", "markdown", "csv", "json"])
        # Bash takes --format=js for three words.
        self.assertEqual(self.bash("summary", "x", "--format", "=", "js"), ["json"])
        self.assertEqual(self.bash("summary", "x", "--format", "="), ["text", "table", "markdown", "csv", "json"])
        self.assertEqual(self.bash("compile", "--disable", "fuse_ep"), ["fuse_epilogues"])
        self.assertEqual(self.bash("completion", ""), ["bash", "zsh", "fish", "words"])
        self.assertEqual(self.bash("bench", "p", "--program", "", program="dtnn-run"), ["train", "evaluate", "predict"])

    def test_specs_words_and_files(self):
        os.makedirs(self.path("specs/models/room"))
        os.makedirs(self.path("specs/jobs"))
        self.write("specs/models/room/zebra_net.yaml", "kind: model\n")
        self.write("specs/jobs/zebra_job.yaml", "kind: job\n")
        self.assertEqual(self.bash("check", "zebra_"), ["zebra_job", "zebra_net"])
        self.assertIn("resnet50", self.bash("compile", "resnet"))
        self.assertIn("conv2d", self.bash("explain", "conv2"))
        self.assertIn("conv2d.filters", self.bash("explain", "conv2d.f"))
        self.assertEqual(self.bash("explain", "unknown-fie"), ["unknown-field"])
        self.write("one plan.json", "{}")
        self.write("notes.txt", "")
        os.makedirs(self.path("runs/first"))
        self.assertEqual(self.bash("summary", "ti"), ["tiny.yaml"])
        self.assertEqual(self.bash("summary", "one"), ["one plan.json"])
        self.assertEqual(self.bash("compile", "not"), [])
        self.assertEqual(self.bash("one", program="dtnn-run"), ["one plan.json"])
        self.assertEqual(self.bash("--resume", "runs/f", program="dtnn-run"), ["runs/first"])
        self.assertEqual(self.bash("report", "ru", program="dtnn-run"), ["runs"])
        self.assertEqual(self.bash("weights", "list", "not", program="dtnn-run"), ["notes.txt"])
        self.assertIn("test", self.bash("predict", "p", "--weights", "w", "--input", "t", program="dtnn-run"))
        # Behind -- there are no options.
        self.assertEqual(self.bash("check", "--", "--fo"), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
