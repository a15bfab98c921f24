#pragma once
/// Vocabularies of byte pairs, as files of others describe them: what text is taken apart by, which
/// tokens there are, and what becomes of two.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/data/vocabulary/byte_pairs.hpp"

namespace dtnn::runtime {

/// How text is taken apart before pairs are made, which never go from piece to piece.
struct PieceRule {
    std::string expression;  ///< matches are pieces
    bool gaps = true;        ///< what lies between them is one, too; else it is left out
};

struct Vocabulary {
    std::string path;
    std::vector<std::string> tokens;  ///< the bytes of each; empty: there is none of that number
    std::int32_t bytes[256];          ///< the token of each byte
    BytePairs pairs;
    std::vector<PieceRule> rules;  ///< each takes the pieces of the one before it apart
    bool whole_pieces = false;     ///< a piece that is a token is that one, whatever its pairs
    bool space_before = false;     ///< a space is put before text that begins without one
    /// Tokens that are found in text as they are, before it is taken apart: their numbers.
    std::vector<std::int32_t> added;

    std::int64_t size() const { return std::int64_t(tokens.size()); }
};

/// Reads what the content says that it is:
///     tokenizer.json   of Hugging Face's tokenizers, of byte-level byte pairs
///     ranks            of tiktoken: lines of a token in base 64 and its rank; `pattern` names the
///                      expression, which follows from the number of ranks where it is empty
/// A RunError (mismatch) for anything else, and for what such a file may ask and is not done here:
/// what it would do to text is never left out in silence.
Vocabulary read_vocabulary(const std::string& path, const std::string& pattern = "");

/// What the `ByteLevel` of Hugging Face's tokenizers takes text apart by.
const char* byte_level_expression();
/// Letters that GPT-2's files have for bytes: those that can be seen are themselves, the others
/// come in order from U+0100 on.
std::array<unsigned, 256> letters_of_bytes();

/// Names of expressions for files of ranks: "gpt2", "cl100k", "o200k".
std::vector<std::string> pattern_names();

}  // namespace dtnn::runtime
