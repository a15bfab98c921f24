#include "tests/ranks/mpi/wire_operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "plan/rules/compression.hpp"
#include "tests/ranks/mpi/operations.hpp"

namespace dtnn::runtime {
namespace {

std::uint32_t bits(float x) {
    return std::bit_cast<std::uint32_t>(x);
}

plan::Compression form_of(const std::string& wire) {
    plan::Compression form{};
    require(plan::parse_name(wire, form), "{} is no form of gradients", wire);
    return form;
}

/// The memory of an exchange, with numbers behind all of it that must stay.
struct Bound {
    Bound(Communicator& communicator, const std::string& wire, std::int64_t elements,
          double density = 0, const std::string& name = "gradients_1")
        : data(std::size_t(elements) + 1, 77.0F),
          residual(std::size_t(elements) + 1, 0.0F),
          scratch(
              std::size_t(plan::compression_scratch_bytes(form_of(wire), elements, density)) / 8 +
                  2,
              kGuard) {
        residual.back() = 77;
        auto* const memory = reinterpret_cast<std::byte*>(scratch.data());
        const GradientCompression form{form_of(wire),
                                       density,
                                       wire == "top_k" ? residual.data() : nullptr,
                                       {memory, std::size_t(plan::compression_scratch_bytes(
                                                    form_of(wire), elements, density))}};
        exchange = communicator.all_reduce_compressed(form, data.data(), elements, name);
    }

    void run() {
        exchange->start();
        exchange->wait();
        require(data.back() == 77 && residual.back() == 77 && scratch.back() == kGuard,
                "an exchange writes behind its end");
    }

    static constexpr double kGuard = 12345.0;
    std::vector<float> data, residual;
    std::vector<double> scratch;
    std::unique_ptr<Exchange> exchange;
};

/// A number of one of many sizes, within a block as well.
float number(std::int64_t i, int rank) {
    return float(std::sin(double(i * 7 + rank * 1009 + 1)) * std::pow(10.0, double(i % 9) - 6));
}

void require_same_bits(Communicator& communicator, const std::vector<float>& data) {
    const auto all = communicator.all_gather(std::as_bytes(std::span(data)), "sums");
    for (const auto& other : all)
        require(other.size() == data.size() * 4 &&
                    std::memcmp(other.data(), data.data(), other.size()) == 0,
                "the sum has other bits on another rank");
}

void check_rounded(Communicator& communicator, const std::string& wire, std::int64_t elements) {
    const int ranks = communicator.ranks();
    Bound bound(communicator, wire, elements);
    std::vector<float> before;
    for (int round = 0; round < 3; ++round) {
        for (std::int64_t i = 0; i < elements; ++i)
            bound.data[std::size_t(i)] = number(i, communicator.rank());
        communicator.progress();
        bound.run();
        require(round == 0 || before == bound.data, "{}: other bits the second time", wire);
        before = bound.data;
    }
    const double unit = wire == "bf16" ? 0x1p-8 : 0x1p-11;
    for (std::int64_t i = 0; i < elements; ++i) {
        double sum = 0, error = wire == "fp16" ? 1e-9 : 0;
        for (int rank = 0; rank < ranks; ++rank) {
            const double x = double(number(i, rank));
            sum += x;
            error += std::abs(x) * unit;
        }
        error = ranks == 1 ? 0 : (error + (std::abs(sum) + error) * unit) * 1.001;
        const double is = double(bound.data[std::size_t(i)]);
        require(std::abs(is - sum) <= error, "{} of {}: element {} is {}, not {} +- {}", wire,
                elements, i, is, sum, error);
    }
    require_same_bits(communicator, bound.data);
}

/// Sums are taken in float: in 16 bits, what is small beside the sum so far would be lost.
void check_accumulation(Communicator& communicator, const std::string& wire, float large) {
    Bound bound(communicator, wire, 300);
    for (std::size_t i = 0; i < 300; ++i)
        bound.data[i] = communicator.rank() == 0 ? large : 1.0F;
    bound.run();
    // Two more are one step of the form, and four ones are two.
    const float wanted = large + float(communicator.ranks() - 1);
    for (std::size_t i = 0; i < 300 && communicator.ranks() % 4 == 1; ++i)
        require(bound.data[i] == wanted, "{}: {} and some ones are {}", wire, large, bound.data[i]);
}

/// Checks that a NaN, or what is too large, reaches all ranks, whoever has it.
void check_broken(Communicator& communicator, const std::string& wire) {
    constexpr std::int64_t kElements = 1000;
    Bound bound(communicator, wire, kElements, 0.02);
    std::fill_n(bound.data.begin(), kElements, 1.0F);
    if (communicator.rank() == communicator.ranks() - 1) {
        bound.data[3] = std::numeric_limits<float>::quiet_NaN();
        bound.data[500] = -std::numeric_limits<float>::infinity();
    }
    bound.run();
    require(std::isnan(bound.data[3]), "{}: what is no number has become one", wire);
    require(bound.data[500] == -std::numeric_limits<float>::infinity(),
            "{}: an infinity has become a number", wire);
    // The others of its block are as they were.
    if (wire != "top_k")
        for (const std::size_t i : {2U, 4U, 499U})
            require(bound.data[i] == float(communicator.ranks()), "{}: another number is gone",
                    wire);
}

/// The k largest by size; of equal ones those of the first owner, then the first.
std::vector<std::int64_t> largest(const std::vector<float>& numbers, std::int64_t count,
                                  int ranks) {
    std::vector<std::int64_t> order(numbers.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const auto owner = [&](std::int64_t i) { return i / plan::kCompressionBlock % ranks; };
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        const float x = std::abs(numbers[std::size_t(a)]), y = std::abs(numbers[std::size_t(b)]);
        if (x != y) return x > y;
        return owner(a) != owner(b) ? owner(a) < owner(b) : a < b;
    });
    order.resize(std::size_t(count));
    return order;
}

/// Every rank plays all of them, by sorting.
void check_selected(Communicator& communicator, std::int64_t elements, double density, bool whole) {
    const int ranks = communicator.ranks();
    if (ranks == 1) return;
    const std::int64_t count = plan::selected_of(elements, density);
    Bound bound(communicator, "top_k", elements, density);
    std::vector<std::vector<float>> residuals(static_cast<std::size_t>(ranks));
    for (std::vector<float>& own : residuals)
        own.resize(std::size_t(elements));
    for (int round = 0; round < 4; ++round) {
        const auto gradient = [&](std::int64_t i, int rank) {
            // Whole numbers: many are equal, many are zero, and sums of them are exact.
            return whole ? float((i * 31 + rank * 17 + round * 5) % 23 - 11)
                         : number(i * (round + 1), rank);
        };
        for (std::int64_t i = 0; i < elements; ++i)
            bound.data[std::size_t(i)] = gradient(i, communicator.rank());
        bound.run();

        std::vector<float> sum(static_cast<std::size_t>(elements));
        std::vector<std::vector<bool>> sent;
        double owed = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            std::vector<float>& own = residuals[std::size_t(rank)];
            for (std::int64_t i = 0; i < elements; ++i) {
                own[std::size_t(i)] += gradient(i, rank);
                owed += double(own[std::size_t(i)]);
            }
            std::vector<bool>& marks = sent.emplace_back(std::size_t(elements), false);
            for (const std::int64_t i : largest(own, count, ranks)) {
                sum[std::size_t(i)] += own[std::size_t(i)];
                marks[std::size_t(i)] = true;
            }
        }
        std::vector<float> wanted(static_cast<std::size_t>(elements));
        for (const std::int64_t i : largest(sum, count, ranks)) {
            wanted[std::size_t(i)] = sum[std::size_t(i)];
            for (int rank = 0; rank < ranks; ++rank)
                if (sent[std::size_t(rank)][std::size_t(i)])
                    residuals[std::size_t(rank)][std::size_t(i)] = 0;
        }
        double told = 0;
        for (std::int64_t i = 0; i < elements; ++i) {
            const auto at = std::size_t(i);
            const auto& own = residuals[std::size_t(communicator.rank())];
            require(bits(bound.data[at]) == bits(wanted[at]) && bound.residual[at] == own[at],
                    "top_k of {}, round {}: element {} is {} and {} is owed, not {} "
                    "and {}",
                    elements, round, i, bound.data[at], bound.residual[at], wanted[at], own[at]);
            told += double(bound.data[at]);
        }
        // The sum loses nothing, on any rank: in whole numbers to the last bit.
        const std::vector<float>& mine = bound.residual;
        for (const auto& bytes : communicator.all_gather(std::as_bytes(std::span(mine)), "owed")) {
            std::vector<float> other(mine.size());
            std::memcpy(other.data(), bytes.data(), bytes.size());
            for (std::int64_t i = 0; i < elements; ++i)
                told += double(other[std::size_t(i)]);
        }
        require(whole ? told == owed : std::abs(told - owed) <= 1e-3 * double(elements),
                "top_k of {}: {} is told and owed, {} was", elements, told, owed);
        require_same_bits(communicator, bound.data);
    }
}

/// With density 1 it is the sum.
void check_all_selected(Communicator& communicator, std::int64_t elements) {
    Bound bound(communicator, "top_k", elements, 1);
    for (int round = 0; round < 2; ++round) {
        for (std::int64_t i = 0; i < elements; ++i)
            bound.data[std::size_t(i)] = number(i + round, communicator.rank());
        bound.run();
        for (std::int64_t i = 0; i < elements; ++i) {
            float sum = 0;
            for (int rank = 0; rank < communicator.ranks(); ++rank)
                sum += number(i + round, rank);
            require(bound.data[std::size_t(i)] == sum, "top_k of density 1 is not the sum");
            require(bound.residual[std::size_t(i)] == 0, "top_k of density 1 owes something");
        }
    }
}

/// Several under way at once, of all forms, waited for in another order.
void check_nested_wires(Communicator& communicator) {
    constexpr std::int64_t kElements = 20'011;
    std::vector<Bound> all;
    int number_of = 0;
    for (const char* wire : {"top_k", "bf16", "top_k", "fp16", "top_k"})
        all.emplace_back(communicator, wire, kElements, 1.0, fmt::format("nested_{}", ++number_of));
    std::vector<double> full(300'000, 1.0);
    const auto plain = communicator.all_reduce(full.data(), std::int64_t(full.size()), DType::f64,
                                               Reduction::sum, "nested_full");
    for (int round = 0; round < 3; ++round) {
        std::fill(full.begin(), full.end(), 1.0);
        for (Bound& one : all) {
            for (std::int64_t i = 0; i < kElements; ++i)
                one.data[std::size_t(i)] = float(i % 16 + communicator.rank());
            one.exchange->start();
        }
        plain->start();
        communicator.progress();
        communicator.barrier("between");
        plain->wait();
        const std::int64_t ranks = communicator.ranks();
        const std::int64_t numbers = ranks * (ranks - 1) / 2;
        for (auto one = all.rbegin(); one != all.rend(); ++one) {
            one->exchange->wait();
            for (std::int64_t i = 0; i < kElements; ++i)
                require(one->data[std::size_t(i)] == float(ranks * (i % 16) + numbers),
                        "a nested sum is wrong");
        }
        require(full.front() == double(ranks) && full.back() == double(ranks),
                "a full sum between is wrong");
    }
}

}  // namespace

void check_wires(Communicator& communicator) {
    for (const std::string wire : {"bf16", "fp16"})
        for (const std::int64_t elements : {0, 1, 3, 255, 256, 257, 1025, 100'003})
            check_rounded(communicator, wire, elements);
    check_accumulation(communicator, "bf16", 256);
    check_accumulation(communicator, "fp16", 2048);
    if (communicator.ranks() > 1)
        for (const std::string wire : {"bf16", "fp16", "top_k"})
            check_broken(communicator, wire);
    for (const std::int64_t elements : {1, 7, 256, 257, 1025, 20'011})
        for (const double density : {0.001, 0.05, 0.5, 1.0})
            for (const bool whole : {true, false})
                check_selected(communicator, elements, density, whole);
    if (communicator.ranks() > 1) check_all_selected(communicator, 3001);
    check_nested_wires(communicator);
}

}  // namespace dtnn::runtime
