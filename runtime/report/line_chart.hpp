#pragma once
/// Curves as SVG, to stand in a page: axes with round ticks, a legend, the values on hovering. No
/// script.

#include <string>
#include <vector>

namespace dtnn::runtime {

struct Curve {
    std::string name;
    std::string style;  ///< the class of its lines and points in the page's style sheet
    std::vector<double> x;
    std::vector<double> y;  ///< as many; a NaN or an infinity leaves a gap
};

/// The curve with at most so many points, each the mean of some that follow one another, at the
/// place of the last of them.
Curve thinned(Curve curve, std::size_t most);

struct LineChart {
    std::string title;
    std::string x_label;
    std::vector<Curve> curves;
    bool from_zero = false;          ///< the y axis begins at zero
    bool whole_x = false;            ///< ticks of the x axis are whole numbers
    bool legend = true;              ///< where there are several curves
    std::vector<double> marks = {};  ///< places on the x axis that a line marks
};

/// Empty when there is no number to show.
std::string svg_of(const LineChart& chart);

}  // namespace dtnn::runtime
