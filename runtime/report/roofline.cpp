#include "runtime/report/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/quantity_text.hpp"
#include "base/svg.hpp"

namespace dtnn::runtime {
namespace {

constexpr double kPictureWidth = 860, kPictureHeight = 560;
constexpr double kBeside = 76, kBehind = 24, kAbove = 84, kBelow = 56;
constexpr double kLargestPoint = 24, kSmallestPoint = 2.5;

/// Distinguishable for the colour-blind (Okabe and Ito, "Color universal design", 2008).
const char* colour_of(plan::StepPhase phase) {
    switch (phase) {
        case plan::StepPhase::forward:
            return "#0072B2";
        case plan::StepPhase::backward:
            return "#D55E00";
        case plan::StepPhase::recompute:
            return "#CC79A7";
        case plan::StepPhase::update:
            return "#009E73";
        default:
            return "#666666";
    }
}

/// A logarithmic axis over whole powers of ten.
struct Decades {
    int first = std::numeric_limits<int>::max(), last = std::numeric_limits<int>::min();

    void take(double value) {
        first = std::min(first, int(std::floor(std::log10(value))));
        last = std::max(last, int(std::ceil(std::log10(value))));
    }
    double share(double value) const { return (std::log10(value) - first) / (last - first); }
};

double attainable(double intensity, const Roofs& roofs) {
    return std::min(roofs.flops_per_second, intensity * roofs.bytes_per_second);
}

class Picture {
  public:
    Picture(const BenchResult& result, const Roofs& roofs) : result_(result), roofs_(roofs) {}

    std::string draw(const std::string& title) {
        const std::vector<Work> works = work_of_steps(result_);
        const double ridge = roofs_.flops_per_second / roofs_.bytes_per_second;
        x_.take(ridge / 10), x_.take(ridge * 10);
        y_.take(roofs_.flops_per_second);
        for (const Work& work : works) {
            if (!shown(work)) continue;
            x_.take(work.flops / work.bytes);
            y_.take(work.flops / work.seconds);
            longest_ = std::max(longest_, work.seconds);
        }
        y_.take(attainable(std::pow(10.0, x_.first), roofs_));
        svg_.rect(0, 0, kPictureWidth, kPictureHeight, "fill=\"#fff\"");
        svg_.text(kBeside, 28, "start", title, "font-size=\"16\" font-weight=\"bold\"");
        svg_.text(kBeside, 46, "start",
                  fmt::format("roofs: {:.1f} GFLOP/s, {:.1f} GB/s; a point for each step, as large "
                              "as its time",
                              1e-9 * roofs_.flops_per_second, 1e-9 * roofs_.bytes_per_second),
                  "fill=\"#444\"");
        axes();
        roof(ridge);
        // Small points last, so that none is hidden.
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < works.size(); ++i)
            if (shown(works[i])) order.push_back(i);
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return works[a].seconds > works[b].seconds;
        });
        for (const std::size_t i : order)
            point(result_.program->steps[i], works[i]);
        legend();
        return std::move(svg_).finish();
    }

  private:
    static bool shown(const Work& work) {
        return work.seconds > 0 && work.flops > 0 && work.bytes > 0;
    }

    Svg::Point place(double intensity, double flops) const {
        return {kBeside + x_.share(intensity) * (kPictureWidth - kBeside - kBehind),
                kPictureHeight - kBelow - y_.share(flops) * (kPictureHeight - kAbove - kBelow)};
    }

    void axes() {
        for (int power = x_.first; power <= x_.last; ++power) {
            const double x = place(std::pow(10.0, power), std::pow(10.0, y_.first)).x;
            svg_.line(x, kAbove, x, kPictureHeight - kBelow, "stroke=\"#ddd\"");
            svg_.text(x, kPictureHeight - kBelow + 18, "middle",
                      fmt::format("{:g}", std::pow(10.0, power)));
        }
        for (int power = y_.first; power <= y_.last; ++power) {
            const double y = place(std::pow(10.0, x_.first), std::pow(10.0, power)).y;
            svg_.line(kBeside, y, kPictureWidth - kBehind, y, "stroke=\"#ddd\"");
            svg_.text(kBeside - 8, y + 4, "end", fmt::format("{:g}", std::pow(10.0, power - 9)));
        }
        svg_.text(kPictureWidth - kBehind, kPictureHeight - 12, "end", "FLOP/byte");
        svg_.text(kBeside - 8, kAbove - 12, "end", "GFLOP/s");
    }

    void roof(double ridge) {
        const double least = std::pow(10.0, x_.first), most = std::pow(10.0, x_.last);
        svg_.path({{place(least, attainable(least, roofs_)), place(ridge, roofs_.flops_per_second),
                    place(most, roofs_.flops_per_second)}},
                  "stroke=\"#222\" stroke-width=\"2\"");
    }

    void point(const plan::Step& step, const Work& work) {
        const Svg::Point at = place(work.flops / work.bytes, work.flops / work.seconds);
        const double radius =
            std::max(kSmallestPoint, kLargestPoint * std::sqrt(work.seconds / longest_));
        svg_.circle(
            at.x, at.y, radius,
            fmt::format("fill=\"{}\" fill-opacity=\"0.55\" stroke=\"#fff\"", colour_of(step.phase)),
            fmt::format("{} ({}): {}, {:.1f} GFLOP/s, {:.1f} GB/s, {:.0f} % of the {} roof",
                        step.name, step.kernel, seconds_text(work.seconds, TimeForm::fine),
                        work.gflops(), work.gigabytes(), 100 * roof_share(work, roofs_),
                        bound_of(work, roofs_)));
    }

    void legend() {
        std::vector<plan::StepPhase> phases;
        for (const plan::Step& step : result_.program->steps)
            if (std::find(phases.begin(), phases.end(), step.phase) == phases.end())
                phases.push_back(step.phase);
        double x = kBeside + 8;
        for (const plan::StepPhase phase : phases) {
            svg_.circle(x, 64, 6, fmt::format("fill=\"{}\"", colour_of(phase)));
            svg_.text(x + 12, 68, "start", plan::name_of(phase));
            x += 110;
        }
    }

    const BenchResult& result_;
    const Roofs& roofs_;
    Decades x_, y_;
    double longest_ = 0;
    Svg svg_{kPictureWidth, kPictureHeight,
             fmt::format("xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" "
                         "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\"",
                         kPictureWidth, kPictureHeight)};
};

/// The least time that the roofs allow.
double least_seconds(const Work& work, const Roofs& roofs) {
    return std::max(work.flops / roofs.flops_per_second, work.bytes / roofs.bytes_per_second);
}

bool known(const Roofs& roofs) {
    return roofs.flops_per_second > 0 && roofs.bytes_per_second > 0;
}

}  // namespace

Work& Work::operator+=(const Work& other) {
    seconds += other.seconds;
    flops += other.flops;
    bytes += other.bytes;
    return *this;
}

const char* bound_of(const Work& work, const Roofs& roofs) {
    return work.flops * roofs.bytes_per_second > work.bytes * roofs.flops_per_second ? "arithmetic"
                                                                                     : "memory";
}

double roof_share(const Work& work, const Roofs& roofs) {
    return work.seconds > 0 && known(roofs) ? least_seconds(work, roofs) / work.seconds : 0;
}

std::vector<Work> work_of_steps(const BenchResult& result) {
    std::vector<Work> works;
    for (std::size_t i = 0; i < result.program_step_seconds.size(); ++i) {
        const plan::Step& step = result.program->steps[i];
        works.push_back({result.program_step_seconds[i], double(step.flops), double(step.bytes)});
    }
    return works;
}

std::string roofline_svg(const BenchResult& result, const Roofs& roofs, const std::string& title) {
    if (!known(roofs) || result.program_step_seconds.empty()) return "";
    return Picture(result, roofs).draw(title);
}

}  // namespace dtnn::runtime
