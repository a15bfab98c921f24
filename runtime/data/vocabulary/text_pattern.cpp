#include "runtime/data/vocabulary/text_pattern.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "base/utf8.hpp"
#include "runtime/base/run_error.hpp"

#if DTNN_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#endif

namespace dtnn::runtime {

#if DTNN_PCRE2

namespace {

/// `\s` and `\S` as Unicode's property, as the libraries have it that other programs use: to PCRE2
/// they are of a few characters more.
std::string with_unicode_space(std::string_view expression) {
    std::string text;
    for (std::size_t i = 0; i < expression.size(); ++i) {
        if (expression[i] != '\\' || i + 1 == expression.size()) {
            text += expression[i];
            continue;
        }
        const char next = expression[++i];
        if (next == 's')
            text += "\\p{White_Space}";
        else if (next == 'S')
            text += "\\P{White_Space}";
        else
            (text += '\\') += next;
    }
    return text;
}

std::string message_of(int error) {
    PCRE2_UCHAR text[256];
    pcre2_get_error_message(error, text, sizeof text);
    return reinterpret_cast<const char*>(text);
}

}  // namespace

struct TextPattern::Compiled {
    Compiled() = default;
    Compiled(const Compiled&) = delete;
    Compiled& operator=(const Compiled&) = delete;
    ~Compiled() {
        pcre2_match_data_free(match);
        pcre2_code_free(code);
        pcre2_match_context_free(context);
        pcre2_jit_stack_free(stack);
    }

    pcre2_code* code = nullptr;
    pcre2_match_data* match = nullptr;
    pcre2_match_context* context = nullptr;
    pcre2_jit_stack* stack = nullptr;
};

TextPattern::TextPattern(std::string_view expression, const std::string& origin)
    : compiled_(std::make_unique<Compiled>()) {
    constexpr std::size_t kLongest = std::size_t{1} << 20;
    if (expression.size() > kLongest)
        throw RunError(
            Exit::mismatch,
            fmt::format("{}: a regular expression of {} bytes, more than {}", origin,
                        expression.size(), kLongest),
            "expressions that take text apart, and all added tokens together, are shorter");
    const std::string text = with_unicode_space(expression);
    int error = 0;
    PCRE2_SIZE place = 0;
    compiled_->code =
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &place, nullptr);
    if (compiled_->code == nullptr)
        throw RunError(Exit::mismatch,
                       fmt::format("{}: the regular expression `{}` cannot be used: {}", origin,
                                   printable(expression), message_of(error)),
                       "PCRE2 reads it; `man pcre2pattern` says what it knows");
    // Without machine code, where that is forbidden, it is interpreted.
    constexpr std::size_t kLeastStack = 32 << 10, kMostStack = 16 << 20;
    if (pcre2_jit_compile(compiled_->code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD) == 0)
        compiled_->stack = pcre2_jit_stack_create(kLeastStack, kMostStack, nullptr);
    compiled_->context = pcre2_match_context_create(nullptr);
    if (compiled_->stack != nullptr)
        pcre2_jit_stack_assign(compiled_->context, nullptr, compiled_->stack);
    compiled_->match = pcre2_match_data_create_from_pattern(compiled_->code, nullptr);
}

TextPattern::Match TextPattern::find(std::string_view text, std::size_t from, bool whole) const {
    const std::uint32_t partial = whole ? 0 : PCRE2_PARTIAL_HARD;
    const auto* const bytes = reinterpret_cast<PCRE2_SPTR>(text.data());
    const Compiled& c = *compiled_;
    const int count =
        c.stack != nullptr
            ? pcre2_jit_match(c.code, bytes, text.size(), from, partial, c.match, c.context)
            : pcre2_match(c.code, bytes, text.size(), from, PCRE2_NO_UTF_CHECK | partial, c.match,
                          c.context);
    if (count == PCRE2_ERROR_NOMATCH) return {Found::none, text.size(), text.size()};
    const PCRE2_SIZE* const place = pcre2_get_ovector_pointer(compiled_->match);
    if (count == PCRE2_ERROR_PARTIAL) return {Found::unsure, place[0], place[1]};
    if (count < 0)
        throw RunError(Exit::failed,
                       fmt::format("a vocabulary's regular expression cannot be matched: {}",
                                   message_of(count)),
                       "use a vocabulary whose expression takes text apart in few steps");
    return {Found::match, place[0], place[1]};
}

#else

struct TextPattern::Compiled {};

TextPattern::TextPattern(std::string_view, const std::string& origin) {
    throw RunError(Exit::mismatch,
                   origin +
                       ": it takes text apart by a regular expression, and the program was "
                       "built without PCRE2",
                   "install PCRE2 (Debian: libpcre2-dev) and build again");
}

TextPattern::Match TextPattern::find(std::string_view, std::size_t, bool) const {
    return {};
}

#endif

TextPattern::~TextPattern() = default;
TextPattern::TextPattern(TextPattern&&) noexcept = default;
TextPattern& TextPattern::operator=(TextPattern&&) noexcept = default;

}  // namespace dtnn::runtime
