#include "runtime/train/ranked_area.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace dtnn::runtime {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Scored {
    double score;
    bool yes;
};

/// The area for one question. Sorts what it is given.
double area_of(std::vector<Scored>& list) {
    for (const Scored& item : list)
        if (std::isnan(item.score)) return kNone;
    std::sort(list.begin(), list.end(),
              [](const Scored& a, const Scored& b) { return a.score < b.score; });
    // Twice the pairs that are right, so that a tie is one.
    std::int64_t right = 0, yes = 0, no = 0;
    for (std::size_t first = 0; first < list.size();) {
        std::int64_t yes_here = 0, no_here = 0;
        std::size_t next = first;
        for (; next < list.size() && list[next].score == list[first].score; ++next)
            ++(list[next].yes ? yes_here : no_here);
        right += yes_here * (2 * no + no_here);
        yes += yes_here;
        no += no_here;
        first = next;
    }
    return yes > 0 && no > 0 ? double(right) / 2 / double(yes) / double(no) : kNone;
}

template <class T>
double area_of_scores(std::span<const T> scores, const Answers& answers, Averaging averaging) {
    const std::int64_t rows = answers.rows();
    const std::int64_t classes = answers.classes;
    std::vector<Scored> list;
    const bool together = averaging == Averaging::micro;
    list.reserve(std::size_t(together ? rows * classes : rows));
    double sum = 0;
    std::int64_t asked = 0;
    for (std::int64_t c = 0; c < classes; ++c) {
        for (std::int64_t row = 0; row < rows; ++row)
            list.push_back({double(scores[std::size_t(row * classes + c)]), answers.at(row, c)});
        if (together) continue;
        const bool both =
            std::any_of(list.begin(), list.end(), [](auto& item) { return item.yes; }) &&
            std::any_of(list.begin(), list.end(), [](auto& item) { return !item.yes; });
        if (both) {
            sum += area_of(list);
            ++asked;
        }
        list.clear();
    }
    if (together) return area_of(list);
    return asked > 0 ? sum / double(asked) : kNone;
}

}  // namespace

std::int64_t Answers::rows() const {
    return of_each.empty() ? std::int64_t(labels.size()) : std::int64_t(of_each.size()) / classes;
}

bool Answers::at(std::int64_t row, std::int64_t c) const {
    return of_each.empty() ? labels[std::size_t(row)] == c
                           : of_each[std::size_t(row * classes + c)] != 0;
}

double ranked_area(std::span<const float> scores, const Answers& answers, Averaging averaging) {
    return area_of_scores(scores, answers, averaging);
}

double ranked_area(std::span<const double> scores, const Answers& answers, Averaging averaging) {
    return area_of_scores(scores, answers, averaging);
}

}  // namespace dtnn::runtime
