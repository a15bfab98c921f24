#include "runtime/data/sources/image_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/data/formats/image.hpp"

namespace dtnn::runtime {
namespace {

/// Before the first dot.
std::string_view stem_of(std::string_view name) {
    return name.substr(0, name.find('.'));
}

}  // namespace

bool is_called_image(std::string_view name) {
    const std::string plain = lower(name);
    constexpr std::array kEnds = {".jpg", ".jpeg", ".jpe", ".jfif", ".png"};
    return std::any_of(kEnds.begin(), kEnds.end(),
                       [&](const char* end) { return plain.ends_with(end); });
}

bool is_beside_images(std::string_view name) {
    if (is_called_image(name)) return false;
    const std::string plain = lower(name);
    constexpr std::array kNames = {"thumbs.db", "ehthumbs.db",  "desktop.ini", "md5sum",
                                   "md5sums",   "md5sums.txt",  "sha256sums",  "sha256sums.txt",
                                   "icon\r",    "checksums.txt"};
    if (std::find(kNames.begin(), kNames.end(), plain) != kNames.end()) return true;
    constexpr std::array kStems = {"readme", "license", "licence", "copying", "citation"};
    return std::find(kStems.begin(), kStems.end(), stem_of(plain)) != kStems.end();
}

void require_image(const std::string& name, std::string_view begin) {
    if (is_called_image(name) || begins_as_image(begin)) return;
    throw RunError(Exit::failed,
                   name + ": it is no image: neither its name nor its content is JPEG's or PNG's",
                   "take it out of the folder, or make it a JPEG or PNG");
}

void require_image_file(const std::string& path) {
    if (is_called_image(path)) return;
    const RegularFile file(path);
    std::string begin(std::size_t(std::min<std::int64_t>(file.size(), kImageBegin)), '\0');
    file.read(0, std::span<char>(begin));
    require_image(path, begin);
}

std::string passed_over_note(const std::string& path, const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 5;
    const std::vector<std::string> first(
        names.begin(), names.begin() + std::ptrdiff_t(std::min(names.size(), kMost)));
    return fmt::format("{}: passed over {} that {}: {}{}", path,
                       names.size() == 1 ? "a file" : fmt::format("{} files", names.size()),
                       names.size() == 1 ? "is no image" : "are no images", fmt::join(first, ", "),
                       names.size() > kMost ? " and others" : "");
}

}  // namespace dtnn::runtime
