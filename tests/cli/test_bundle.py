"""The tarball of tools/bundle: unpacked, moved, and run by an ordinary user to whom nothing is given.

    DTNN_BUNDLE=FILE            the tarball; else it is made where the build has DTNN_SHARED_CORE
    DTNN_BARE_TREE=FOLDER       a system without compiler (debootstrap --variant=minbase), which it is run in, too, by root alone
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import BIN, ROOT, CommandTest, run

sys.path.insert(0, os.path.join(ROOT, "tools", "library"))
from bundled_libraries import LEAST_GLIBC, Needs

TREE = os.environ.get("DTNN_BARE_TREE", "")
GLIBC = re.compile(r"(linux-vdso|ld-linux-[\w-]+|lib(c|m|dl|rt|pthread))\.so\.\d+$")
ROOTS = os.geteuid() == 0
NOBODY = 65534
# With /proc, which is there for this process alone.
IN_TREE = ["unshare", "--mount", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot --userspec=65534:65534 "$0" "$@"', TREE]
# In a folder of its own; "$1" is where the bundle lies.
WORK = """cd "$(mktemp -d)" && "$1/bin/dtnnc" compile digits_simplecnn --set dataset.train_samples=256 --set training.epochs=1 -o plan.json &&
"$1/bin/dtnn-run" plan.json -o run && "$1/bin/dtnnc" data digits && "$1/bin/dtnn-run" report run && ls run && id -u && rm -r "$PWD" """


class Bundle(CommandTest):
    def setUp(self):
        super().setUp()
        tarball = os.environ.get("DTNN_BUNDLE", "")
        if not tarball:
            if not os.path.exists(os.path.join(BIN, "libdtnn_core.so")):
                self.skipTest("the build has no DTNN_SHARED_CORE, and DTNN_BUNDLE names no tarball of tools/bundle")
            done = run(sys.executable, os.path.join(ROOT, "tools", "bundle"), os.path.dirname(BIN), "-o", self.folder, timeout=300)
            self.expect(done, 0)
            tarball, = glob.glob(self.path(f"dtnn-*-linux-{os.uname().machine}.tar.xz"))
        os.makedirs(self.path("first"))
        with tarfile.open(tarball) as archive:
            archive.extractall(self.path("first"))
        name, = os.listdir(self.path("first"))
        os.rename(self.path(f"first/{name}"), self.path("moved away"))
        self.bundle = self.path("moved away")
        os.chmod(self.folder, 0o755)

    def as_anybody(self, *command, before=()):
        """An ordinary user, who has no variables but where the system's programs are."""
        user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if ROOTS and not before else []
        return subprocess.run([*before, *user, "env", "-i", "PATH=/usr/bin:/bin", "HOME=/tmp", *command], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=300, check=False)

    def files(self):
        for folder in ("bin", "lib", "lib/dtnn"):
            for name in os.listdir(os.path.join(self.bundle, folder)):
                path = os.path.join(self.bundle, folder, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    with open(path, "rb") as file:
                        if file.read(4) == b"\x7fELF":
                            yield path

    def test_files_need_the_glibc_that_is_said_and_nothing_of_the_build(self):
        files = list(self.files())
        self.assertGreater(len(files), 12)
        for path in files:
            self.assertLessEqual(Needs(path).youngest(), LEAST_GLIBC, path)
            with open(path, "rb") as file:
                self.assertNotIn(os.path.dirname(BIN).encode(), file.read(), path)
        # What is begun with has a path, by which the others are found.
        for name in ("bin/dtnnc", "bin/dtnn-run", "lib/libdtnn.so.1", "lib/dtnn/libdtnn_runtime.so"):
            path = os.path.join(self.bundle, name)
            listed = self.as_anybody("ldd", path)
            for name, place in re.findall(r"^\s*(\S+)(?: => (\S.*))? \(0x", listed.stdout, re.M):
                self.assertTrue(GLIBC.search(name) or (place and place.startswith(self.bundle)), f"{path}: {name} {place}")
            self.assertNotIn("not found", listed.stdout, path)

    def test_it_has_all_that_is_installed(self):
        for name in ("README", "bin/dtnnc", "bin/dtnn-run", "lib/libdtnn.so.1", "include/dtnn.h", "share/dtnn/specs/jobs/digits_simplecnn.yaml",
                     "share/dtnn/python/dtnn/__init__.py", "share/man/man1/dtnn-run.1", "share/doc/dtnn/tutorial.md", "share/doc/dtnn/LICENSE",
                     "share/doc/dtnn/NOTICE", "share/doc/dtnn/licences/libstdc++6.txt",
                     "share/modulefiles/dtnn/*.lua", "share/bash-completion/completions/dtnnc"):
            self.assertTrue(glob.glob(os.path.join(glob.escape(self.bundle), name)), name)
        module, = glob.glob(os.path.join(glob.escape(self.bundle), "share/modulefiles/dtnn/*.lua"))
        with open(module, encoding="utf-8") as file:
            self.assertNotIn("/opt", file.read())

    def expect_training(self, done, user):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("not found", done.stderr)  # of versions, by the loader
        self.assertRegex(done.stdout, r"10,?000")
        self.assertIn("weights.safetensors", done.stdout)
        self.assertIn("report.html", done.stdout)
        self.assertEqual(done.stdout.split()[-1], str(user))

    @unittest.skipIf(ROOTS and shutil.which("setpriv") is None, "setpriv, which makes root an ordinary user, is not there")
    def test_an_ordinary_user_trains(self):
        self.expect_training(self.as_anybody("sh", "-c", WORK, "sh", self.bundle), NOBODY if ROOTS else os.geteuid())
        python = "import dtnn; print(dtnn.compile('digits_simplecnn').name)"
        done = self.as_anybody(f"PYTHONPATH={self.bundle}/share/dtnn/python", "python3", "-c", python)
        self.assertEqual((done.returncode, done.stdout), (0, "digits_simplecnn\n"), done.stderr)

    @unittest.skipUnless(TREE and ROOTS, "DTNN_BARE_TREE names no system without compiler, or this is not root")
    def test_an_ordinary_user_trains_in_a_system_without_compiler(self):
        for compiler in ("cc", "gcc", "c++", "clang", "ld"):
            self.assertFalse(os.path.exists(os.path.join(TREE, "usr", "bin", compiler)), compiler)
        place = os.path.join(TREE, "opt", "dtnn of a test")
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        shutil.copytree(self.bundle, place, symlinks=True)
        done = self.as_anybody("sh", "-c", WORK, "sh", "/opt/dtnn of a test", before=IN_TREE)
        self.expect_training(done, NOBODY)


if __name__ == "__main__":
    unittest.main(verbosity=2)
