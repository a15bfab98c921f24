#pragma once
/// Curves and points as SVG, to stand in a page: axes with round ticks, or those that are given, a
/// legend, the values on hovering. No script.

#include <string>
#include <vector>

namespace dtnn::runtime {

struct Curve {
    std::string name;
    std::string style;  ///< the class of its lines and points in the page's style sheet
    std::vector<double> x;
    std::vector<double> y;  ///< as many; a NaN or an infinity leaves a gap
    /// What is said of each point on hovering; empty: its place.
    std::vector<std::string> hints = {};
    bool joined = true;   ///< by a line
    double radius = 2.5;  ///< of its points; 0: it has none
};

/// The curve with at most so many points, each the mean of some that follow one another, at the
/// place of the last of them.
Curve thinned(Curve curve, std::size_t most);

/// A line across the panel.
struct ChartMark {
    double x = 0;
    const char* style = "mark";  ///< a class of the style sheet
};

struct ChartTick {
    double x = 0;
    std::string text;
};

struct LineChart {
    std::string title;
    std::string x_label;
    std::vector<Curve> curves;
    bool from_zero = false;  ///< the y axis begins at zero
    bool whole_x = false;    ///< ticks of the x axis are whole numbers
    bool legend = true;      ///< where there are several curves
    std::vector<ChartMark> marks = {};
    /// Those of the x axis, in order; empty: round ones. One that has no room beside the one before
    /// it is left out.
    std::vector<ChartTick> ticks = {};
};

/// Whether all of these texts have room under the panel, evenly apart.
bool tick_texts_fit(const std::vector<std::string>& texts);

/// Empty when there is no number to show.
std::string svg_of(const LineChart& chart);

}  // namespace dtnn::runtime
