#pragma once
/// PNGs of numbers.

#include <cstdint>
#include <span>
#include <string>

namespace dtnn::runtime {

/// A PNG with a palette whose pixels, row-major, have these indices. Number 0 is black; the others
/// have the colours of PASCAL VOC's masks, so that neighbours differ. RunError where it cannot be
/// made.
std::string png_of_numbers(std::span<const std::uint8_t> numbers, std::int64_t height,
                           std::int64_t width);

}  // namespace dtnn::runtime
