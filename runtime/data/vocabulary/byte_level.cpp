#include "runtime/data/vocabulary/vocabulary.hpp"

namespace dtnn::runtime {

const char* byte_level_expression() {
    return R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
}

std::array<unsigned, 256> letters_of_bytes() {
    std::array<unsigned, 256> letters;
    unsigned more = 0x100;
    for (unsigned byte = 0; byte < letters.size(); ++byte) {
        const bool seen = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
        letters[byte] = seen ? byte : more++;
    }
    return letters;
}

}  // namespace dtnn::runtime
