#pragma once
/// Regular expressions that take text apart, by PCRE2 over UTF-8.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace dtnn::runtime {

/// For one thread at a time.
class TextPattern {
  public:
    /// White space is what Unicode calls so, whatever PCRE2 takes for it. A RunError (mismatch)
    /// where the expression is none, and where the program was built without PCRE2; `origin` says
    /// in what file it stands.
    TextPattern(std::string_view expression, const std::string& origin);
    ~TextPattern();
    TextPattern(TextPattern&&) noexcept;
    TextPattern& operator=(TextPattern&&) noexcept;

    enum class Found {
        match,
        none,
        unsure,  ///< what comes behind the text decides: begin says from where on
    };
    struct Match {
        Found found = Found::none;
        std::size_t begin = 0, end = 0;
    };
    /// The first match at `from` or behind it. The text is UTF-8; where it is not `whole`, more of
    /// it may come. A RunError where a match takes too many steps.
    Match find(std::string_view text, std::size_t from, bool whole) const;

  private:
    struct Compiled;
    std::unique_ptr<Compiled> compiled_;
};

}  // namespace dtnn::runtime
