#pragma once
/// Archives, images and gzip data for tests, made in memory.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dtnn::runtime {

using Members = std::vector<std::pair<std::string, std::string>>;  ///< path, content

std::string gzip(const std::string& text);

/// A header of 512 bytes and the content, padded; `type` is ustar's: '0' file, '2' symbolic link.
std::string tar_member(const std::string& path, const std::string& content, char type = '0',
                       const std::string& link = "");
std::string tar(const Members& members);

/// Stored, or deflated.
std::string zip(const Members& members, bool deflated = false);

}  // namespace dtnn::runtime
