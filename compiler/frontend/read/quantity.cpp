#include "compiler/frontend/read/quantity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/text.hpp"
#include "compiler/frontend/read/scalars.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

/// value = number * times / over: both whole, so that decimals are rounded once. 1.5us is the same
/// double as 0.0000015s.
struct Unit {
    std::string_view name;
    double times = 1;
    double over = 1;
};

struct Measure {
    std::string_view name;
    std::string_view example;
    std::vector<Unit> units;  ///< smallest first
};

constexpr double kKi = 1024.0, kMi = kKi * kKi, kGi = kMi * kKi, kTi = kGi * kKi;

const std::vector<Measure>& measures() {
    static const std::vector<Measure> all = {
        {"bytes",
         "64GiB",
         {{"B"},
          {"KB", 1e3},
          {"KiB", kKi},
          {"MB", 1e6},
          {"MiB", kMi},
          {"GB", 1e9},
          {"GiB", kGi},
          {"TB", 1e12},
          {"TiB", kTi}}},
        {"bytes/s",
         "12.5GB/s",
         {{"B/s"},
          {"kbit/s", 1e3, 8},
          {"KB/s", 1e3},
          {"KiB/s", kKi},
          {"Mbit/s", 1e6, 8},
          {"MB/s", 1e6},
          {"MiB/s", kMi},
          {"Gbit/s", 1e9, 8},
          {"GB/s", 1e9},
          {"GiB/s", kGi},
          {"Tbit/s", 1e12, 8},
          {"TB/s", 1e12},
          {"TiB/s", kTi}}},
        {"flop/s",
         "85Gflop/s",
         {{"flop/s"},
          {"kflop/s", 1e3},
          {"Mflop/s", 1e6},
          {"Gflop/s", 1e9},
          {"Tflop/s", 1e12},
          {"Pflop/s", 1e15}}},
        {"seconds", "1.5us", {{"ns", 1, 1e9}, {"us", 1, 1e6}, {"ms", 1, 1e3}, {"s"}}},
        {"samples/s", "20000samples/s", {{"samples/s"}}},
    };
    return all;
}

const Measure& measure_of(std::string_view unit) {
    for (const Measure& measure : measures())
        if (measure.name == unit) return measure;
    DTNN_CHECK(false, "a field of type quantity has a unit that has a measure");
    return measures().front();
}

/// The unit that was probably meant by one that is none; empty: none is near.
std::string near_unit(const Measure& measure, std::string_view number, std::string_view name) {
    if (name.empty()) return fmt::format("write its unit, such as {}", measure.example);
    std::string word = lower(name);
    // A small b is a bit for some and a byte for others.
    if (word.ends_with("flops"))
        word = word.substr(0, word.size() - 1) + "/s";
    else if (word.ends_with("ps") && measure.name != "seconds")
        word = word.substr(0, word.size() - 2) + "/s";
    if (measure.name == "bytes/s" && word.ends_with("b/s")) {
        const std::string prefix = word.substr(0, word.size() - 3);
        for (const std::string_view scale : {"k", "m", "g", "t"})
            if (prefix == scale)
                for (const Unit& unit : measure.units)
                    if (lower(unit.name) == prefix + "bit/s") {
                        const std::string big(1, char(std::toupper(prefix[0])));
                        return fmt::format("write {}{} for bits, {}{}B/s for bytes", number,
                                           unit.name, number, big);
                    }
    }
    if (word == "\xc2\xb5s" || word == "\xce\xbcs") word = "us";
    for (const Unit& unit : measure.units)
        if (lower(unit.name) == word || (measure.name == "bytes" && lower(unit.name) == word + "b"))
            return fmt::format("write {}{}", number, unit.name);
    return "";
}

}  // namespace

ParsedQuantity parse_quantity(std::string_view text, std::string_view unit) {
    const Measure& measure = measure_of(unit);
    ParsedQuantity result;
    // The number ends where no number can go on; an exponent needs its digits, which no unit has.
    std::size_t end = 0;
    while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) ||
                                 text[end] == '.' || (end == 0 && text[end] == '-')))
        ++end;
    if (end > 0 && end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E')) {
        std::size_t digits = end + 1;
        if (text[digits] == '+' || text[digits] == '-') ++digits;
        std::size_t last = digits;
        while (last < text.size() && std::isdigit(static_cast<unsigned char>(text[last])))
            ++last;
        if (last > digits) end = last;
    }
    const std::string_view number = text.substr(0, end);
    std::string_view name = text.substr(end);
    while (name.starts_with(' '))
        name.remove_prefix(1);
    const ParsedReal parsed = parse_real(number);
    if (parsed.overflow) {
        result.overflow = true;
        return result;
    }
    if (!parsed.value) return result;
    const auto found = std::find_if(measure.units.begin(), measure.units.end(),
                                    [&](const Unit& one) { return one.name == name; });
    const bool plain_bytes = name.empty() && measure.name == "bytes";
    if (found == measure.units.end() && !plain_bytes) {
        result.help = near_unit(measure, number, name);
        if (result.help.empty())
            result.help = fmt::format("the units are {}", fmt::join(units_of(unit), ", "));
        return result;
    }
    const double value = plain_bytes ? *parsed.value : *parsed.value * found->times / found->over;
    if (std::isfinite(value))
        result.value = value;
    else
        result.overflow = true;
    return result;
}

std::string quantity_text(double value, std::string_view unit) {
    const Measure& measure = measure_of(unit);
    std::string shortest;
    const auto consider = [&](std::string text) {
        if (!shortest.empty() && text.size() >= shortest.size()) return;
        const ParsedQuantity read = parse_quantity(text, unit);
        if (read.value && *read.value == value) shortest = std::move(text);
    };
    // The largest unit first: of texts of one length it is the first that counts.
    for (auto one = measure.units.rbegin(); one != measure.units.rend(); ++one) {
        const double number = value * one->over / one->times;
        if (!std::isfinite(number)) continue;
        if (std::fabs(number) >= 1e-3 && std::fabs(number) < 1e15) {
            const double whole = std::round(number);
            if (whole == number) consider(fmt::format("{:.0f}{}", number, one->name));
            // Divided and multiplied again, the last digit may be another.
            consider(fmt::format("{:.15g}{}", number, one->name));
        }
        consider(fmt::format("{}{}", number, one->name));
    }
    return shortest;
}

std::vector<std::string> units_of(std::string_view unit) {
    std::vector<std::string> names;
    for (const Unit& one : measure_of(unit).units)
        names.emplace_back(one.name);
    return names;
}

std::string_view quantity_example(std::string_view unit) {
    return measure_of(unit).example;
}

}  // namespace dtnn::compiler
