"""The packing of programs, plans and the CPU's losses for a machine with a GPU (run)."""

import glob
import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile

from networks import COMPUTES, FIRST, MEASURED, MODELS, SHAPES, STEPS

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BIN = os.environ.get("DTNN_BIN", os.path.join(ROOT, "build", "release", "bin"))
# Libraries that the other machine has, or whose place is with its kernel or driver.
LEFT_THERE = ("linux-vdso", "ld-linux", "libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "libstdc++.so", "libgcc_s.so",
              "libcuda.so", "libcudart", "libcudnn", "libcublas", "libnccl")


def compile_plan(folder, name, model, device, settings):
    command = [os.path.join(BIN, "dtnnc"), "compile", model, "--target", device, "-o", os.path.join(folder, name)]
    for setting in settings:
        command += ["--set", setting]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)


def copy_libraries(of, folder):
    listed = subprocess.run(["ldd", of], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        words = line.split()
        if "=>" in words and not words[0].startswith(LEFT_THERE) and words[2].startswith("/"):
            shutil.copy2(words[2], os.path.join(folder, words[0]))


def train_on_cpu(folder, name, model, settings):
    """The history of the job's losses on the CPU, in FOLDER/cpu/NAME."""
    run, plan = os.path.join(folder, "cpu", name), f"{name}.cpu.json"
    compile_plan(folder, plan, model, "cpu", settings)
    plan = os.path.join(folder, plan)
    subprocess.run([os.path.join(BIN, "dtnn-run"), plan, "-o", run, "--progress", "none"], check=True, stdout=subprocess.DEVNULL)
    os.remove(plan)
    for file in glob.glob(run + "/*"):
        if os.path.basename(file) != "history.csv":
            shutil.rmtree(file) if os.path.isdir(file) else os.remove(file)


def make_archive(folder):
    """FOLDER.tar.xz. The programs have the same kernels, some tens of MiB apart: the dictionary reaches over all of them."""
    archive = folder.rstrip("/") + ".tar.xz"
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 1 << 28}]
    with lzma.open(archive, "wb", filters=filters) as file, tarfile.open(fileobj=file, mode="w|") as tar:
        tar.add(folder, os.path.basename(os.path.abspath(folder)))
    return archive


def pack(folder, mnist):
    library = os.path.join(BIN, "libdtnn_cuda.so")
    if not os.path.exists(library):
        sys.exit("tests/gpu/run: the build has no libdtnn_cuda.so: it needs nvcc, cuDNN 9, cuBLASLt and NCCL's header (see "
                 "docs/gpu.md)")
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("bin", "lib", "plans", "cpu"):
        os.makedirs(os.path.join(folder, part))
    for program in ("dtnn-run", "dtnnc", "test_kernels", "libdtnn_runtime.so", "libdtnn_cuda.so"):
        if not os.path.exists(os.path.join(BIN, program)):
            continue
        place = os.path.join(folder, "bin", program)
        shutil.copy2(os.path.join(BIN, program), place)
        subprocess.run(["strip", "--strip-unneeded", place], check=False)
        copy_libraries(os.path.join(BIN, program), os.path.join(folder, "lib"))
    for file in ("run", "networks.py", "torch_peer.py"):
        shutil.copy2(os.path.join(ROOT, "tests", "gpu", file), folder)
    plans = os.path.join(folder, "plans")
    for model, (batch, rate) in MODELS.items():
        # A step for each epoch, so that the history has the loss of every step.
        settings = [f"training.batch_size={batch}", f"training.epochs={STEPS}", f"dataset.train_samples={batch}",
                    f"dataset.test_samples={batch}", f"training.optimizer={{sgd: {{learning_rate: {rate}, momentum: 0.9}}}}"]
        settings += SHAPES.get(model, [])
        compile_plan(plans, f"{model}.cuda.json", model, "cuda", settings)
        if model in FIRST:
            for compute in COMPUTES:
                compile_plan(plans, f"{model}.{compute}.json", model, "cuda", settings + [f"training.compute={compute}"])
        train_on_cpu(folder, model, model, settings)
        compile_plan(plans, f"{model}.f64.json", model, "cuda", settings + ["training.dtype=f64"])
        train_on_cpu(folder, f"{model}.f64", model, settings + ["training.dtype=f64"])
    for model, batch, settings, _ in MEASURED.values():
        compile_plan(plans, f"{model}.bench.json", model, "cuda", [f"training.batch_size={batch}"] + settings)
    compile_plan(plans, "long.cuda.json", "simplecnn", "cuda",
                 ["training.batch_size=64", "training.epochs=40", "dataset.train_samples=6400", "dataset.test_samples=64",
                  "training.checkpoint={every_epochs: 1}"])
    with open(os.path.join(ROOT, "kernels", "cuda", "catalogue.def"), encoding="utf-8") as file:
        operators = sorted(set(re.findall(r"^(?:KERNEL|JOINED|LIBRARY)\((\w+),", file.read(), re.MULTILINE)))
    with open(os.path.join(folder, "operators.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(operators))
    if mnist:
        shutil.copytree(mnist, os.path.join(folder, "mnist"))
        compile_plan(plans, "mnist.cuda.json", "specs/jobs/mnist_cnn.yaml", "cuda", ["dataset.path=mnist"])
    archive = make_archive(folder)
    size = sum(os.path.getsize(f) for f in glob.glob(folder + "/*/*"))
    print(f"packed: {folder}, {size / 2**20:.0f} MiB; {archive}, {os.path.getsize(archive) / 2**20:.0f} MiB")
