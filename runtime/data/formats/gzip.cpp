#include "runtime/data/formats/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>

#include "base/quantity_text.hpp"

namespace dtnn::runtime {
namespace {
constexpr std::size_t kUnpackedPiece = std::size_t{256} << 10;

RunError corrupt(const std::string& path, const std::string& fact) {
    return RunError(Exit::failed, path + ": " + fact, "download the file again, or make it again");
}
}  // namespace

void check_expansion(const std::string& path, std::int64_t packed, std::int64_t unpacked) {
    if (unpacked <= kFreeExpansion || unpacked / kMostExpansion <= packed) return;
    throw RunError(
        Exit::failed,
        fmt::format("{}: {} unpack to more than {}, over {} times as much; that is an archive "
                    "bomb, not data",
                    path, bytes_text(double(packed)), bytes_text(double(unpacked)), kMostExpansion),
        "check where the file comes from; if it is right, unpack it and name the folder");
}

struct GzipReader::State {
    z_stream stream{};
};

GzipReader::GzipReader(const RegularFile& file)
    : file_(file), packed_(kUnpackedPiece), state_(std::make_unique<State>()) {
    // 15 bits of window, and 16: a gzip header is there, and its checksum is verified.
    if (inflateInit2(&state_->stream, 15 + 16) != Z_OK)
        throw RunError(Exit::failed, file.path() + ": there is no memory to unpack it");
}

GzipReader::~GzipReader() {
    inflateEnd(&state_->stream);
}

void GzipReader::refill() {
    const std::size_t size =
        std::size_t(std::min(std::int64_t(packed_.size()), file_.size() - offset_));
    file_.read(offset_, std::span<char>(packed_.data(), size));
    offset_ += std::int64_t(size);
    state_->stream.next_in = reinterpret_cast<Bytef*>(packed_.data());
    state_->stream.avail_in = uInt(size);
}

std::size_t GzipReader::read(std::span<char> bytes) {
    z_stream& stream = state_->stream;
    std::size_t done = 0;
    while (done < bytes.size() && !ended_) {
        if (stream.avail_in == 0) {
            if (offset_ == file_.size()) {
                throw corrupt(
                    file_.path(),
                    fmt::format("the gzip data is cut off after {} unpacked bytes", unpacked_));
            }
            refill();
        }
        const std::size_t room = std::min(bytes.size() - done, kUnpackedPiece);
        stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + done);
        stream.avail_out = uInt(room);
        const int result = inflate(&stream, Z_NO_FLUSH);
        const std::size_t made = room - stream.avail_out;
        done += made;
        unpacked_ += std::int64_t(made);
        check_expansion(file_.path(), offset_ - stream.avail_in, unpacked_);
        if (result == Z_STREAM_END) {
            if (stream.avail_in == 0 && offset_ < file_.size()) refill();
            if (stream.avail_in == 0) {
                ended_ = true;
            } else if (*stream.next_in == 0x1F) {
                inflateReset(&stream);  // one gzip file behind another is one longer file
            } else {
                throw corrupt(file_.path(), fmt::format("{} bytes follow the end of the gzip data",
                                                        stream.avail_in + file_.size() - offset_));
            }
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            throw corrupt(file_.path(),
                          fmt::format("the gzip data is corrupt: {}",
                                      stream.msg == nullptr ? "no reason given" : stream.msg));
        }
    }
    return done;
}

bool is_gzip(const RegularFile& file) {
    std::array<char, 2> magic{};
    if (file.size() < std::int64_t(magic.size())) return false;
    file.read(0, std::span<char>(magic));
    return magic[0] == '\x1F' && magic[1] == '\x8B';
}

}  // namespace dtnn::runtime
