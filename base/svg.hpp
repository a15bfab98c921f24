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

    /// A style sheet, which stands in the element as it is.
    void style(std::string_view sheet);
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

/// The attributes of lines in pictures: they are right in both sets of colours.
inline constexpr std::string_view kPictureRule = "class=\"rule\" stroke=\"#ddd\"";
inline constexpr std::string_view kPictureAxis = "class=\"axis\" stroke=\"#444\"";
inline constexpr std::string_view kPictureLine =
    "class=\"line\" stroke=\"#222\" stroke-width=\"1.5\"";
/// And what texts have that are said by the way.
inline constexpr std::string_view kPictureSoft = "class=\"soft\" fill=\"#5f6878\"";

/// A picture that is a file of its own, on its paper, with its title: what stands before the first
/// ": " of it, and the rest in a line below. As wide as the page that it stands in, up to twice its
/// size; light or dark, as the reader's system asks. Texts have 13 pixels; so wide that they can be
/// read in a window of 480.
Svg svg_picture(double height, std::string_view title);
inline constexpr double kPictureWidth = 640, kPictureMargin = 24;

/// At most so wide is a text of a picture, in the fonts that systems have.
double picture_text_width(std::string_view text);

/// Text of at most so many characters: of a longer one the end, behind dots.
std::string end_of(const std::string& text, std::size_t most);

/// Round numbers, about `wanted` of them, that cover [least, most]; the first is at most `least`,
/// the last at least `most`.
std::vector<double> round_ticks(double least, double most, int wanted);

}  // namespace dtnn
