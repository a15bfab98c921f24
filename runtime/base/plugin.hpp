#pragma once
/// Libraries of ours that are opened when a run needs them: those that stand on MPI or CUDA, which
/// other runs need not have.

#include <string>

namespace dtnn::runtime {

struct Plugin {
    std::string name;  ///< "libdtnn_mpi.so"
    void* handle = nullptr;
    std::string looked;   ///< the folders that do not have it, if it was not found
    std::string refused;  ///< why it was found and did not load
};

/// Looks beside the program and in the library folder of an installation. What is opened stays to
/// the end of the program: the libraries behind it leave handlers behind.
Plugin open_plugin(const std::string& name);

/// Throws RunError (exit 1) where there is none: program and library are of different builds.
void* plugin_entry(const Plugin& plugin, const char* entry);
/// The entry `version_entry`, int(), gives this version, or the same RunError is thrown.
void check_plugin(const Plugin& plugin, const char* version_entry, int version);

template <typename Function>
Function* plugin_function(const Plugin& plugin, const char* entry) {
    return reinterpret_cast<Function*>(plugin_entry(plugin, entry));
}

}  // namespace dtnn::runtime
