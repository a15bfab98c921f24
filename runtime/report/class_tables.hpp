#pragma once
/// The tables of a report that a confusion matrix makes: the matrix, what each class comes to, and
/// the most frequent mistakes.

#include <string>
#include <vector>

namespace dtnn::runtime {

/// HTML of `counts`, labels by predictions; empty where it is no square matrix. `counted` is what
/// has a class: "samples" or "pixels". Each class has the rates of plan/metrics.def, and the last
/// row their means over the classes that occur, which are the metrics of the test.
std::string html_class_tables(const std::vector<std::vector<double>>& counts,
                              const std::vector<std::string>& names, const std::string& counted);

}  // namespace dtnn::runtime
