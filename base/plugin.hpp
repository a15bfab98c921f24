#pragma once
/// Libraries of ours that a program opens when it needs them: those that stand on MPI, CUDA or
/// LLVM, and the runtime of `dtnnc`.

#include <string>

namespace dtnn {

struct Plugin {
    std::string name;  ///< "libdtnn_mpich.so"
    std::string path;  ///< where it is; empty: in none of `looked`
    void* handle = nullptr;
    std::string looked;   ///< the folders that do not have it
    std::string refused;  ///< why it was found and did not load
};

/// Looks beside the code that asks (base/own_folder.hpp), and in the folder that an installation
/// has for these libraries, for it is in bin/ or in lib/. Opens nothing.
Plugin find_plugin(const std::string& name);
/// What is opened stays to the end of the program: the libraries behind it leave handlers behind.
Plugin open_plugin(const std::string& name);

/// Null where there is none: program and library are of different builds.
void* find_in_plugin(const Plugin& plugin, const char* entry);

/// What is said where program and library are of different builds.
struct PluginMismatch {
    std::string fact, help;
};
PluginMismatch lacks_entry(const Plugin& plugin, const char* entry);
PluginMismatch other_version(const Plugin& plugin, int found, int wanted);

}  // namespace dtnn
