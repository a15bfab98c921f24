# Builds on another Linux for 64-bit ARM, by GCC's cross compiler as Debian has it (crossbuild-essential-arm64), with the libraries of
# that architecture (`dpkg --add-architecture arm64`, then libfmt-dev:arm64 and so on): CONTRIBUTING.md, "For another processor".
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# The build asks the programs that it has made for their manual pages, and CTest runs tests.
find_program(DTNN_QEMU NAMES qemu-aarch64-static qemu-aarch64)
mark_as_advanced(DTNN_QEMU)
if(DTNN_QEMU)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${DTNN_QEMU})
endif()
