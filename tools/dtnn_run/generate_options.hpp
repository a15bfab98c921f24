#pragma once
/// What `dtnn-run generate` is asked for beside plan and weights.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/generate/text_tokens.hpp"
#include "runtime/generate/token_sampler.hpp"

namespace dtnn {

struct GenerateOptions {
    std::vector<std::string> prompts;  ///< none: lines of standard input
    std::int64_t length = 100;         ///< new tokens of a text, at most
    runtime::Sampling sampling;        ///< but for the seed
    std::int64_t seed = 0;
    std::vector<std::string> stops;
    runtime::VocabularyFile vocabulary;
};

}  // namespace dtnn
