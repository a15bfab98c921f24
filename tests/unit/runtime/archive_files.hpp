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

/// The same zip, whose member says of itself that it has so many bytes.
std::string claiming(std::string zip, const std::string& path, std::uint32_t bytes);

/// A .npy file; `shape` as Python writes it: "(2, 3)".
std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                bool fortran = false);

/// The bytes of numbers, one behind another.
template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

}  // namespace dtnn::runtime
