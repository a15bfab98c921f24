#include "runtime/generate/text_stream.hpp"

#include <algorithm>
#include <cstddef>

#include "base/utf8.hpp"

namespace dtnn::runtime {
namespace {

/// How many of the bytes that begin the text begin a character which they do not end; 0: none.
std::size_t begun_character(std::string_view text) {
    constexpr std::size_t kMost = 3;
    for (std::size_t size = std::min(kMost, text.size()); size > 0; --size) {
        // Whatever may stand behind the bytes, the lowest or the highest may.
        for (const char fill : {'\x80', '\xBF'}) {
            std::string whole(text.substr(0, size));
            whole.append(kMost, fill);
            if (utf8_length(whole) > size) return size;
        }
    }
    return 0;
}

}  // namespace

bool TextStream::add(std::string_view bytes) {
    for (const char byte : bytes) {
        if (ended_) break;
        pending_ += byte;
        std::size_t longest = 0;
        for (const std::string& stop : stops_)
            if (pending_.ends_with(stop)) longest = std::max(longest, stop.size());
        if (longest == 0) continue;
        pending_.resize(pending_.size() - longest);
        ended_ = true;
    }
    return ended_;
}

/// Bytes at the end that may begin a text that ends this one.
std::size_t TextStream::held() const {
    if (ended_) return 0;
    std::size_t most = 0;
    for (const std::string& stop : stops_) {
        std::size_t size = std::min(stop.size() - 1, pending_.size());
        while (size > most && !pending_.ends_with(std::string_view(stop).substr(0, size)))
            --size;
        most = std::max(most, size);
    }
    return most;
}

std::string TextStream::take_to(std::size_t end, bool last) {
    const std::string_view text = pending_;
    std::string taken;
    std::size_t at = 0;
    while (at < end) {
        const std::string_view rest = text.substr(at);
        std::size_t length = utf8_length(rest);
        const bool whole = length > 0;
        if (!whole) length = begun_character(rest);
        if (!whole && length == rest.size() && !last) break;
        length = std::max<std::size_t>(length, 1);
        if (at + length > end) break;
        taken += whole ? rest.substr(0, length) : std::string_view("\uFFFD");
        at += length;
    }
    pending_.erase(0, at);
    return taken;
}

}  // namespace dtnn::runtime
