/// Sums by column for devices: one launch, in which the last groups to arrive add what all have
/// left. The host has groups arrive in two orders, one after the other.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/cuda/packs.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// A number whose sums depend on their order.
double term(std::int64_t i) {
    return 1.0 / double(i % 1009 + 1);
}

struct Shape {
    std::int64_t sets, rows, columns;
};

/// A launch of reduce_columns, as often as it is asked for; NaN where it leaves out a column.
class ColumnSums {
  public:
    explicit ColumnSums(const Shape& shape)
        : shape_(shape),
          of_chunks_(std::size_t(column_sums_of(1, shape.sets, shape.rows, shape.columns))) {}

    std::vector<double> run(HostOrder order) {
        std::vector<double> sums(std::size_t(shape_.sets * shape_.columns), NAN);
        std::vector<std::function<void(HostOrder)>> launches;
        const auto [sets, rows, columns] = shape_;
        double* const to = sums.data();
        reduce_columns<1>(
            Launch({order, &launches}, kept_), sets, rows, columns,
            reinterpret_cast<Sums<1>*>(of_chunks_.data()),
            [=, rows = rows, columns = columns](std::int64_t set, std::int64_t row,
                                                std::int64_t column) {
                return Sums<1>{{term((set * rows + row) * columns + column)}};
            },
            [=, columns = columns](std::int64_t set, std::int64_t column, const Sums<1>& sum) {
                to[set * columns + column] = sum.of[0];
            });
        CHECK(launches.size() == 1);
        for (const auto& launch : launches)
            launch(order);
        return sums;
    }

  private:
    Shape shape_;
    Kept kept_;
    std::vector<double> of_chunks_;
};

TEST_CASE("sums by column are of all rows, whoever arrives last") {
    // One chunk; a team; teams of which the last has fewer chunks; the most chunks; blocks; sets.
    for (const Shape& shape :
         {Shape{3, 7, 5}, Shape{1, 20'000, 1}, Shape{1, 300'000, 1}, Shape{1, 5'000'001, 1},
          Shape{1, 40'000, 72}, Shape{2, 9'000, 300}}) {
        CAPTURE(shape.sets);
        CAPTURE(shape.rows);
        CAPTURE(shape.columns);
        ColumnSums sums(shape);
        const std::vector<double> forward = sums.run(HostOrder::forward);
        for (std::int64_t set = 0; set < shape.sets; ++set)
            for (const std::int64_t column : {std::int64_t{0}, shape.columns - 1}) {
                long double expected = 0;
                for (std::int64_t row = 0; row < shape.rows; ++row)
                    expected += term((set * shape.rows + row) * shape.columns + column);
                CHECK(forward[std::size_t(set * shape.columns + column)] ==
                      doctest::Approx(double(expected)).epsilon(1e-12));
            }
        // The counters are as they were.
        CHECK(sums.run(HostOrder::forward) == forward);
        CHECK(sums.run(HostOrder::backward) == forward);
    }
}

struct Nothing {};

/// What the groups make of their terms, and which of them go on where `wanted` meet.
struct Arrivals {
    double as_they_came = 0, in_order = 0;
    std::vector<std::int64_t> went_on;
};

Arrivals arrivals(HostOrder order, std::int64_t wanted) {
    constexpr std::int64_t kGroups = 50;
    Kept kept;
    const Launch launch({order, nullptr}, kept);
    std::vector<double> terms(kGroups, NAN);
    Arrivals all;
    launch.groups<Nothing>(
        kGroups,
        [&](std::int64_t group, int thread, Nothing&) {
            if (thread != 0) return;
            terms[std::size_t(group)] = term(group);
            all.as_they_came += term(group);
        },
        LastOf{launch.counters(1),
               [=](std::int64_t) {
                   return Meeting{0, wanted};
               }},
        [&](std::int64_t group, int thread, Nothing&) {
            if (thread != 0) return;
            all.went_on.push_back(group);
            for (const double one : terms)
                all.in_order += one;
        });
    return all;
}

TEST_CASE("of groups that meet the last goes on, which differs with their order") {
    const Arrivals forward = arrivals(HostOrder::forward, 50);
    const Arrivals backward = arrivals(HostOrder::backward, 50);
    CHECK(forward.went_on == std::vector<std::int64_t>{49});
    CHECK(backward.went_on == std::vector<std::int64_t>{0});
    CHECK(forward.in_order == backward.in_order);
    // A race that is planted is seen: terms that are added as they come.
    CHECK(forward.as_they_came != backward.as_they_came);
    // And one where a group goes on before all are there.
    CHECK(std::isnan(arrivals(HostOrder::forward, 25).in_order));
    CHECK(arrivals(HostOrder::forward, 0).went_on.empty());
    CHECK(arrivals(HostOrder::forward, 1).went_on.size() == 50);
}

}  // namespace
}  // namespace dtnn::kernels::cuda
