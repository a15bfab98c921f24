from spack.package import *


class Dtnn(CMakePackage, CudaPackage):
    """Declarative compiler and runtime for training neural networks on clusters."""

    homepage = "https://dtnn.invalid"  # the sources are given by `spack develop`: README.md beside this folder
    license("Apache-2.0")

    version("main")

    variant("mpi", default=True, description="Jobs of several ranks, by MPICH's ABI or Open MPI")
    variant("codegen", default=True, description="Machine code for elementwise expressions, by LLVM")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("blis threads=none")
    depends_on("fmt")
    depends_on("yaml-cpp")
    depends_on("xxhash")
    depends_on("hwloc")
    depends_on("jemalloc")
    depends_on("zlib-api")
    depends_on("libjpeg-turbo")
    depends_on("libpng")
    depends_on("libarchive")
    depends_on("pcre2+jit")
    depends_on("mpi", when="+mpi")
    depends_on("llvm@18:20", when="+codegen")
    depends_on("cudnn@9:", when="+cuda")
    depends_on("nccl", when="+cuda")

    generator("ninja")
    conflicts("%gcc@:11", msg="C++20 as GCC 12 has it is needed")
    conflicts("cuda_arch=none", when="+cuda", msg="name the devices: cuda_arch=80,90")

    def cmake_args(self):
        args = [
            self.define("DTNN_BUILD_TESTS", False),
            self.define("DTNN_INSTRUCTION_SETS", "all"),
            self.define_from_variant("DTNN_CUDA", "cuda"),
        ]
        if "+cuda" in self.spec:
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", list(self.spec.variants["cuda_arch"].value)))
        if "~mpi" in self.spec:
            args.append(self.define("DTNN_MPI", "off"))
        elif self.spec["mpi"].name == "openmpi":
            args.append(self.define("DTNN_MPI", "openmpi"))
            args.append(self.define("OPEN_MPI_INCLUDE_DIR", self.spec["mpi"].prefix.include))
            args.append(self.define("OPEN_MPI_LIBRARY", self.spec["mpi"].prefix.lib.join("libmpi.so")))
        else:
            args.append(self.define("DTNN_MPI", "mpich"))
        return args
