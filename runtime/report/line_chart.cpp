#include "runtime/report/line_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/escape.hpp"

namespace dtnn::runtime {
namespace {

constexpr double kWidth = 460, kHeight = 260;
constexpr double kLeft = 56, kRight = 12, kTop = 34, kBottom = 38;
constexpr int kTicks = 5;
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
    return size >= 1e5 || size < 1e-3 ? fmt::format("{:.1e}", value) : fmt::format("{:.6g}", value);
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
        x_ticks_ = round_ticks(x.least, x.most, kTicks);
        y_ticks_ = round_ticks(y.least, y.most, kTicks);
        x_ = {x_ticks_.front(), x_ticks_.back()};
        // Epochs begin where they begin: no empty strip on either side.
        x_.least = x.least < x.most ? x.least : x_.least;
        x_.most = x.least < x.most ? x.most : x_.most;
        y_ = {y_ticks_.front(), y_ticks_.back()};
        svg_ = fmt::format(
            "<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n"
            "<text class=\"title\" x=\"{}\" y=\"18\">{}</text>\n",
            kWidth, kHeight, html_escaped(chart_.title), kLeft, html_escaped(chart_.title));
        axes();
        for (const Curve& curve : chart_.curves)
            line(curve);
        legend();
        return svg_ + "</svg>\n";
    }

  private:
    double place_x(double value) const {
        return kLeft + (value - x_.least) / (x_.most - x_.least) * (kWidth - kLeft - kRight);
    }
    double place_y(double value) const {
        return kHeight - kBottom -
               (value - y_.least) / (y_.most - y_.least) * (kHeight - kTop - kBottom);
    }

    void axes() {
        for (const double tick : y_ticks_) {
            const double y = place_y(tick);
            svg_ += fmt::format(
                "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
                "<text class=\"tick\" text-anchor=\"end\" x=\"{}\" y=\"{:.1f}\">{}</text>\n",
                kLeft, kWidth - kRight, y, y, kLeft - 6, y + 4, tick_text(tick));
        }
        for (const double tick : x_ticks_) {
            if (tick < x_.least || tick > x_.most) continue;
            svg_ += fmt::format(
                "<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{}\">{}</text>\n",
                place_x(tick), kHeight - kBottom + 16, tick_text(tick));
        }
        svg_ +=
            fmt::format("<text class=\"tick\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>\n",
                        (kLeft + kWidth - kRight) / 2, kHeight - 6, html_escaped(chart_.x_label));
    }

    void line(const Curve& curve) {
        std::string path;
        bool drawing = false;
        for (std::size_t i = 0; i < curve.x.size(); ++i) {
            if (!std::isfinite(curve.y[i])) {
                drawing = false;
                continue;
            }
            path += fmt::format("{}{:.1f} {:.1f} ", drawing ? "L" : "M", place_x(curve.x[i]),
                                place_y(curve.y[i]));
            drawing = true;
        }
        svg_ += fmt::format("<path class=\"curve {}\" d=\"{}\"/>\n", curve.style, path);
        if (curve.x.size() > kMostPoints) return;
        for (std::size_t i = 0; i < curve.x.size(); ++i) {
            if (!std::isfinite(curve.y[i])) continue;
            svg_ += fmt::format(
                "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"><title>{} {}: {} = "
                "{:.6g}</title></circle>\n",
                curve.style, place_x(curve.x[i]), place_y(curve.y[i]), html_escaped(chart_.x_label),
                tick_text(curve.x[i]), html_escaped(curve.name), curve.y[i]);
        }
    }

    void legend() {
        if (chart_.curves.size() < 2) return;
        double right = kWidth - kRight;
        for (auto curve = chart_.curves.rbegin(); curve != chart_.curves.rend(); ++curve) {
            svg_ += fmt::format(
                "<text class=\"legend {0}\" text-anchor=\"end\" x=\"{1:.1f}\" "
                "y=\"18\">{2}</text>\n",
                curve->style, right, html_escaped(curve->name));
            right -= 14 + 6.6 * double(curve->name.size());
        }
    }

    const LineChart& chart_;
    std::vector<double> x_ticks_, y_ticks_;
    Range x_, y_;
    std::string svg_;
};

}  // namespace

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
    for (double i = first; i <= last; ++i)
        ticks.push_back(i * step);
    return ticks;
}

std::string svg_of(const LineChart& chart) {
    return Drawing(chart).draw();
}

}  // namespace dtnn::runtime
