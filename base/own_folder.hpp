#pragma once
/// Where the code that runs lies: what is installed beside it is found from there.

#include <filesystem>

namespace dtnn {

/// The folder of the program, or of the shared library that has this code in it (libdtnn.so in the
/// process of another program), with links followed; empty where the system does not say.
std::filesystem::path own_folder();

}  // namespace dtnn
