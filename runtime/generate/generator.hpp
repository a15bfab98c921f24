#pragma once
/// Texts that a network goes on with, token by token, by its program that generates: what it keeps
/// of a text is in the plan's memory.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/generate/token_sampler.hpp"

namespace dtnn::runtime {

class Executor;

/// A plan without a program that generates is a RunError (exit 5).
const plan::Program& generating_program(const plan::Plan& plan);

/// The beginning of a text.
struct Prompt {
    std::vector<std::int32_t> tokens;  ///< at least one
    std::uint64_t number = 0;          ///< of the text: what is drawn for it depends on this
};

/// One thread at a time.
class Generator {
  public:
    /// The executor outlives it, and has the weights before the first text. RunError (exit 5) where
    /// the plan's program is another than what is relied on here.
    Generator(Executor& executor, const Sampling& sampling);
    ~Generator();
    Generator(const Generator&) = delete;
    Generator& operator=(const Generator&) = delete;

    /// How many texts go on together.
    std::int64_t batch() const;
    /// The most tokens that a token can depend on; 0: any number.
    std::int64_t context() const;

    /// Is told of a text's next token; false: the text ends with it.
    using Take = std::function<bool(std::size_t text, std::int32_t token)>;

    /// Goes on with at most batch() texts by at most `length` tokens each, or until a signal asks
    /// to stop. Whatever goes on beside it, a text is the same. Where a text is as long as the
    /// context, what is before its last half is forgotten, and this half is read again. Allocates
    /// nothing once it has read the prompts. A prediction that is no number is a RunError (exit 6).
    void generate(std::span<const Prompt> prompts, std::int64_t length, const Take& take);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace dtnn::runtime
