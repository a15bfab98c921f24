#include "tools/dtnnc_runtime/keras_file.hpp"

#include <fmt/format.h>

#include "base/file_limits.hpp"
#include "base/quantity_text.hpp"
#include "runtime/data/formats/archive_reader.hpp"
#include "runtime/data/formats/hdf5.hpp"
#include "runtime/data/formats/npy.hpp"

namespace dtnn::tools {
namespace {

using runtime::Exit;
using runtime::RunError;

constexpr const char* kConfig = "config.json";
constexpr const char* kWeights = "model.weights.h5";
constexpr const char* kSaveIt =
    "name a file that model.save(\"NAME.keras\") of Keras 3 wrote, whole";

struct Members {
    std::optional<std::string> config, weights;
};

Members read_members(const runtime::RegularFile& file) {
    Members made;
    runtime::ArchiveReader archive(file);
    const auto take = [&](const runtime::Member& member, std::int64_t most,
                          std::optional<std::string>& to) {
        if (to)
            throw RunError(Exit::mismatch,
                           fmt::format("{}: it has two members `{}`", file.path(), member.path),
                           kSaveIt);
        if (member.size > most)
            throw RunError(
                Exit::mismatch,
                fmt::format("{}: its `{}` has {}, more than {}", file.path(), member.path,
                            bytes_text(double(member.size)), bytes_text(double(most))),
                kSaveIt);
        to = archive.read();
    };
    while (const auto member = archive.next()) {
        if (member->path == kConfig) take(*member, kMostSmallFileBytes, made.config);
        if (member->path == kWeights) take(*member, kMostTensorBytes, made.weights);
    }
    return made;
}

}  // namespace

int with_keras_file(const std::string& path, const UseKerasFile& use) {
    const runtime::RegularFile file(path, Exit::usage);
    if (!runtime::is_zip(file))
        throw RunError(Exit::mismatch, path + ": it is no zip file, as Keras 3 saves models",
                       "Keras 2 and `save_format` write other files: load it with Keras, and save "
                       "it by model.save(\"NAME.keras\") of Keras 3");
    Members members;
    try {
        members = read_members(file);
    } catch (const RunError& error) {
        throw RunError(Exit::mismatch, error.what(), error.help());
    }
    if (!members.config || !members.weights)
        throw RunError(Exit::mismatch,
                       fmt::format("{}: it has no `{}`", path, members.config ? kWeights : kConfig),
                       kSaveIt);
    runtime::Hdf5Arrays arrays =
        runtime::read_hdf5(*members.weights, fmt::format("{}:{}", path, kWeights));
    return use({std::move(*members.config), std::move(arrays.tensors), std::move(arrays.others)},
               members.weights->size());
}

}  // namespace dtnn::tools
