#include "compiler/support/check.hpp"

namespace dtnn::compiler {

void fail_check(const char* file, int line, const std::string& what) {
    throw InternalError(fmt::format("internal error at {}:{}: {}", file, line, what));
}

}  // namespace dtnn::compiler
