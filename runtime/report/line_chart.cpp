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

constexpr double kWidth = 480, kHeight = 270;
constexpr double kRight = 18, kBottom = 40, kTitleRow = 20, kLegendRow = 18, kPanelGap = 16;
constexpr int kTicks = 5;
/// Up to so many epochs have a tick each.
constexpr double kEachTicked = 9;
/// At most so wide are letters and digits, of titles and of all else.
constexpr double kTitleLetter = 8.6, kLetter = 7.8;
/// The length of a line in the legend, and the gap between it and the next name.
constexpr double kSwatch = 18, kLegendGap = 12, kTickGap = 4;
constexpr const char* kTickStyle = "class=\"tick\"";
/// So much of the panel is left free beside ticks that are given, for their texts.
constexpr double kTickMargin = 0.09;
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

/// The texts of an axis: all of them with as many decimals as its step needs.
class TickTexts {
  public:
    explicit TickTexts(const std::vector<double>& ticks) {
        constexpr int kMostDecimals = 6;
        double most = 0;
        for (const double tick : ticks)
            most = std::max(most, std::abs(tick));
        const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : most;
        double scaled = step;
        while (decimals_ < kMostDecimals && std::abs(scaled - std::round(scaled)) > 1e-6 * scaled) {
            ++decimals_;
            scaled *= 10;
        }
        powers_ = most >= 1e7 || std::round(scaled) == 0;
    }

    std::string of(double value) const {
        if (value == 0) return "0";
        if (powers_) return fmt::format("{:.3g}", value);
        if (decimals_ == 0 && std::abs(value) >= 1e4) return grouped(std::int64_t(value));
        return fmt::format("{:.{}f}", value, decimals_);
    }

  private:
    int decimals_ = 0;
    bool powers_ = false;
};

double text_width(const std::string& text, double letter = kLetter) {
    return letter * double(characters(text));
}

/// Whole numbers within [least, most]: each, where there are few, else about `wanted` of them.
std::vector<double> whole_ticks(double least, double most, int wanted) {
    const double step = most - least <= kEachTicked
                            ? 1
                            : std::max(1.0, std::ceil(round_ticks(0, most - least, wanted)[1]));
    std::vector<double> ticks;
    // The first epoch is worth a tick, and then round numbers.
    if (least == std::floor(least)) ticks.push_back(least);
    const auto last = std::int64_t(std::floor(most / step));
    for (auto i = std::int64_t(std::ceil(least / step)); i <= last; ++i)
        if (const double tick = double(i) * step;
            tick > least && (ticks.empty() || tick - ticks.back() >= step / 2))
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
        if (!chart_.ticks.empty()) {
            const double margin = kTickMargin * (x_.most - x_.least);
            x_ = {x_.least - margin, x_.most + margin};
        }
        y_ticks_ = round_ticks(y.least, y.most, kTicks);
        y_ = {y_ticks_.front(), y_ticks_.back()};
        const TickTexts y_texts(y_ticks_);
        double widest = 0;
        for (const double tick : y_ticks_)
            widest = std::max(widest, text_width(y_texts.of(tick)));
        left_ = std::max(40.0, widest + 14);
        svg_.text(kLegendGap, kTitleRow, "start", chart_.title, "class=\"title\"");
        legend();
        axes(y_texts);
        const std::vector<ChartTick> ticks = x_ticks(x);
        const double floor = kHeight - kBottom;
        double taken = 0;
        for (const ChartTick& tick : ticks) {
            const double at = place(tick.x, y_.least).x, half = text_width(tick.text) / 2;
            if (at - half < taken) continue;
            taken = at + half + kTickGap;
            svg_.text(at, floor + 16, "middle", tick.text, "class=\"tick x\"");
        }
        for (const Curve& curve : chart_.curves)
            line(curve);
        return std::move(svg_).finish();
    }

  private:
    Svg::Point place(double x, double y) const {
        return {
            left_ + (x - x_.least) / (x_.most - x_.least) * (kWidth - left_ - kRight),
            kHeight - kBottom - (y - y_.least) / (y_.most - y_.least) * (kHeight - top_ - kBottom)};
    }

    std::vector<ChartTick> x_ticks(const Range& values) const {
        if (!chart_.ticks.empty()) return chart_.ticks;
        const std::vector<double> places = chart_.whole_x
                                               ? whole_ticks(values.least, values.most, kTicks)
                                               : round_ticks(x_.least, x_.most, kTicks);
        const TickTexts texts(places);
        std::vector<ChartTick> ticks;
        for (const double tick : places)
            if (tick >= x_.least && tick <= x_.most) ticks.push_back({tick, texts.of(tick)});
        return ticks;
    }

    void axes(const TickTexts& y_texts) {
        for (const double tick : y_ticks_) {
            const double y = place(x_.least, tick).y;
            svg_.line(left_, y, kWidth - kRight, y, "class=\"grid\"");
            svg_.text(left_ - 6, y + 4, "end", y_texts.of(tick), kTickStyle);
        }
        for (const ChartMark& mark : chart_.marks) {
            if (mark.x < x_.least || mark.x > x_.most) continue;
            const double x = place(mark.x, y_.least).x;
            svg_.line(x, top_, x, kHeight - kBottom, fmt::format("class=\"{}\"", mark.style));
        }
        svg_.text((left_ + kWidth - kRight) / 2, kHeight - 7, "middle", chart_.x_label, kTickStyle);
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
        if (curve.joined) svg_.path(runs, fmt::format("class=\"curve {}\"", curve.style));
        if (curve.x.size() > kMostPoints || curve.radius == 0) return;
        const std::string style = fmt::format("class=\"{}\"", curve.style);
        for (std::size_t i = 0; i < curve.x.size(); ++i) {
            if (!std::isfinite(curve.y[i])) continue;
            const Svg::Point at = place(curve.x[i], curve.y[i]);
            svg_.circle(at.x, at.y, curve.radius, style,
                        i < curve.hints.size()
                            ? curve.hints[i]
                            : fmt::format("{} {:g}: {}{:.4g}", chart_.x_label, curve.x[i],
                                          curve.name.empty() ? "" : curve.name + " ", curve.y[i]));
        }
    }

    /// Beside the title, or below where there is no room for both.
    void legend() {
        top_ = kTitleRow + kPanelGap;
        if (chart_.curves.size() < 2 || !chart_.legend) return;
        double width = -kLegendGap;
        for (const Curve& curve : chart_.curves)
            width += kSwatch + text_width(curve.name) + kLegendGap;
        double x = kWidth - kRight - width, y = kTitleRow;
        if (x < 2 * kLegendGap + text_width(chart_.title, kTitleLetter)) {
            x = kLegendGap;
            y += kLegendRow;
            top_ += kLegendRow;
        }
        for (const Curve& curve : chart_.curves) {
            svg_.path({{{x, y - 4}, {x + kSwatch - 5, y - 4}}},
                      fmt::format("class=\"key {}\"", curve.style));
            svg_.text(x + kSwatch, y, "start", curve.name);
            x += kSwatch + text_width(curve.name) + kLegendGap;
        }
    }

    const LineChart& chart_;
    Svg svg_{
        kWidth, kHeight,
        fmt::format("class=\"chart\" role=\"img\" aria-label=\"{}\"", html_escaped(chart_.title))};
    std::vector<double> y_ticks_;
    Range x_, y_;
    double left_ = 0, top_ = 0;  ///< of the panel
};

}  // namespace

Curve thinned(Curve curve, std::size_t most) {
    const std::size_t each = (curve.x.size() + most - 1) / std::max<std::size_t>(1, most);
    if (each <= 1) return curve;
    Curve result{std::move(curve.name), std::move(curve.style), {}, {}};
    for (std::size_t first = 0; first < curve.x.size(); first += each) {
        const std::size_t end = std::min(curve.x.size(), first + each);
        double sum = 0;
        for (std::size_t i = first; i < end; ++i)
            sum += curve.y[i] / double(end - first);
        result.x.push_back(curve.x[end - 1]);
        result.y.push_back(sum);
    }
    return result;
}

bool tick_texts_fit(const std::vector<std::string>& texts) {
    constexpr double kUsualLeft = 50;
    const double panel = kWidth - kUsualLeft - kRight, apart = panel / (1 + 2 * kTickMargin);
    // The first and the last stand over the margins.
    double room = 2 * (kTickMargin * apart + kRight);
    if (texts.size() > 1) room = std::min(room, apart / double(texts.size() - 1));
    return std::all_of(texts.begin(), texts.end(), [&](const std::string& text) {
        return text_width(text) + kTickGap <= room;
    });
}

std::string svg_of(const LineChart& chart) {
    return Drawing(chart).draw();
}

}  // namespace dtnn::runtime
