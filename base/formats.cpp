#include "base/formats.hpp"

#include <fmt/format.h>

#include "base/utf8.hpp"

namespace dtnn {
namespace {

constexpr std::size_t kMostShown = 40;

std::string cut_off(std::string_view text) {
    return text.size() <= kMostShown ? printable(text)
                                     : printable(text.substr(0, kMostShown)) + "...";
}

}  // namespace

std::string other_format(const Format& format, std::string_view found, std::string_view writer) {
    return fmt::format("{} of format {} is of {}; this program reads {}", format.what,
                       cut_off(found), writer.empty() ? "another release" : cut_off(writer),
                       format.number);
}

}  // namespace dtnn
