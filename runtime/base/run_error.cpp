#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

std::string RunError::render(bool color, const std::string& who) const {
    const char* red = color ? "\x1b[1;31m" : "";
    const char* bold = color ? "\x1b[1m" : "";
    const char* off = color ? "\x1b[0m" : "";
    std::string text =
        std::string(red) + "dtnn-run: " + off + who + (who.empty() ? "" : ": ") + what() + "\n";
    if (!detail_.empty()) text += "  " + detail_ + "\n";
    if (!help_.empty()) text += std::string(bold) + "help:" + off + " " + help_ + "\n";
    return text;
}

}  // namespace dtnn::runtime
