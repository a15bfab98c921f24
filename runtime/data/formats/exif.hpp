#pragma once
/// How a photograph is to be seen: the tag "Orientation" of EXIF in a JPEG ("Exchangeable image
/// file format for digital still cameras", CIPA DC-008, 4.6.4; the segments of JPEG: ITU-T T.81,
/// B.1.1).

#include <cstdint>
#include <span>

namespace dtnn::runtime {

/// By what the first row and the first column of the stored pixels are: values are the tag's.
enum class Orientation : std::uint8_t {
    upright = 1,       ///< top, left
    mirrored = 2,      ///< top, right
    upside_down = 3,   ///< bottom, right
    flipped = 4,       ///< bottom, left
    transposed = 5,    ///< left, top
    turned_left = 6,   ///< right, top: the camera was turned to the left, the image is to be turned
                       ///< to the right
    transversed = 7,   ///< right, bottom
    turned_right = 8,  ///< left, bottom
};

/// Whether height and width change places.
constexpr bool swaps_extents(Orientation orientation) {
    return orientation >= Orientation::transposed;
}

/// That of a JPEG file. Upright where it has no EXIF, or some that does not say it, or is damaged:
/// the pixels are sound all the same, and every reader of photographs shows them so.
Orientation orientation_of_jpeg(std::span<const std::uint8_t> bytes);

}  // namespace dtnn::runtime
