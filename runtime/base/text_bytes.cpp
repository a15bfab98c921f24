#include "runtime/base/text_bytes.hpp"

#include <utility>

namespace dtnn::runtime {

void append_text(std::vector<std::byte>& bytes, const std::string& text) {
    for (const char c : text)
        bytes.push_back(std::byte(c));
    bytes.push_back(std::byte{0});
}

std::vector<std::string> texts_of(std::span<const std::byte> bytes) {
    std::vector<std::string> texts;
    std::string text;
    for (const std::byte byte : bytes) {
        if (byte == std::byte{0})
            texts.push_back(std::exchange(text, {}));
        else
            text += char(byte);
    }
    return texts;
}

}  // namespace dtnn::runtime
