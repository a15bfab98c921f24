#include "compiler/ir/text.hpp"

#include <mutex>
#include <ostream>
#include <unordered_set>

namespace dtnn::compiler {
namespace {

struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>{}(text);
    }
};

/// Sweeps compile on several threads.
const std::string& keep(std::string_view text) {
    static std::mutex mutex;
    static std::unordered_set<std::string, Hash, std::equal_to<>> texts;
    const std::lock_guard lock(mutex);
    if (const auto found = texts.find(text); found != texts.end()) return *found;
    return *texts.emplace(text).first;
}

}  // namespace

Symbol::Symbol(std::string_view text) : KeptText(text.empty() ? nullptr : &keep(text)) {}

std::ostream& operator<<(std::ostream& out, const KeptText& text) {
    return out << text.str();
}

}  // namespace dtnn::compiler
