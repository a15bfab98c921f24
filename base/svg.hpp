#pragma once
/// Drawings as SVG, element after element, and round numbers for their axes. No script.

#include <string>
#include <string_view>
#include <vector>

namespace dtnn {

/// Places are in pixels from the upper left corner. `attributes` stand in the element as they are
/// (`class="grid"`); texts are escaped.
class Svg {
  public:
    Svg(double width, double height, std::string_view attributes);

    void text(double x, double y, std::string_view anchor, std::string_view text,
              std::string_view attributes = "");
    void line(double x1, double y1, double x2, double y2, std::string_view attributes);
    /// `title` is shown where the pointer rests.
    void rect(double x, double y, double width, double height, std::string_view attributes,
              std::string_view title = "");
    void circle(double x, double y, double radius, std::string_view attributes,
                std::string_view title = "");
    struct Point {
        double x, y;
    };
    /// Each run of points is joined by lines.
    void path(const std::vector<std::vector<Point>>& runs, std::string_view attributes);

    /// The whole; nothing may be added to it.
    std::string finish() &&;

  private:
    void element(std::string_view name, std::string_view attributes, std::string_view title);
    std::string text_;
};

/// Round numbers, about `wanted` of them, that cover [least, most]; the first is at most `least`,
/// the last at least `most`.
std::vector<double> round_ticks(double least, double most, int wanted);

}  // namespace dtnn
