#!/usr/bin/env python3
"""NOTICE names what is linked and what is installed to build; the other files of the project agree with it and with
the build."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from commands import BIN, DTNNC, ROOT, run

# NOTICE's names of the packages of tools/packages.txt; None: a tool of every build, which leaves nothing behind.
PACKAGES = {"g++": "GCC's run time", "cmake": "CMake", "ninja-build": "Ninja", "git": None, "ca-certificates": None,
            "libyaml-cpp-dev": "yaml-cpp", "nlohmann-json3-dev": "nlohmann-json", "libcli11-dev": "CLI11",
            "libfmt-dev": "fmt", "libblis-serial-dev": "BLIS", "libxxhash-dev": "xxHash", "libhwloc-dev": "hwloc",
            "libjemalloc-dev": "jemalloc", "zlib1g-dev": "zlib", "libjpeg-dev": "libjpeg-turbo",
            "libpng-dev": "libpng", "libarchive-dev": "libarchive", "libpcre2-dev": "PCRE2", "mpich": "MPICH", "libmpich-dev": "MPICH",
            "doctest-dev": "doctest", "libbenchmark-dev": "Google Benchmark", "clang": "clang",
            "libclang-rt-dev": "libFuzzer", "clang-format": "clang-format", "clang-tidy": "clang-tidy",
            "python3": "Python", "python3-jsonschema": "python3-jsonschema", "python3-yaml": "python3-yaml",
            "graphviz": "Graphviz", "dpkg-dev": "dpkg", "file": "file", "groff-base": "groff", "fish": "fish", "zsh": "zsh", "llvm-19-dev": "LLVM",
            "libboost-dev": "Boost"}
# NOTICE's names of the shared libraries that programs name.
LIBRARIES = {"libjemalloc": "jemalloc", "libyaml-cpp": "yaml-cpp", "libfmt": "fmt", "libjpeg": "libjpeg-turbo",
             "libpng16": "libpng", "libz": "zlib", "libarchive": "libarchive", "libxxhash": "xxHash",
             "libhwloc": "hwloc", "libpcre2-8": "PCRE2", "libstdc++": "libstdc++", "libgcc_s": "libgcc", "libm": "GNU C library",
             "libc": "GNU C library", "libdl": "GNU C library", "librt": "GNU C library",
             "libpthread": "GNU C library", "ld-linux-x86-64": "GNU C library", "ld-linux-aarch64": "GNU C library",
             "libLLVM": "LLVM", "libLLVM-19": "LLVM", "libmpich": "MPICH", "libmpi": "Open MPI", "libcudnn": "cuDNN",
             "libcublasLt": "cuBLASLt", "libcudart": "CUDA runtime", "libcuda": "CUDA runtime",
             # These belong to the sanitizers' builds, which are not handed on.
             "libasan": "GCC's run time", "libubsan": "GCC's run time", "libtsan": "GCC's run time"}


def text_of(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


class ProjectFiles(unittest.TestCase):
    def test_notice_names_the_packages(self):
        lines = [re.sub("^(check|optional) ", "", line).strip() for line in text_of("tools/packages.txt").splitlines()]
        packages = [line for line in lines if line and not line.startswith("#")]
        self.assertEqual(sorted(set(packages) - set(PACKAGES)), [], "add it here, and to NOTICE where it is linked")
        for package in packages:
            self.assertIn(PACKAGES[package] or "", text_of("NOTICE"), package)

    def refused(self, *options):
        """What CMake says with these options, which it refuses."""
        with tempfile.TemporaryDirectory() as folder:
            command = ["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "-DDTNN_CUDA=OFF", *options]
            process = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertNotEqual(process.returncode, 0)
        return process.stdout

    def test_missing_libraries_are_all_named_at_once(self):
        said = self.refused(*[f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("fmt", "yaml-cpp", "JPEG")])
        for line in ("These libraries are not found: fmt, yaml-cpp, libjpeg\n",
                     "  apt-get install libfmt-dev libyaml-cpp-dev libjpeg-dev\n",
                     "  spack install fmt yaml-cpp libjpeg-turbo\n"):
            self.assertIn(line, said)

    def test_a_library_that_does_not_link_is_refused_before_anything_is_compiled(self):
        with tempfile.NamedTemporaryFile(suffix=".a") as library:
            library.write(b"!<arch>\n")
            library.flush()
            said = self.refused(f"-DLibArchive_LIBRARY={library.name}")
            self.assertIn("A program does not link with these libraries", said)
            self.assertIn(library.name, said)

    def test_notice_names_what_programs_are_linked_with(self):
        if not shutil.which("readelf"):
            print("skipped: readelf is not installed", file=sys.stderr)
            return
        notice = text_of("NOTICE")
        for name in ("dtnnc", "dtnn-run", "libdtnn_runtime.so", "libdtnn_codegen.so", "libdtnn_mpich.so", "libdtnn_openmpi.so", "libdtnn_cuda.so"):
            path = os.path.join(BIN, name)
            if not os.path.exists(path) and name.endswith(".so"):
                continue  # optional
            said = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
            needed = re.findall(r"\(NEEDED\).*\[(.+?)\.so", said)
            self.assertTrue(needed, name)
            for library in needed:
                self.assertIn(library, LIBRARIES, f"{name}: add it here and to NOTICE")
                self.assertIn(LIBRARIES[library], notice, name)

    def test_the_operators_pages_name_operands_as_their_signatures_do(self):
        pages = ("docs/operators.md", "docs/training_operators.md")
        rows = [re.split(r"(?<!\\) \| ", line.strip("| \n")) for page in pages
                for line in text_of(page).splitlines() if line.startswith("| ")]
        cells = {name: row[1:3] for row in rows if len(row) > 2 for name in row[0].split(", ")}
        table = text_of("base/tensor/signatures.def")
        for match in re.finditer(r"^DTNN_SIGNATURE\((\w+),([^)]*)\)", table, re.M):
            lists = re.split(r'"\s*,\s*"', match[2].strip().strip('"'))
            self.assertTrue(match[1] in cells, f"no row for {match[1]} in {pages}")
            for operands, cell in zip(lists, cells[match[1]]):
                at = 0
                for name in (re.match(r"\w+", operand)[0] for operand in operands.replace('"', " ").split()):
                    found = re.compile(rf"\b{name}\b").search(cell, at)
                    self.assertTrue(found, f"{match[1]}: `{name}` is not in its place in: {cell}")
                    at = found.end()

    @unittest.skipUnless(os.path.exists(os.path.join(ROOT, ".git")), "no checkout of git")
    def test_what_is_committed_is_text(self):
        """A file of somebody else's, an archive say, comes in by an `add` of everything."""
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
        binary = []
        for name in filter(None, listed.split("\0")):
            path = os.path.join(ROOT, name)
            if os.path.isfile(path) and not name.startswith(("tests/", "docs/pictures/")):
                with open(path, "rb") as file:
                    if b"\0" in file.read():
                        binary.append(name)
        self.assertEqual(binary, [])

    def test_licence_is_whole(self):
        licence = text_of("LICENSE")
        self.assertIn("Version 2.0, January 2004", licence)
        self.assertIn("END OF TERMS AND CONDITIONS", licence)
        for section in range(1, 10):
            self.assertRegex(licence, rf"(?m)^   {section}\. [A-Z]")

    def test_citation_has_the_version_of_the_build(self):
        citation = yaml.safe_load(text_of("CITATION.cff"))
        version = run(DTNNC, "--version").stdout
        self.assertIn(citation["version"], version)
        self.assertEqual(citation["license"], "Apache-2.0")
        self.assertEqual([author["name"] for author in citation["authors"]], ["The dtnn authors"])


if __name__ == "__main__":
    unittest.main()
