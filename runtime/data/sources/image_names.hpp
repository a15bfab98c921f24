#pragma once
/// Which files among images are images, and which are what people and systems leave beside them.

#include <string>
#include <string_view>
#include <vector>

namespace dtnn::runtime {

/// Whether the name ends as an image's does: .jpg, .jpeg, .jpe, .jfif or .png, in any case. Whether
/// the file is one, its content says when it is decoded.
bool is_called_image(std::string_view name);

/// Whether a file of this name is expected beside images though it is no image: README, LICENSE and
/// the like with any ending but an image's, Thumbs.db, desktop.ini, checksums. Hidden names are not
/// asked about: they are passed over without a word.
bool is_beside_images(std::string_view name);

/// Throws unless the file is called as an image is, or begins as one does: "PATH: it is no image".
void require_image_file(const std::string& path);

/// The same of bytes that a file called `name` begins with, such as a member of an archive.
void require_image(const std::string& name, std::string_view begin);

/// "PATH: passed over 3 files that are no images: README.md, a/Thumbs.db, ..."
std::string passed_over_note(const std::string& path, const std::vector<std::string>& names);

/// How many of its first bytes tell an image.
inline constexpr std::size_t kImageBegin = 8;

}  // namespace dtnn::runtime
