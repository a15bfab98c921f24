#pragma once
/// Internal checks: a failed one is our bug, never the user's. The message prints both operands and
/// asks for a report; the program then ends with exit code 70.

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace dtnn::compiler {

/// Thrown by DTNN_CHECK; main() prints it, writes the current graph aside if there is one, and
/// exits with 70.
class InternalError : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* file, int line, const std::string& what);

}  // namespace dtnn::compiler

#define DTNN_CHECK(condition, ...)                                                         \
    do {                                                                                   \
        if (!(condition))                                                                  \
            ::dtnn::compiler::fail_check(__FILE__, __LINE__,                               \
                                         fmt::format("check `{}` failed", #condition) +    \
                                             ::dtnn::compiler::check_detail(__VA_ARGS__)); \
    } while (false)

#define DTNN_CHECK_COMPARE(a, op, b)                                                               \
    do {                                                                                           \
        const auto& check_a = (a);                                                                 \
        const auto& check_b = (b);                                                                 \
        if (!(check_a op check_b))                                                                 \
            ::dtnn::compiler::fail_check(__FILE__, __LINE__,                                       \
                                         fmt::format("check `{} {} {}` failed: {} {} {}", #a, #op, \
                                                     #b, check_a, #op, check_b));                  \
    } while (false)

namespace dtnn::compiler {
inline std::string check_detail() {
    return {};
}
template <class... Args>
std::string check_detail(fmt::format_string<Args...> format, Args&&... args) {
    return ": " + fmt::format(format, std::forward<Args>(args)...);
}
}  // namespace dtnn::compiler
