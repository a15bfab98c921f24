#include "runtime/report/line_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/escape.hpp"
#include "base/svg.hpp"
#include "base/text.hpp"

namespace dtnn::runtime {
namespace {

constexpr double kWidth = 460, kHeight = 260;
constexpr double kLeft = 56, kRight = 12, kTop = 34, kBottom = 38;
constexpr int kTicks = 5;
constexpr const char* kTickStyle = "class=\"tick\"";
/// With more points than this, they are lines only.
constexpr std::size_t kMostPoints = 120;

struct Range {
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();

    void take(double value) {
        least = std::min(least, value);
        most = std::max(most, value);
    }
    bool empty() const { return least > most; }
};

std::string tick_text(double value) {
    if (value == 0) return "0";
    const double size = std::abs(value);
    if (size >= 1e4 && size < 1e7 && value == std::floor(value))
        return grouped(std::int64_t(value));
    return size >= 1e5 || size < 1e-4 ? fmt::format("{:.1e}", value) : fmt::format("{:.6g}", value);
}

/// Whole numbers, about `wanted` of them, within [least, most].
std::vector<double> whole_ticks(double least, double most, int wanted) {
    const double step = std::max(1.0, std::ceil(round_ticks(0, most - least, wanted)[1]));
    std::vector<double> ticks;
    // The first epoch is worth a tick, and then round numbers.
    if (least == std::floor(least)) ticks.push_back(least);
    for (double tick = std::ceil(least / step) * step; tick <= most; tick += step)
        if (tick > least && (ticks.empty() || tick - ticks.back() >= step / 2))
            ticks.push_back(tick);
    return ticks;
}

class Drawing {
  public:
    explicit Drawing(const LineChart& chart) : chart_(chart) {}

    std::string draw() {
        Range x, y;
        for (const Curve& curve : chart_.curves) {
            for (std::size_t i = 0; i < curve.x.size(); ++i) {
                if (!std::isfinite(curve.y[i])) continue;
                x.take(curve.x[i]);
                y.take(curve.y[i]);
            }
        }
        if (y.empty()) return "";
        if (chart_.from_zero) y.take(0);
        // Epochs begin where they begin: no empty strip on either side.
        x_ = x.least < x.most ? x : Range{x.least - 0.5, x.most + 0.5};
        x_ticks_ = chart_.whole_x ? whole_ticks(x.least, x.most, kTicks)
                                  : round_ticks(x_.least, x_.most, kTicks);
        y_ticks_ = round_ticks(y.least, y.most, kTicks);
        y_ = {y_ticks_.front(), y_ticks_.back()};
        svg_.text(kLeft, 18, "start", chart_.title, "class=\"title\"");
        axes();
        for (const Curve& curve : chart_.curves)
            line(curve);
        legend();
        return std::move(svg_).finish();
    }

  private:
    Svg::Point place(double x, double y) const {
        return {
            kLeft + (x - x_.least) / (x_.most - x_.least) * (kWidth - kLeft - kRight),
            kHeight - kBottom - (y - y_.least) / (y_.most - y_.least) * (kHeight - kTop - kBottom)};
    }

    void axes() {
        for (const double tick : y_ticks_) {
            const double y = place(x_.least, tick).y;
            svg_.line(kLeft, y, kWidth - kRight, y, "class=\"grid\"");
            svg_.text(kLeft - 6, y + 4, "end", tick_text(tick), kTickStyle);
        }
        for (const double tick : x_ticks_) {
            if (tick < x_.least || tick > x_.most) continue;
            svg_.text(place(tick, y_.least).x, kHeight - kBottom + 16, "middle", tick_text(tick),
                      kTickStyle);
        }
        for (const double mark : chart_.marks) {
            if (mark < x_.least || mark > x_.most) continue;
            const double x = place(mark, y_.least).x;
            svg_.line(x, kTop, x, kHeight - kBottom, "class=\"mark\"");
        }
        svg_.text((kLeft + kWidth - kRight) / 2, kHeight - 6, "middle", chart_.x_label, kTickStyle);
    }

    void line(const Curve& curve) {
        std::vector<std::vector<Svg::Point>> runs(1);
        for (std::size_t i = 0; i < curve.x.size(); ++i) {
            if (std::isfinite(curve.y[i])) {
                runs.back().push_back(place(curve.x[i], curve.y[i]));
            } else {
                runs.emplace_back();
            }
        }
        svg_.path(runs, fmt::format("class=\"curve {}\"", curve.style));
        if (curve.x.size() > kMostPoints) return;
        const std::string style = fmt::format("class=\"{}\"", curve.style);
        for (std::size_t i = 0; i < curve.x.size(); ++i) {
            if (!std::isfinite(curve.y[i])) continue;
            const Svg::Point at = place(curve.x[i], curve.y[i]);
            svg_.circle(at.x, at.y, 2.5, style,
                        fmt::format("{} {}: {}{:.4g}", chart_.x_label, tick_text(curve.x[i]),
                                    curve.name.empty() ? "" : curve.name + " ", curve.y[i]));
        }
    }

    void legend() {
        if (chart_.curves.size() < 2 || !chart_.legend) return;
        double right = kWidth - kRight;
        for (auto curve = chart_.curves.rbegin(); curve != chart_.curves.rend(); ++curve) {
            svg_.text(right, 18, "end", curve->name, fmt::format("class=\"{}\"", curve->style));
            right -= 14 + 6.6 * double(curve->name.size());
        }
    }

    const LineChart& chart_;
    Svg svg_{
        kWidth, kHeight,
        fmt::format("class=\"chart\" role=\"img\" aria-label=\"{}\"", html_escaped(chart_.title))};
    std::vector<double> x_ticks_, y_ticks_;
    Range x_, y_;
};

}  // namespace

std::string svg_of(const LineChart& chart) {
    return Drawing(chart).draw();
}

}  // namespace dtnn::runtime
