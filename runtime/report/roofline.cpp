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

constexpr double kBeside = 64, kBehind = 24, kAbove = 130, kPanel = 280, kBelow = 68;
constexpr double kPhasesRow = 74, kNamedRow = 20;
constexpr double kLargestPoint = 24, kSmallestPoint = 2.5;
constexpr double kPanelFloor = kAbove + kPanel;
/// So many steps are named below the picture, those that take the most time.
constexpr std::size_t kMostNamed = 5;
constexpr std::size_t kLongestName = 44;

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
            return "#8a8a8a";
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
        const std::size_t shown_steps = std::size_t(std::count_if(
            works.begin(), works.end(), [](const Work& work) { return shown(work); }));
        svg_ = svg_picture(
            kPanelFloor + kBelow + kNamedRow * double(std::min(shown_steps, kMostNamed)), title);
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
        for (std::size_t i = 0; i < std::min(order.size(), kMostNamed); ++i)
            name(i, result_.program->steps[order[i]], works[order[i]]);
        legend();
        return std::move(svg_).finish();
    }

  private:
    static bool shown(const Work& work) {
        return work.seconds > 0 && work.flops > 0 && work.bytes > 0;
    }

    Svg::Point place(double intensity, double flops) const {
        return {kBeside + x_.share(intensity) * (kPictureWidth - kBeside - kBehind),
                kPanelFloor - y_.share(flops) * kPanel};
    }

    void axes() {
        for (int power = x_.first; power <= x_.last; ++power) {
            const double x = place(std::pow(10.0, power), std::pow(10.0, y_.first)).x;
            svg_.line(x, kAbove, x, kPanelFloor, kPictureRule);
            svg_.text(x, kPanelFloor + 18, "middle", fmt::format("{:g}", std::pow(10.0, power)));
        }
        for (int power = y_.first; power <= y_.last; ++power) {
            const double y = place(std::pow(10.0, x_.first), std::pow(10.0, power)).y;
            svg_.line(kBeside, y, kPictureWidth - kBehind, y, kPictureRule);
            svg_.text(kBeside - 8, y + 4, "end", fmt::format("{:g}", std::pow(10.0, power - 9)));
        }
        svg_.text((kBeside + kPictureWidth - kBehind) / 2, kPanelFloor + 40, "middle",
                  "FLOPs for each byte moved");
        svg_.text(kPictureMargin, kAbove - 14, "start", "GFLOP/s");
    }

    void roof(double ridge) {
        const double least = std::pow(10.0, x_.first), most = std::pow(10.0, x_.last);
        svg_.path({{place(least, attainable(least, roofs_)), place(ridge, roofs_.flops_per_second),
                    place(most, roofs_.flops_per_second)}},
                  kPictureLine);
        const Svg::Point end = place(most, roofs_.flops_per_second);
        svg_.text(end.x, end.y - 7, "end",
                  fmt::format("{:.1f} GFLOP/s", 1e-9 * roofs_.flops_per_second), kPictureSoft);
        // Along the roof that rises.
        const Svg::Point from = place(least, attainable(least, roofs_));
        const Svg::Point to = place(ridge, roofs_.flops_per_second);
        const double slope = std::atan2(to.y - from.y, to.x - from.x) * 180 / std::acos(-1.0);
        constexpr double kAlong = 0.75;
        const double x = from.x + kAlong * (to.x - from.x), y = from.y + kAlong * (to.y - from.y);
        svg_.text(x, y - 7, "middle", fmt::format("{:.1f} GB/s", 1e-9 * roofs_.bytes_per_second),
                  fmt::format("{} transform=\"rotate({:.1f} {:.1f} {:.1f})\"", kPictureSoft, slope,
                              x, y));
    }

    static double radius_of(const Work& work, double longest) {
        return std::max(kSmallestPoint, kLargestPoint * std::sqrt(work.seconds / longest));
    }

    /// A number on its point, where there is room for it, and the step by that number below.
    void name(std::size_t index, const plan::Step& step, const Work& work) {
        constexpr double kLeastApart = 13;
        const std::string number = fmt::format("{}", index + 1);
        Svg::Point at = place(work.flops / work.bytes, work.flops / work.seconds);
        const auto taken = [&](const Svg::Point& other) {
            const double right = other.x - at.x, down = other.y - at.y;
            return right * right + down * down < kLeastApart * kLeastApart;
        };
        while (std::any_of(numbers_.begin(), numbers_.end(), taken))
            at.x += kLeastApart;
        numbers_.push_back(at);
        svg_.text(at.x, at.y + 4, "middle", number, "font-weight=\"bold\"");
        const double y = kPanelFloor + kBelow + kNamedRow * double(index);
        svg_.text(kPictureMargin, y, "start", number, "font-weight=\"bold\"");
        svg_.text(kPictureMargin + 18, y, "start",
                  fmt::format("{}: {:.3g} ms, {:.0f} % of the {} roof",
                              end_of(step.name, kLongestName), 1e3 * work.seconds,
                              100 * roof_share(work, roofs_), bound_of(work, roofs_)));
    }

    void point(const plan::Step& step, const Work& work) {
        const Svg::Point at = place(work.flops / work.bytes, work.flops / work.seconds);
        svg_.circle(at.x, at.y, radius_of(work, longest_),
                    fmt::format("class=\"edge\" fill=\"{}\" fill-opacity=\"0.55\" stroke=\"#fff\"",
                                colour_of(step.phase)),
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
        double x = kPictureMargin + 6;
        for (const plan::StepPhase phase : phases) {
            svg_.circle(x, kPhasesRow, 6, fmt::format("fill=\"{}\"", colour_of(phase)));
            svg_.text(x + 12, kPhasesRow + 4, "start", plan::name_of(phase));
            x += 12 + picture_text_width(plan::name_of(phase)) + 18;
        }
        svg_.path({{{x - 6, kPhasesRow}, {x + 14, kPhasesRow}}}, kPictureLine);
        svg_.text(x + 20, kPhasesRow + 4, "start", "roof");
        svg_.text(kPictureWidth - kBehind, kAbove - 14, "end",
                  "a point for each step, as large as its time", kPictureSoft);
    }

    const BenchResult& result_;
    const Roofs& roofs_;
    Decades x_, y_;
    double longest_ = 0;
    std::vector<Svg::Point> numbers_;  ///< where they stand
    Svg svg_{0, 0, ""};
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
