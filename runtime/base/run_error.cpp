#include "runtime/base/run_error.hpp"

#include "base/utf8.hpp"

namespace dtnn::runtime {

std::string RunError::render(bool color, const std::string& who) const {
    const char* red = color ? "\x1b[1;31m" : "";
    const char* bold = color ? "\x1b[1m" : "";
    const char* off = color ? "\x1b[0m" : "";
    std::string text = std::string(red) + "dtnn-run: " + off + shown(who) +
                       (who.empty() ? "" : ": ") + shown_lines(what()) + "\n";
    if (!detail_.empty()) text += "  " + shown_lines(detail_) + "\n";
    if (!help_.empty()) text += std::string(bold) + "help:" + off + " " + shown_lines(help_) + "\n";
    return text;
}

}  // namespace dtnn::runtime
