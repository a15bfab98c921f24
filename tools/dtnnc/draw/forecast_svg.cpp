// The picture of a forecast: bars over the number of ranks, their efficiency below.

#include "tools/dtnnc/draw/forecast_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/svg.hpp"

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

std::string filled(const char* colour) {
    return fmt::format("fill=\"{}\"", colour);
}

struct Unit {
    double factor;
    const char* name;
};
Unit unit_of(double seconds) {
    if (seconds >= 2) return {1, "s"};
    return seconds >= 2e-3 ? Unit{1e3, "ms"} : Unit{1e6, "us"};
}

/// From one height to another, with a stroke across each end.
void draw_whisker(Svg& svg, double x, double top, double bottom) {
    constexpr double kHalf = 5;
    constexpr const char* kStroke = "stroke=\"#222\" stroke-width=\"1.5\"";
    svg.line(x, top, x, bottom, kStroke);
    svg.line(x - kHalf, top, x + kHalf, top, kStroke);
    svg.line(x - kHalf, bottom, x + kHalf, bottom, kStroke);
}

void draw_legend(Svg& svg, bool uncertain) {
    double x = kLeft;
    for (const Part& part : kParts) {
        svg.rect(x, 50, 14, 14, filled(part.colour));
        svg.text(x + 20, 62, "start", part.name);
        x += 190;
    }
    if (uncertain) {
        draw_whisker(svg, x + 7, 50, 64);
        svg.text(x + 20, 62, "start", "error of the calibration");
    } else {
        svg.text(x, 62, "start", "error not known: not calibrated", "fill=\"#666\"");
    }
}

/// The axis of a panel of this height above `floor`: rules from 0 to `top`, `tick` apart.
template <class Label>
void draw_axis(Svg& svg, double floor, double height, double top, double tick, Label&& label) {
    for (int i = 0; i * tick <= top * 1.001; ++i) {
        const double value = i * tick;
        const double y = floor - height * value / top;
        svg.line(kLeft, y, kPictureWidth - kRight, y,
                 i == 0 ? "stroke=\"#444\"" : "stroke=\"#ddd\"");
        svg.text(kLeft - 8, y + 4, "end", label(value));
    }
}

}  // namespace

std::string forecast_svg(const std::vector<plan::Forecast>& rows, const std::string& title) {
    std::vector<const plan::Forecast*> shown;
    for (const plan::Forecast& row : rows)
        if (row.refused.empty()) shown.push_back(&row);
    double most = 1e-9, best = 1;
    bool uncertain = false;
    for (const plan::Forecast* row : shown) {
        most = std::max(most, row->step() + row->error);
        best = std::max(best, row->efficiency);
        uncertain = uncertain || row->error > 0;
    }
    const std::vector<double> ticks = round_ticks(0, most, 6);
    const double top = ticks.back();
    const Unit unit = unit_of(top);
    const double slot =
        (kPictureWidth - kLeft - kRight) / double(std::max<std::size_t>(shown.size(), 1));
    const double floor = kTop + kBars, line_top = floor + kPanelGap, line_floor = line_top + kLine;

    Svg svg(kPictureWidth, kPictureHeight,
            fmt::format("xmlns=\"http://www.w3.org/2000/svg\" width=\"{:g}\" height=\"{:g}\" "
                        "style=\"max-width: 100%; height: auto\" "
                        "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\"",
                        kPictureWidth, kPictureHeight));
    svg.rect(0, 0, kPictureWidth, kPictureHeight, filled("#fff"));
    svg.text(kLeft, 30, "start", title, "font-size=\"17\" font-weight=\"bold\"");
    draw_legend(svg, uncertain);
    draw_axis(svg, floor, kBars, top, ticks[1],
              [&](double value) { return fmt::format("{:g}", value * unit.factor); });
    svg.text(kLeft - 8, kTop - 10, "end", fmt::format("step, {}", unit.name));
    const double ceiling = std::ceil(best * 4 - 1e-9) / 4;
    draw_axis(svg, line_floor, kLine, ceiling, 0.25,
              [](double value) { return fmt::format("{:.0f} %", 100 * value); });
    svg.text(kLeft - 8, line_top - 12, "end", "efficiency");

    std::vector<Svg::Point> points;
    const std::size_t every = shown.size() / 24 + 1;  // labels that do not fit are left out
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const plan::Forecast& row = *shown[i];
        const double middle = kLeft + slot * (double(i) + 0.5), width = std::min(slot * 0.66, 60.0);
        double y = floor;
        for (const Part& part : kParts) {
            const double height = kBars * row.*part.seconds / top;
            y -= height;
            if (height < 0.05) continue;
            svg.rect(middle - width / 2, y, width, height, filled(part.colour),
                     fmt::format("{} ranks: {} {:.4g} {}", row.ranks, part.name,
                                 row.*part.seconds * unit.factor, unit.name));
        }
        if (row.error > 0) {
            draw_whisker(svg, middle, floor - kBars * (row.step() + row.error) / top,
                         floor - kBars * std::max(0.0, row.step() - row.error) / top);
        }
        points.push_back({middle, line_floor - kLine * row.efficiency / ceiling});
        if (i % every != 0) continue;
        const std::string ranks = fmt::format("{}", row.ranks);
        svg.text(middle, floor + 18, "middle", ranks);
        svg.text(middle, line_floor + 18, "middle", ranks);
    }
    svg.path({points}, "stroke=\"#D55E00\" stroke-width=\"2\"");
    for (std::size_t i = 0; i < shown.size(); ++i) {
        svg.circle(points[i].x, points[i].y, 4, filled("#D55E00"));
        if (shown.size() > 14) continue;
        svg.text(points[i].x, points[i].y + 20, "middle",
                 fmt::format("{:.0f}", 100 * shown[i]->efficiency), "font-size=\"11\"");
    }
    svg.text((kLeft + kPictureWidth - kRight) / 2, line_floor + 38, "middle", "ranks");
    return std::move(svg).finish();
}

}  // namespace dtnn::tools
