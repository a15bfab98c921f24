#include "runtime/checkpoint/weight_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/file_limits.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/data/formats/archive_reader.hpp"
#include "runtime/data/formats/npy.hpp"
#include "runtime/data/formats/npz_writer.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::int64_t kMostMagic = 512;

const char* const kFormats = "name a .safetensors file, or an .npz file that numpy.savez wrote";

template <class T>
std::vector<std::byte> elements_of(const NpyArray& array) {
    std::vector<std::byte> bytes(std::size_t(array.header.elements()) * sizeof(T));
    std::vector<T> values(std::size_t(array.header.elements()));
    array.copy(std::span<T>(values));
    const auto from = std::as_bytes(std::span<const T>(values));
    std::copy(from.begin(), from.end(), bytes.begin());
    return bytes;
}

StoredTensor tensor_of(const std::string& name, NpyArray array,
                       std::deque<std::vector<std::byte>>& storage) {
    StoredTensor tensor{name, DType::i64, array.header.dims, {}};
    const NpyHeader& header = array.header;
    if (header.kind == NpyHeader::Kind::real) {
        const bool wide = header.item_bytes == 8;
        tensor.dtype = wide ? DType::f64 : DType::f32;
        storage.push_back(wide ? elements_of<double>(array) : elements_of<float>(array));
    } else if (header.kind == NpyHeader::Kind::natural && header.item_bytes == 1 &&
               !header.fortran) {
        tensor.dtype = DType::u8;
        const auto all = std::as_bytes(std::span(array.bytes)).subspan(std::size_t(header.begin));
        storage.emplace_back(all.begin(), all.end());
    } else {
        storage.push_back(elements_of<std::int64_t>(array));
    }
    tensor.bytes = storage.back();
    return tensor;
}

void read_arrays(const RegularFile& bytes, WeightFile& file) {
    ArchiveReader archive(bytes);
    std::set<std::string> names;
    while (const auto member = archive.next()) {
        const std::string label = file.path + ":" + member->path;
        if (!member->path.ends_with(".npy"))
            throw RunError(Exit::mismatch, label + ": this is no array (.npy)", kFormats);
        const std::string name = member->path.substr(0, member->path.size() - 4);
        if (!names.insert(name).second)
            throw RunError(Exit::mismatch, label + ": there are two arrays of this name", kFormats);
        file.tensors.push_back(tensor_of(name, parse_npy(archive.read(), label), file.arrays));
    }
}

/// PyTorch's own files are pickles, in a zip file or bare, and those of Keras HDF5.
void refuse_objects(const RegularFile& file) {
    std::string begin(std::size_t(std::min<std::int64_t>(file.size(), kMostMagic)), '\0');
    file.read(0, std::span<char>(begin));
    const auto refuse = [&](const char* what, const char* help) {
        throw RunError(Exit::mismatch, fmt::format("{} is {}", file.path(), what), help);
    };
    constexpr char kPickle = '\x80';
    // A header of 640 bytes begins alike, and goes on with its first brace.
    const bool bare = begin.size() > 8 && begin[0] == kPickle && begin[1] >= 2 && begin[1] <= 5 &&
                      begin[8] != '{';
    // torch.save() names the folder in the archive by the file; its first member is the pickle.
    if (bare || (is_zip(file) && begin.find("data.pkl") != std::string::npos))
        refuse("a PyTorch file of pickled objects, which are programs, and none is run here",
               "save its tensors: python3 -c \"import torch, safetensors.torch as s; d = "
               "torch.load('FILE', map_location='cpu', weights_only=True); "
               "s.save_file({k: v.clone() for k, v in d.items()}, 'FILE.safetensors')\"");
    if (is_zip(file) && file.path().ends_with(".keras"))
        refuse("a model that Keras has saved",
               "dtnnc import FILE.keras -o net.yaml --weights net.safetensors makes weights of it");
    if (begin.starts_with("\x89HDF"))
        refuse("an HDF5 file, as Keras writes",
               "save its arrays: numpy.savez('FILE.npz', **{w.path: w.numpy() for w in "
               "model.weights})");
}

}  // namespace

const StoredTensor* WeightFile::find(const std::string& name) const {
    const auto found = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const StoredTensor& t) { return t.name == name; });
    return found == tensors.end() ? nullptr : &*found;
}

std::optional<bool> WeightFile::written_by_run() const {
    if (!metadata.contains(kFormatKey)) return std::nullopt;
    return is_own(metadata);
}

WeightFile read_weight_file(const std::string& path) {
    WeightFile file;
    file.path = path;
    const RegularFile bytes(path, Exit::mismatch);
    refuse_objects(bytes);
    const bool zip = is_zip(bytes);
    if (path.ends_with(zip ? ".safetensors" : ".npz")) {
        throw RunError(Exit::mismatch,
                       fmt::format("{} is {}, not what its name says", path,
                                   zip ? "a zip file" : "no zip file of arrays"),
                       kFormats);
    }
    if (!zip) {
        file.format = "safetensors";
        file.safetensors =
            parse_safetensors(bytes.read_all(kMostTensorBytes, "a file of tensors"), path);
        file.tensors = file.safetensors.tensors;
        file.metadata = file.safetensors.metadata;
        return file;
    }
    file.format = "npz";
    try {
        read_arrays(bytes, file);
    } catch (const RunError& error) {
        // The readers of arrays, which datasets use, too, fail a run with another code.
        throw RunError(Exit::mismatch, error.what(), error.help(), error.detail());
    }
    return file;
}

void write_weight_file(const std::string& path, std::span<const StoredTensor> tensors,
                       const std::map<std::string, std::string>& metadata) {
    if (path.ends_with(".safetensors")) {
        write_safetensors(path, tensors, metadata);
        return;
    }
    if (!path.ends_with(".npz")) {
        throw RunError(Exit::usage, fmt::format("{} does not say its format", path),
                       "give it a name that ends in .safetensors or .npz");
    }
    for (const StoredTensor& tensor : tensors) {
        if (is_reduced(tensor.dtype))
            throw RunError(Exit::mismatch,
                           fmt::format("{} is {}, for which .npz has no place here", tensor.name,
                                       plan::name_of(tensor.dtype)),
                           "convert the weights first: dtnn-run weights import --cast");
    }
    std::vector<NpzArray> arrays;
    for (const StoredTensor& tensor : tensors)
        arrays.push_back({tensor.name, numpy_type(tensor.dtype), tensor.dims, tensor.bytes});
    write_npz(path, arrays);
}

}  // namespace dtnn::runtime
