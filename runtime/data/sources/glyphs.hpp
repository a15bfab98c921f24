#pragma once
/// The shapes of the digits, as strokes of cubic Bezier curves.

#include <span>

namespace dtnn::runtime {

struct Point {
    float x = 0, y = 0;
};

/// A pen stroke: a start and then curves of three points each (two controls and an end). Unit
/// coordinates: x to the right, y down, the glyph fills about [0, 1] x [0, 1].
struct Stroke {
    std::span<const Point> points;
};
struct Glyph {
    std::span<const Stroke> strokes;
};

/// The ways to write a digit, 0 <= digit <= 9; at least one.
std::span<const Glyph> shapes_of(int digit);

/// More points than any glyph has.
inline constexpr int kMostPoints = 64;

}  // namespace dtnn::runtime
