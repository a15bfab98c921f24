#pragma once
/// The next token of a text, out of what a network says about it.

#include <cstdint>
#include <span>
#include <vector>

#include "plan/enums.hpp"

namespace dtnn::runtime {

/// How a token is chosen. What is out of range is the caller's mistake.
struct Sampling {
    double temperature = 1;  ///< logarithms of probabilities are divided by it; 0: the likeliest
    std::int64_t top_k = 0;  ///< only so many of the likeliest are drawn from, 1 or more; 0: all
    /// Of these the fewest of the likeliest that are at least so probable together: above 0, to 1.
    double top_p = 1;
    std::uint64_t seed = 0;
};

/// One thread at a time. Allocates nothing once it is made.
class TokenSampler {
  public:
    /// `given`: what the network's numbers are, of which there is one for each of the tokens.
    TokenSampler(const Sampling& sampling, plan::Prediction given, std::int64_t tokens);

    /// The network's numbers, which are to be written here before each `draw`, which changes them.
    std::span<double> numbers() { return numbers_; }

    /// Token `index` of text `text`: a function of these two, the seed and the numbers alone. Of
    /// equally likely tokens the lowest counts as the likeliest. A number that is not finite (but
    /// for the logarithm of 0) is a RunError (exit 6).
    std::int32_t draw(std::uint64_t text, std::uint64_t index);

  private:
    void refuse_what_is_no_number(std::uint64_t text, std::uint64_t index) const;
    void make_weights();
    std::size_t keep_likeliest();

    Sampling sampling_;
    plan::Prediction given_;
    std::vector<double> numbers_;
    std::vector<std::int32_t> order_;  ///< tokens; those that are drawn from stand in front
};

}  // namespace dtnn::runtime
