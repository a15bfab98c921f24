// The picture of a forecast: bars over the number of ranks, their efficiency below.

#include "tools/dtnnc/draw/forecast_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/escape.hpp"

namespace dtnn::tools {
namespace {

constexpr double kPictureWidth = 900, kLeft = 76, kRight = 24;
constexpr double kTop = 84, kBars = 270, kPanelGap = 64, kLine = 150, kBottom = 48;
constexpr double kPictureHeight = kTop + kBars + kPanelGap + kLine + kBottom;

/// Distinguishable for the colour-blind (Okabe and Ito, "Color universal design", 2008).
struct Part {
    const char* name;
    const char* colour;
    double plan::Forecast::*seconds;
};
constexpr std::array kParts = {Part{"compute", "#0072B2", &plan::Forecast::compute},
                               Part{"exchange, not hidden", "#E69F00", &plan::Forecast::exposed},
                               Part{"input, not hidden", "#009E73", &plan::Forecast::input}};

std::string label(double x, double y, const char* anchor, const std::string& text,
                  const char* style = "") {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                       anchor, style, html_escaped(text));
}

std::string rule(double y, bool strong) {
    return fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", kLeft, y,
        kPictureWidth - kRight, y, strong ? "#444" : "#ddd");
}

/// The least of 1, 2, 5 times a power of ten of which `most` has at most five.
double tick_of(double most) {
    const double power = std::pow(10, std::floor(std::log10(most / 5)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (most / (factor * power) <= 5) return factor * power;
    return 10 * power;
}

struct Unit {
    double factor;
    const char* name;
};
Unit unit_of(double seconds) {
    if (seconds >= 2) return {1, "s"};
    return seconds >= 2e-3 ? Unit{1e3, "ms"} : Unit{1e6, "us"};
}

std::string legend() {
    std::string text;
    double x = kLeft;
    for (const Part& part : kParts) {
        text +=
            fmt::format("<rect x=\"{:.1f}\" y=\"50\" width=\"14\" height=\"14\" fill=\"{}\"/>\n", x,
                        part.colour);
        text += label(x + 20, 62, "start", part.name);
        x += 190;
    }
    return text;
}

}  // namespace

std::string forecast_svg(const std::vector<plan::Forecast>& rows, const std::string& title) {
    std::vector<const plan::Forecast*> shown;
    for (const plan::Forecast& row : rows)
        if (row.refused.empty()) shown.push_back(&row);
    double most = 1e-9, best = 1;
    for (const plan::Forecast* row : shown) {
        most = std::max(most, row->step());
        best = std::max(best, row->efficiency);
    }
    const double tick = tick_of(most), top = std::ceil(most / tick - 1e-9) * tick;
    const Unit unit = unit_of(top);
    const double slot =
        (kPictureWidth - kLeft - kRight) / double(std::max<std::size_t>(shown.size(), 1));
    const double floor = kTop + kBars, line_top = floor + kPanelGap, line_floor = line_top + kLine;

    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n"
        "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#fff\"/>\n",
        kPictureWidth, kPictureHeight);
    text += label(kLeft, 30, "start", title, " font-size=\"17\" font-weight=\"bold\"");
    text += legend();
    for (double value = 0; value <= top * 1.001; value += tick) {
        const double y = floor - kBars * value / top;
        text += rule(y, value == 0);
        text += label(kLeft - 8, y + 4, "end", fmt::format("{:g}", value * unit.factor));
    }
    text += label(kLeft - 8, kTop - 10, "end", fmt::format("step, {}", unit.name));
    const double ceiling = std::ceil(best * 4 - 1e-9) / 4;
    for (double value = 0; value <= ceiling + 1e-9; value += 0.25) {
        const double y = line_floor - kLine * value / ceiling;
        text += rule(y, value == 0);
        text += label(kLeft - 8, y + 4, "end", fmt::format("{:.0f} %", 100 * value));
    }
    text += label(kLeft - 8, line_top - 12, "end", "efficiency");

    std::string points, marks;
    const std::size_t every = shown.size() / 24 + 1;  // labels that do not fit are left out
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const plan::Forecast& row = *shown[i];
        const double middle = kLeft + slot * (double(i) + 0.5), width = std::min(slot * 0.66, 60.0);
        double y = floor;
        for (const Part& part : kParts) {
            const double height = kBars * row.*part.seconds / top;
            y -= height;
            if (height < 0.05) continue;
            text += fmt::format(
                "<rect x=\"{:.1f}\" y=\"{:.2f}\" width=\"{:.1f}\" height=\"{:.2f}\" fill=\"{}\">"
                "<title>{} ranks: {} {:.4g} {}</title></rect>\n",
                middle - width / 2, y, width, height, part.colour, row.ranks, part.name,
                row.*part.seconds * unit.factor, unit.name);
        }
        const double point = line_floor - kLine * row.efficiency / ceiling;
        points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", middle, point);
        marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"#D55E00\"/>\n",
                             middle, point);
        if (i % every != 0) continue;
        const std::string ranks = fmt::format("{}", row.ranks);
        text += label(middle, floor + 18, "middle", ranks);
        text += label(middle, line_floor + 18, "middle", ranks);
        if (shown.size() <= 14)
            marks += label(middle, point + 20, "middle",
                           fmt::format("{:.0f}", 100 * row.efficiency), " font-size=\"11\"");
    }
    text += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#D55E00\" stroke-width=\"2\"/>\n", points);
    text += marks;
    text += label((kLeft + kPictureWidth - kRight) / 2, line_floor + 38, "middle", "ranks");
    return text + "</svg>\n";
}

}  // namespace dtnn::tools
