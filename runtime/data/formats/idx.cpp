#include "runtime/data/formats/idx.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <filesystem>
#include <memory>
#include <system_error>

#include "runtime/base/regular_file.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;

struct InflateEnd {
    void operator()(z_stream* stream) const { inflateEnd(stream); }
};

std::size_t expected_bytes(const std::vector<std::int64_t>& dims) {
    std::size_t bytes = 1;
    for (const std::int64_t dim : dims)
        bytes *= std::size_t(dim);
    return bytes + 4 + 4 * dims.size();
}

}  // namespace

std::string gunzip(const std::string& packed, std::size_t limit, const std::string& path) {
    z_stream stream{};
    // 15 bits of window, and 16: a gzip header is there.
    if (inflateInit2(&stream, 15 + 16) != Z_OK) throw bad_file(path, "cannot start to unpack", "");
    const std::unique_ptr<z_stream, InflateEnd> guard(&stream);
    std::string text(limit + 1, '\0');  // one more shows that there is too much
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = uInt(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(text.data());
    stream.avail_out = uInt(text.size());
    const int result = inflate(&stream, Z_FINISH);
    text.resize(text.size() - stream.avail_out);
    if (result == Z_STREAM_END) {
        if (stream.avail_in != 0) {
            throw bad_file(path,
                           fmt::format("{} bytes follow the end of the gzip data", stream.avail_in),
                           "download the file again");
        }
        return text;
    }
    // Its header says by how much it is too long, as that of a file that is not packed does.
    if (text.size() > limit) return text;
    if (result == Z_BUF_ERROR || result == Z_OK) {
        throw bad_file(path,
                       fmt::format("the gzip data is cut off after {} unpacked bytes", text.size()),
                       "download the file again");
    }
    throw bad_file(path,
                   fmt::format("the gzip data is corrupt: {}",
                               stream.msg == nullptr ? "no reason given" : stream.msg),
                   "download the file again");
}

IdxFile parse_idx(std::string bytes, const std::string& path, std::vector<std::int64_t> dims,
                  bool at_most) {
    const auto byte = [&](std::size_t i) { return std::uint32_t(std::uint8_t(bytes[i])); };
    const std::size_t header = 4 + 4 * dims.size();
    if (bytes.size() < 4) {
        throw bad_file(path,
                       fmt::format("it has {} bytes; an IDX file begins with a magic number of 4",
                                   bytes.size()),
                       "download the file again");
    }
    const std::uint32_t magic = byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
    const std::uint32_t expected = 0x0800u + std::uint32_t(dims.size());
    if (magic != expected) {
        throw bad_file(
            path,
            fmt::format("its magic number is 0x{:08x}, not 0x{:08x} (IDX, unsigned bytes, {} "
                        "dimensions)",
                        magic, expected, dims.size()),
            "name the folder of the four original MNIST files");
    }
    if (bytes.size() < header) {
        throw bad_file(path,
                       fmt::format("it is cut off in its header, after {} bytes", bytes.size()),
                       "download the file again");
    }
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        const std::size_t at = 4 + 4 * axis;
        const std::int64_t found =
            byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
        if (found == dims[axis]) continue;
        if (axis == 0 && at_most && found > 0 && found < dims[axis]) {
            dims[axis] = found;
            continue;
        }
        if (axis == 0) {
            throw RunError(
                Exit::mismatch,
                fmt::format("{}: it has {} samples; the plan expects {}{}", path, found,
                            at_most ? "at most " : "", dims[0]),
                "compile the job with dataset.train_samples and dataset.test_samples as in the "
                "files");
        }
        throw bad_file(path,
                       fmt::format("its samples have {} {}; the plan expects {}", found,
                                   axis == 1 ? "rows" : "columns", dims[axis]),
                       "name the folder of the four original MNIST files");
    }
    const std::size_t size = expected_bytes(dims);
    if (bytes.size() != size) {
        throw bad_file(path,
                       fmt::format("it has {} bytes; its header asks for {}", bytes.size(), size),
                       "download the file again");
    }
    return {path, std::move(dims), std::move(bytes), header};
}

IdxFile read_idx(const std::string& folder, const std::string& name,
                 const std::vector<std::int64_t>& dims, bool at_most) {
    const std::string raw = (std::filesystem::path(folder) / name).string();
    const std::string packed = raw + ".gz";
    std::error_code ignored;
    if (std::filesystem::exists(raw, ignored))
        return parse_idx(RegularFile(raw).read_all(kMostBytes, "an IDX file"), raw, dims, at_most);
    if (std::filesystem::exists(packed, ignored)) {
        const std::string bytes = RegularFile(packed).read_all(kMostBytes, "an IDX file");
        return parse_idx(gunzip(bytes, expected_bytes(dims), packed), packed, dims, at_most);
    }
    throw RunError(Exit::failed, fmt::format("neither {} nor {} is there", raw, packed),
                   "put MNIST's four files (train-images-idx3-ubyte, train-labels-idx1-ubyte, "
                   "t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte, raw or .gz) into one folder "
                   "and compile with --set dataset.path=FOLDER");
}

}  // namespace dtnn::runtime
