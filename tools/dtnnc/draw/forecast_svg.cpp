// The picture of a forecast: bars over the number of ranks, their efficiency below.

#include "tools/dtnnc/draw/forecast_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/svg.hpp"

namespace dtnn::tools {
namespace {

constexpr double kLeft = 76, kRight = 24;
constexpr double kTop = 118, kBars = 190, kPanelGap = 64, kLine = 110, kBottom = 48;
constexpr double kPictureHeight = kTop + kBars + kPanelGap + kLine + kBottom;
/// With narrower bars, efficiencies are told by the axis alone.
constexpr double kNarrowest = 34;

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
    svg.line(x, top, x, bottom, kPictureLine);
    svg.line(x - kHalf, top, x + kHalf, top, kPictureLine);
    svg.line(x - kHalf, bottom, x + kHalf, bottom, kPictureLine);
}

/// The line of efficiencies.
constexpr const char* kEfficiencyColour = "#D55E00";

void draw_efficiency(Svg& svg, const std::vector<Svg::Point>& points) {
    svg.path({points}, fmt::format("stroke=\"{}\" stroke-width=\"2\"", kEfficiencyColour));
    for (const Svg::Point& point : points)
        svg.circle(point.x, point.y, 4, filled(kEfficiencyColour));
}

void draw_legend(Svg& svg, bool uncertain, double efficiency_row) {
    constexpr double kSquare = 14, kRow = 66, kApart = 18;
    double x = kPictureMargin;
    for (const Part& part : kParts) {
        svg.rect(x, kRow, kSquare, kSquare, filled(part.colour));
        svg.text(x + kSquare + 6, kRow + 12, "start", part.name);
        x += kSquare + 6 + picture_text_width(part.name) + kApart;
    }
    if (uncertain) {
        draw_whisker(svg, x + kSquare / 2, kRow, kRow + kSquare);
        svg.text(x + kSquare + 6, kRow + 12, "start", "calibration error");
    } else {
        svg.text(kPictureWidth - kRight, kTop - 12, "end", "error not calibrated", kPictureSoft);
    }
    const double line = efficiency_row - 4;
    svg.path({{{kPictureMargin, line}, {kPictureMargin + 2 * kSquare, line}}},
             fmt::format("stroke=\"{}\" stroke-width=\"2\"", kEfficiencyColour));
    svg.text(kPictureMargin + 2 * kSquare + 6, efficiency_row, "start", "efficiency");
}

/// The axis of a panel of this height above `floor`: rules from 0 to `top`, `tick` apart.
template <class Label>
void draw_axis(Svg& svg, double floor, double height, double top, double tick, Label&& label) {
    for (int i = 0; i * tick <= top * 1.001; ++i) {
        const double value = i * tick;
        const double y = floor - height * value / top;
        svg.line(kLeft, y, kPictureWidth - kRight, y, i == 0 ? kPictureAxis : kPictureRule);
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

    Svg svg = svg_picture(kPictureHeight, title);
    draw_legend(svg, uncertain, line_top - 14);
    draw_axis(svg, floor, kBars, top, ticks[1],
              [&](double value) { return fmt::format("{:g}", value * unit.factor); });
    svg.text(kPictureMargin, kTop - 12, "start", fmt::format("step, {}", unit.name));
    const double ceiling = std::ceil(best * 4 - 1e-9) / 4;
    draw_axis(svg, line_floor, kLine, ceiling, 0.25,
              [](double value) { return fmt::format("{:.0f} %", 100 * value); });

    std::vector<Svg::Point> points;
    // Labels that do not fit are left out.
    double widest = 0;
    for (const plan::Forecast* row : shown)
        widest = std::max(widest, picture_text_width(fmt::to_string(row->ranks)));
    const std::size_t every = std::max<std::size_t>(1, std::size_t(std::ceil((widest + 4) / slot)));
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
    draw_efficiency(svg, points);
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (slot < kNarrowest) continue;
        const bool low = line_floor - points[i].y < 26;
        svg.text(points[i].x, points[i].y + (low ? -9 : 19), "middle",
                 fmt::format("{:.0f}", 100 * shown[i]->efficiency), kPictureSoft);
    }
    svg.text((kLeft + kPictureWidth - kRight) / 2, line_floor + 38, "middle", "ranks");
    return std::move(svg).finish();
}

}  // namespace dtnn::tools
