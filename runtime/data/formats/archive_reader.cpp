#include "runtime/data/formats/archive_reader.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <limits>
#include <vector>

#include "base/file_limits.hpp"
#include "base/utf8.hpp"
#include "runtime/data/formats/gzip.hpp"

namespace dtnn::runtime {
namespace {
constexpr std::size_t kBlock = std::size_t{64} << 10;

struct FreeArchive {
    void operator()(archive* reader) const { archive_read_free(reader); }
};

/// libarchive converts names from UTF-8 to the locale's characters, and the program's locale has
/// ASCII only. While one of these lives, the thread's locale has all, and nothing is converted.
class Utf8Locale {
  public:
    Utf8Locale() : locale_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{})) {
        if (locale_ != locale_t{}) before_ = ::uselocale(locale_);
    }
    ~Utf8Locale() {
        if (locale_ == locale_t{}) return;
        ::uselocale(before_);
        ::freelocale(locale_);
    }
    Utf8Locale(const Utf8Locale&) = delete;
    Utf8Locale& operator=(const Utf8Locale&) = delete;

  private:
    locale_t locale_;
    locale_t before_{};
};

/// Without "./" in front, which tar writes when it packs a folder by the name ".".
std::string plain_path(const char* name) {
    std::string path = name == nullptr ? "" : name;
    while (path.starts_with("./"))
        path.erase(0, path.find_first_not_of('/', 1));
    return path;
}

bool hidden(const std::string& path) {
    return path.starts_with('.') || path.find("/.") != std::string::npos ||
           path.starts_with("__MACOSX/");
}

const char* kind_of(archive_entry* entry) {
    if (archive_entry_hardlink(entry) != nullptr) return "a link";
    switch (archive_entry_filetype(entry)) {
        case AE_IFREG:
            return nullptr;
        case AE_IFLNK:
            return "a symbolic link";
        default:
            return "a device, a pipe or a socket";
    }
}

}  // namespace

const char* why_unsafe(const std::string& path) {
    if (path.empty()) return "has no name";
    if (path.size() > kMostMemberPath) return "has a name of more than 4096 bytes";
    if (!is_utf8(path)) return "has a name that is not UTF-8";
    if (path.find('\0') != std::string::npos) return "has a name with a zero byte";
    if (path.starts_with('/')) return "has an absolute path";
    std::size_t begin = 0;
    while (begin <= path.size()) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        if (path.compare(begin, end - begin, "..") == 0) return "climbs out of its folder";
        begin = end + 1;
    }
    return nullptr;
}

/// The bytes that libarchive reads from.
struct ArchiveReader::Source {
    Source(const RegularFile& in, std::int64_t first, std::int64_t last)
        : file(in), begin(first), end(last), buffer(kBlock), reader(archive_read_new()) {}

    const RegularFile& file;
    std::int64_t begin;
    std::int64_t end;
    std::int64_t position = 0;  ///< from `begin`, of what libarchive has been given
    std::unique_ptr<GzipReader> gzip;
    std::vector<char> buffer;
    std::exception_ptr error;  ///< what our own reading has thrown, on its way through libarchive
    std::unique_ptr<archive, FreeArchive> reader;

    std::size_t fill() {
        if (gzip) return gzip->read(buffer);
        const std::int64_t size = std::min(std::int64_t(buffer.size()),
                                           std::max<std::int64_t>(0, end - begin - position));
        file.read(begin + position, std::span<char>(buffer.data(), std::size_t(size)));
        return std::size_t(size);
    }

    static la_ssize_t read(archive* reader, void* data, const void** bytes) {
        auto& source = *static_cast<Source*>(data);
        try {
            const std::size_t size = source.fill();
            source.position += std::int64_t(size);
            *bytes = source.buffer.data();
            return la_ssize_t(size);
        } catch (...) {
            source.error = std::current_exception();
            archive_set_error(reader, EIO, "cannot be read");
            return ARCHIVE_FATAL;
        }
    }
    static la_int64_t skip(archive*, void* data, la_int64_t wanted) {
        auto& source = *static_cast<Source*>(data);
        if (source.gzip) return 0;
        const std::int64_t size =
            std::clamp<std::int64_t>(wanted, 0, source.end - source.begin - source.position);
        source.position += size;
        return size;
    }
    static la_int64_t seek(archive*, void* data, la_int64_t offset, int whence) {
        auto& source = *static_cast<Source*>(data);
        const std::int64_t size = source.end - source.begin;
        const std::int64_t from = whence == SEEK_SET   ? 0
                                  : whence == SEEK_CUR ? source.position
                                                       : size;
        if (offset < -from || offset > size - from) return ARCHIVE_FATAL;
        return source.position = from + offset;
    }
};

ArchiveReader::ArchiveReader(const RegularFile& file)
    : ArchiveReader(file, Member{"", file.size(), 0}) {}

ArchiveReader::ArchiveReader(const RegularFile& file, const Member& inner)
    : label_(inner.path.empty() ? file.path() : file.path() + ":" + inner.path),
      source_(std::make_unique<Source>(file, inner.offset, inner.offset + inner.size)) {
    archive* const reader = source_->reader.get();
    const Utf8Locale names;
    archive_read_support_format_tar(reader);
    const bool whole = inner.path.empty();
    if (whole && is_gzip(file)) {
        source_->gzip = std::make_unique<GzipReader>(file);
    } else if (whole) {
        archive_read_support_format_zip_seekable(reader);
        archive_read_set_seek_callback(reader, Source::seek);
    }
    // Names are bytes; what they must be is checked here, not guessed from the locale.
    archive_read_set_options(reader, "hdrcharset=BINARY");
    archive_read_set_callback_data(reader, source_.get());
    archive_read_set_read_callback(reader, Source::read);
    archive_read_set_skip_callback(reader, Source::skip);
    if (archive_read_open1(reader) != ARCHIVE_OK) fail("it cannot be opened");
}

ArchiveReader::~ArchiveReader() = default;

void ArchiveReader::fail(const std::string& what) const {
    if (source_->error) std::rethrow_exception(source_->error);
    const char* said = archive_error_string(source_->reader.get());
    throw RunError(Exit::failed,
                   fmt::format("{}: {}{}{}", label_, what, said == nullptr ? "" : ": ",
                               said == nullptr ? "" : printable(said)),
                   "a tar, tar.gz or zip file is needed; download it again, or make it again");
}

std::optional<Member> ArchiveReader::next() {
    archive* const reader = source_->reader.get();
    const Utf8Locale names;
    while (true) {
        archive_entry* entry = nullptr;
        const int result = archive_read_next_header(reader, &entry);
        if (result == ARCHIVE_EOF) {
            // Behind the last member gzip has padding, and the checksum.
            while (source_->gzip && source_->gzip->read(source_->buffer) > 0) {
            }
            return std::nullopt;
        }
        if (result != ARCHIVE_OK) fail("it is corrupt or cut off");
        Member member;
        member.path = plain_path(archive_entry_pathname(entry));
        const auto refuse = [&](const std::string& why) {
            return RunError(
                Exit::failed,
                fmt::format("{}: the member `{}` {}", label_, printable(member.path), why),
                "nothing was unpacked; make the archive again, of plain files with "
                "relative paths");
        };
        const bool folder = archive_entry_filetype(entry) == AE_IFDIR;
        if (folder && member.path == ".") continue;
        if (!(folder && member.path.empty())) {
            if (const char* why = why_unsafe(member.path)) throw refuse(why);
        }
        if (folder || hidden(member.path)) continue;
        if (const char* kind = kind_of(entry)) throw refuse(fmt::format("is {}", kind));
        if (archive_entry_is_encrypted(entry) != 0) throw refuse("is encrypted");
        if (archive_entry_sparse_count(entry) > 0) throw refuse("is stored with holes (sparse)");
        if (archive_entry_size_is_set(entry) == 0 || archive_entry_size(entry) < 0)
            throw refuse("does not say its size");
        member.size = archive_entry_size(entry);
        const bool tar = (archive_format(reader) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;
        if (tar && !source_->gzip) {
            member.offset = source_->begin + archive_filter_bytes(reader, 0);
            const std::int64_t left = source_->end - member.offset;
            if (member.size > left)
                throw refuse(fmt::format("is cut off: it has {} bytes, and the file ends {} before",
                                         member.size, member.size - left));
        }
        const char* const method = archive_format_name(reader);
        if (!tar && method != nullptr && std::string_view(method).ends_with("(uncompressed)"))
            member.zip_offset = source_->begin + archive_filter_bytes(reader, 0);
        size_ = member.size;
        member_ = member.path;
        return member;
    }
}

void ArchiveReader::expect_member() {
    if (__builtin_add_overflow(unpacked_, size_, &unpacked_))
        unpacked_ = std::numeric_limits<std::int64_t>::max();
    check_expansion(label_, source_->end - source_->begin, unpacked_);
}

void ArchiveReader::fill(std::span<char> bytes) {
    archive* const reader = source_->reader.get();
    std::size_t done = 0;
    while (done < bytes.size()) {
        const la_ssize_t got = archive_read_data(reader, bytes.data() + done, bytes.size() - done);
        if (got < 0) fail(fmt::format("the member `{}` is corrupt or cut off", printable(member_)));
        if (got == 0) fail(fmt::format("the member `{}` is cut off", printable(member_)));
        done += std::size_t(got);
    }
    // Checksums are verified behind the last byte.
    char more = 0;
    const la_ssize_t got = archive_read_data(reader, &more, 1);
    if (got < 0) fail(fmt::format("the member `{}` is corrupt", printable(member_)));
    if (got > 0) fail(fmt::format("the member `{}` is longer than it says", printable(member_)));
}

void ArchiveReader::read(std::span<char> bytes) {
    expect_member();
    fill(bytes);
}

void ArchiveReader::read(const std::function<void(std::string_view)>& piece) {
    expect_member();
    archive* const reader = source_->reader.get();
    std::vector<char> buffer(kBlock);
    std::int64_t done = 0;
    while (true) {
        const la_ssize_t got = archive_read_data(reader, buffer.data(), buffer.size());
        if (got < 0) fail(fmt::format("the member `{}` is corrupt or cut off", printable(member_)));
        if (got == 0) break;
        done += got;
        piece({buffer.data(), std::size_t(got)});
    }
    if (done != size_)
        fail(fmt::format("the member `{}` does not have the size it says", printable(member_)));
}

std::string ArchiveReader::read() {
    expect_member();
    std::string bytes(std::size_t(size_), '\0');
    fill(bytes);
    return bytes;
}

}  // namespace dtnn::runtime
