#include "base/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/escape.hpp"
#include "base/text.hpp"

namespace dtnn {
namespace {

/// `name="value"` in hundredths of a pixel, without zeros behind.
std::string place(std::string_view name, double value) {
    return fmt::format(" {}=\"{:g}\"", name, std::round(value * 100) / 100);
}

}  // namespace

Svg::Svg(double width, double height, std::string_view attributes)
    : text_(fmt::format("<svg viewBox=\"0 0 {:g} {:g}\" {}>\n", width, height, attributes)) {}

void Svg::element(std::string_view name, std::string_view attributes, std::string_view title) {
    if (!attributes.empty()) text_ += fmt::format(" {}", attributes);
    if (title.empty()) {
        text_ += "/>\n";
    } else {
        text_ += fmt::format("><title>{}</title></{}>\n", html_escaped(title), name);
    }
}

void Svg::style(std::string_view sheet) {
    text_ += fmt::format("<style>\n{}</style>\n", sheet);
}

void Svg::text(double x, double y, std::string_view anchor, std::string_view text,
               std::string_view attributes) {
    text_ += "<text" + place("x", x) + place("y", y);
    text_ += fmt::format(" text-anchor=\"{}\"{}{}>{}</text>\n", anchor,
                         attributes.empty() ? "" : " ", attributes, html_escaped(text));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view attributes) {
    text_ += "<line" + place("x1", x1) + place("y1", y1) + place("x2", x2) + place("y2", y2);
    element("line", attributes, "");
}

void Svg::rect(double x, double y, double width, double height, std::string_view attributes,
               std::string_view title) {
    text_ +=
        "<rect" + place("x", x) + place("y", y) + place("width", width) + place("height", height);
    element("rect", attributes, title);
}

void Svg::circle(double x, double y, double radius, std::string_view attributes,
                 std::string_view title) {
    text_ += "<circle" + place("cx", x) + place("cy", y) + place("r", radius);
    element("circle", attributes, title);
}

void Svg::path(const std::vector<std::vector<Point>>& runs, std::string_view attributes) {
    text_ += "<path fill=\"none\" d=\"";
    for (const std::vector<Point>& run : runs)
        for (std::size_t i = 0; i < run.size(); ++i)
            text_ += fmt::format("{}{:.1f} {:.1f} ", i == 0 ? "M" : "L", run[i].x, run[i].y);
    text_ += '"';
    element("path", attributes, "");
}

std::string Svg::finish() && {
    return std::move(text_) + "</svg>\n";
}

double picture_text_width(std::string_view text) {
    // In pixels, of DejaVu Sans, the widest of those that systems show "sans-serif" in.
    constexpr double kNarrow = 5.4, kUsual = 8.3, kCapital = 10.3, kWide = 12.8;
    double width = 0;
    for (const char c : text) {
        const bool inside = (static_cast<unsigned char>(c) & 0xC0) == 0x80;  // of a character
        if (inside) continue;
        width += std::string_view("ijlftrI.,:;|!'()[]- ").find(c) != std::string_view::npos
                     ? kNarrow
                 : std::string_view("mwMW@%").find(c) != std::string_view::npos ? kWide
                 : c >= 'A' && c <= 'Z'                                         ? kCapital
                                                                                : kUsual;
    }
    return width;
}

std::string end_of(const std::string& text, std::size_t most) {
    const std::size_t all = characters(text);
    if (all <= most) return text;
    return "\u2026" + text.substr(byte_of_character(text, all - most + 1));
}

Svg svg_picture(double height, std::string_view title) {
    // Programs that do not know style sheets read the attributes of each element.
    constexpr const char* kStyle =
        "text { fill: #222; } .soft { fill: #5f6878; } .edge { stroke: #fff; }\n"
        "@media (prefers-color-scheme: dark) {\n"
        ":root { background: #14181f; } .paper { fill: #14181f; } .edge { stroke: #14181f; "
        "fill-opacity: .8; }\n"
        "text { fill: #e6e9ef; } .soft { fill: #a0a9b8; }\n"
        ".rule { stroke: #2b323d; } .axis { stroke: #a0a9b8; } .line { stroke: #e6e9ef; }\n}\n";
    constexpr std::size_t kMostTitle = 58;
    constexpr double kLargest = 2;
    const std::size_t colon = title.find(": ");
    const std::string name(title.substr(0, colon));
    Svg svg(
        kPictureWidth, height,
        fmt::format(
            "xmlns=\"http://www.w3.org/2000/svg\" width=\"{:g}\" height=\"{:g}\" "
            "style=\"width: 100%; max-width: {:g}px; height: auto\" role=\"img\" aria-label=\"{}\" "
            "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\"",
            kPictureWidth, height, kLargest * kPictureWidth, html_escaped(title)));
    svg.style(kStyle);
    svg.rect(0, 0, kPictureWidth, height, "class=\"paper\" fill=\"#fff\"");
    svg.text(kPictureMargin, 30, "start", end_of(name, kMostTitle),
             "font-size=\"16\" font-weight=\"bold\"");
    if (colon != std::string_view::npos)
        svg.text(kPictureMargin, 50, "start", title.substr(colon + 2), kPictureSoft);
    return svg;
}

std::vector<double> round_ticks(double least, double most, int wanted) {
    if (least == most) {
        const double margin = least == 0 ? 1 : std::abs(least) / 2;
        least -= margin;
        most += margin;
    }
    const double raw = (most - least) / std::max(1, wanted - 1);
    const double power = std::pow(10, std::floor(std::log10(raw)));
    double step = 10 * power;
    for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
        if (factor * power >= raw * (1 - 1e-9)) {
            step = factor * power;
            break;
        }
    }
    std::vector<double> ticks;
    const double first = std::floor(least / step + 1e-9), last = std::ceil(most / step - 1e-9);
    for (int i = 0; first + i <= last; ++i)
        ticks.push_back((first + i) * step);
    return ticks;
}

}  // namespace dtnn
