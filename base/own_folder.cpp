#include "base/own_folder.hpp"

#include <dlfcn.h>
#include <link.h>

#include <system_error>

namespace dtnn {
namespace {

std::filesystem::path own_file() {
    std::error_code ignored;
    Dl_info info{};
    void* found = nullptr;
    const bool known =
        dladdr1(reinterpret_cast<const void*>(&own_folder), &info, &found, RTLD_DL_LINKMAP) != 0;
    const auto* object = static_cast<const link_map*>(found);
    // The program itself has no name among the objects, or the one that it was called by.
    if (!known || object == nullptr || object->l_name == nullptr || *object->l_name == '\0')
        return std::filesystem::read_symlink("/proc/self/exe", ignored);
    return std::filesystem::canonical(object->l_name, ignored);
}

}  // namespace

std::filesystem::path own_folder() {
    // Asked once: a name may be relative to a folder that the process leaves later.
    static const std::filesystem::path folder = own_file().parent_path();
    return folder;
}

}  // namespace dtnn
