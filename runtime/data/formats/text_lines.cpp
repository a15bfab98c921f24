#include "runtime/data/formats/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::size_t kTextPiece = std::size_t{256} << 10;
constexpr std::size_t kLongest = std::size_t{16} << 20;
constexpr std::string_view kMark = "\xEF\xBB\xBF";  ///< UTF-8's byte order mark

}  // namespace

TextLines::TextLines(const std::string& path) : file_(path) {
    if (is_gzip(file_)) gzip_ = std::make_unique<GzipReader>(file_);
}

bool TextLines::more() {
    buffer_.erase(0, begin_);
    begin_ = 0;
    const std::size_t have = buffer_.size();
    if (have > kLongest) {
        throw RunError(Exit::failed,
                       fmt::format("{}:{}: the line has more than {} bytes", file_.path(),
                                   number_ + 1, kLongest),
                       "a table of text lines is needed");
    }
    std::size_t got = kTextPiece;
    if (!gzip_) got = std::size_t(std::min(std::int64_t(kTextPiece), file_.size() - offset_));
    buffer_.resize(have + got);
    const std::span<char> room(buffer_.data() + have, got);
    if (gzip_) {
        got = gzip_->read(room);
        buffer_.resize(have + got);
    } else {
        file_.read(offset_, room);
        offset_ += std::int64_t(got);
    }
    return got > 0;
}

char TextLines::end_of_first() {
    std::size_t at = 0;
    while (true) {
        at = buffer_.find_first_of("\r\n", at);
        // The character behind a CR tells what it is.
        const bool known =
            at != std::string::npos && (buffer_[at] == '\n' || at + 1 < buffer_.size());
        if (known) break;
        if (at == std::string::npos) at = buffer_.size();
        if (!more()) return '\n';
    }
    return buffer_[at] == '\r' && buffer_[at + 1] != '\n' ? '\r' : '\n';
}

bool TextLines::next(std::string_view& line) {
    if (end_ == 0) end_ = end_of_first();
    std::size_t searched = 0;
    while (true) {
        const std::size_t end = buffer_.find(end_, begin_ + searched);
        if (end != std::string::npos) {
            line = std::string_view(buffer_).substr(begin_, end - begin_);
            begin_ = end + 1;
            break;
        }
        searched = buffer_.size() - begin_;
        if (more()) continue;
        if (begin_ == buffer_.size()) return false;
        line = std::string_view(buffer_).substr(begin_);
        begin_ = buffer_.size();
        break;
    }
    ++number_;
    if (number_ == 1 && line.starts_with(kMark)) line.remove_prefix(kMark.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find('\0') != std::string_view::npos || !is_utf8(line)) {
        throw RunError(Exit::failed,
                       fmt::format("{}:{}: the line is not UTF-8 text", file_.path(), number_),
                       "a table of text lines is needed: convert it to UTF-8");
    }
    return true;
}

bool split_columns(std::string_view line, char separator, std::vector<std::string_view>& columns,
                   std::vector<std::string>& room) {
    columns.clear();
    room.clear();
    room.reserve(std::size_t(std::count(line.begin(), line.end(), '"')));  // views into it stay
    const auto trim = [](std::string_view& text) {
        while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
            text.remove_prefix(1);
        while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
            text.remove_suffix(1);
    };
    while (true) {
        const std::size_t first = line.find_first_not_of(' ');
        if (first != std::string_view::npos && line[first] == '"') {
            std::string& text = room.emplace_back();
            std::size_t at = first + 1;
            bool closed = false;
            for (; at < line.size() && !closed; ++at) {
                const bool quote = line[at] == '"';
                closed = quote && (at + 1 == line.size() || line[at + 1] != '"');
                if (closed) continue;
                text += line[at];
                if (quote) ++at;  // the second of two
            }
            if (!closed) return false;
            const std::size_t end = line.find_first_not_of(' ', at);
            if (end != std::string_view::npos && line[end] != separator) return false;
            columns.push_back(text);
            if (end == std::string_view::npos) return true;
            line.remove_prefix(end + 1);
            continue;
        }
        const std::size_t end = line.find(separator);
        std::string_view text = line.substr(0, end);
        trim(text);
        columns.push_back(text);
        if (end == std::string_view::npos) return true;
        line.remove_prefix(end + 1);
    }
}

}  // namespace dtnn::runtime
