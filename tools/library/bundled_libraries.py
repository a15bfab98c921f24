"""An installation with the libraries that no system is sure to have, for those who make a wheel or a tarball of it."""

import os
import re
import shutil
import struct
import subprocess
import sys

LEAST_GLIBC = (2, 34)
OURS = ("libdtnn.so.1", "libdtnn_core.so", "libdtnn_runtime.so")
PROGRAMS = ("dtnnc", "dtnn-run")
# What ELF says that a file is for (e_machine), and how the system and wheels call it.
MACHINES = {62: "x86_64", 183: "aarch64"}
# What older_glibc.c has for those systems whose glibc does not have it.
STAND_INS = {"arc4random", "arc4random_buf", "_dl_find_object"}


class Failed(Exception):
    """What is wrong, and what to do."""


def root():
    return os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def version():
    with open(os.path.join(root(), "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(dtnn VERSION (\S+)", file.read())[1]


def main_of(name, work):
    """Runs `work`; what fails is a message with a remedy."""
    try:
        work()
    except Failed as failure:
        fact, remedy = failure.args
        sys.exit(f"{name}: {fact}\nhelp: {remedy}")


def architecture_of(path):
    with open(path, "rb") as file:
        machine, = struct.unpack_from("<H", file.read(20), 18)
    if machine not in MACHINES:
        raise Failed(f"{path} is for a processor that has no name here (e_machine {machine})", "add it to MACHINES in bundled_libraries.py")
    return MACHINES[machine]


def install(build, folder):
    """The stripped installation of a build with DTNN_SHARED_CORE; which architecture it is for."""
    subprocess.run(["cmake", "--install", build, "--prefix", folder, "--strip"], check=True, stdout=subprocess.DEVNULL)
    if not os.path.exists(os.path.join(folder, "lib", "libdtnn_core.so")):
        raise Failed(f"{build} has no libdtnn_core.so", "configure it with -DDTNN_SHARED_CORE=ON, and build it")
    architecture, here = architecture_of(os.path.join(folder, "lib", "libdtnn_core.so")), os.uname().machine
    if architecture != here:  # the loader of the system says what belongs to it
        raise Failed(f"{build} is for {architecture}, and this machine is {here}", f"make it on a machine that is {architecture}")
    return architecture


def needed(path, theirs):
    """The libraries that a file is linked with, and those that they need, by name: the path of each. `theirs` are left out."""
    listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
    missing = re.findall(r"^\s*(\S+) => not found", listed, re.M)
    if missing:
        raise Failed(f"{path} needs {', '.join(missing)}", "install what is missing, or build again")
    return {name: place for name, place in re.findall(r"^\s*(\S+) => (\S+) \(", listed, re.M) if not theirs.match(name)}


def bring_along(files, theirs, folder):
    """Copies what the files need into the folder; of each its name, and where it came from."""
    others = {}
    for path in files:
        others.update(needed(path, theirs))
    brought = {name: os.path.realpath(place) for name, place in sorted(others.items()) if name not in OURS}
    for name, place in brought.items():
        shutil.copy(place, os.path.join(folder, name))
        os.chmod(os.path.join(folder, name), 0o644)
    return brought


class Needs:
    """The versions of glibc that an ELF file of 64 bits asks the loader for (System V ABI, and its symbol versions in the LSB)."""

    VERNEED, VERSYM, DYNSYM = 0x6FFFFFFE, 0x6FFFFFFF, 11

    def __init__(self, path):
        with open(path, "rb") as file:
            self.content = bytearray(file.read())
        self.path, self.versions = path, []  # of each: numbers, the library, its place, the symbols
        start, = self.read("<Q", 40)
        size, count = self.read("<HH", 58)
        headers = [start + i * size for i in range(count)]
        sections = {self.read("<I", header + 4)[0]: header for header in headers}
        if self.VERNEED not in sections:
            return
        symbols, length, linked = self.read("<QQI", sections[self.DYNSYM] + 24)
        names, = self.read("<Q", headers[linked] + 24)
        marks, = self.read("<Q", sections[self.VERSYM] + 24)
        by_index = {}
        for i in range(length // 24):
            index = self.read("<H", marks + 2 * i)[0] & 0x7FFF
            by_index.setdefault(index, []).append(self.text(names + self.read("<I", symbols + 24 * i)[0]))
        library, = self.read("<Q", sections[self.VERNEED] + 24)
        following = True
        while following:
            of_library, _, first, following = self.read("<HIII", library + 2)
            version = library + first
            for _ in range(of_library):
                index, name, step = self.read("<HII", version + 6)
                found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", self.text(names + name))
                if found:
                    self.versions.append(((int(found[1]), int(found[2])), library, version, by_index.get(index, [])))
                version += step
            library += following

    def read(self, form, offset):
        return struct.unpack_from(form, self.content, offset)

    def text(self, offset):
        return self.content[offset:self.content.index(0, offset)].decode()

    def youngest(self):
        return max((numbers for numbers, _, _, _ in self.versions), default=(0, 0))

    def let_stand_ins_serve(self):
        """Versions all of whose symbols have a stand-in become the library's oldest: its hash and its name, behind which their own
        index stays. The loader finds the symbols in libdtnn_core.so, which has them for any version."""
        before = bytes(self.content)
        for numbers, library, place, symbols in self.versions:
            if numbers > LEAST_GLIBC and set(symbols) <= STAND_INS:
                _, oldest = min((other[0], other[2]) for other in self.versions if other[1] == library)
                struct.pack_into("<I", self.content, place, *self.read("<I", oldest))
                struct.pack_into("<I", self.content, place + 8, *self.read("<I", oldest + 8))
        if self.content != before:
            with open(self.path, "wb") as file:
                file.write(self.content)


def youngest_glibc(paths):
    """The youngest glibc that one of the files needs, behind the stand-ins, and whose need that is."""
    youngest = (LEAST_GLIBC, "", [])
    for path in paths:
        Needs(path).let_stand_ins_serve()
        needs = Needs(path)
        if needs.youngest() > youngest[0]:
            youngest = (needs.youngest(), path, [name for numbers, _, _, names in needs.versions if numbers == needs.youngest() for name in names])
    if youngest[1]:
        print("{} needs glibc {}.{} ({}): build where glibc is {}.{} for older systems".format(
            os.path.basename(youngest[1]), *youngest[0], ", ".join(youngest[2]), *LEAST_GLIBC), file=sys.stderr)
    return youngest[0]
