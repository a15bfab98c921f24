#include "compiler/tuning/tuning_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/formats.hpp"
#include "base/json.hpp"
#include "base/json_text.hpp"
#include "kernels/catalogue.hpp"

namespace dtnn::compiler {
namespace {

constexpr const char* kFormat = "dtnn-tuning";
// Bounds that no history of ours comes near.
constexpr std::size_t kMostEntries = 200'000, kMostTimes = 64, kMostText = 16'384;
constexpr double kMostSeconds = 1e6;

std::string text_of(const TensorType& tensor) {
    std::string text = fmt::format("{}[", name_of(tensor.dtype));
    for (std::size_t i = 0; i < tensor.dims.size(); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ",", tensor.dims[i]);
    text += "]";
    for (std::size_t i = 0; i < tensor.order.size(); ++i)
        text += fmt::format("{}{}", i == 0 ? "@" : ",", tensor.order[i]);
    return text;
}

// ---- Reading

struct Mistake : std::runtime_error {
    using std::runtime_error::runtime_error;
};

const Json& member(const Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end()) throw Mistake(fmt::format("`{}` is missing", name));
    return *found;
}

void expect_object(const Json& value, std::size_t members, const char* what) {
    if (!value.is_object()) throw Mistake(fmt::format("{} is no object", what));
    if (value.size() != members)
        throw Mistake(fmt::format("{} has {} members, not {}", what, value.size(), members));
}

std::string text_member(const Json& object, const char* name) {
    const Json& value = member(object, name);
    if (!value.is_string()) throw Mistake(fmt::format("`{}` is no text", name));
    std::string text = value.get<std::string>();
    if (text.size() > kMostText)
        throw Mistake(fmt::format("`{}` has more than {} bytes", name, kMostText));
    return text;
}

double time_member(const Json& object, const char* name) {
    const Json& value = member(object, name);
    const double seconds = value.is_number() ? value.get<double>() : 0;
    if (!(seconds > 0 && seconds <= kMostSeconds))
        throw Mistake(fmt::format("`{}` is no time in seconds", name));
    return seconds;
}

KernelTime time_of(const Json& json) {
    expect_object(json, 5, "a time");
    KernelTime time;
    time.kernel = text_member(json, "kernel");
    time.median = time_member(json, "median");
    time.low = time_member(json, "low");
    time.high = time_member(json, "high");
    if (time.low > time.median || time.median > time.high)
        throw Mistake("`low`, `median` and `high` do not rise");
    const Json& calls = member(json, "calls");
    if (!calls.is_number_integer()) throw Mistake("`calls` is no whole number");
    time.calls = int(whole_number_of(calls, 1, std::numeric_limits<int>::max()));
    return time;
}

TuningEntry entry_of(const Json& json) {
    expect_object(json, 5, "it");
    TuningEntry entry;
    entry.problem = text_member(json, "problem");
    entry.processor = text_member(json, "processor");
    entry.kernels = text_member(json, "kernels");
    const Json& idle = member(json, "idle");
    if (!idle.is_boolean()) throw Mistake("`idle` is neither true nor false");
    entry.idle = idle.get<bool>();
    const Json& times = member(json, "times");
    if (!times.is_array() || times.empty() || times.size() > kMostTimes)
        throw Mistake(fmt::format("`times` is no list of 1 to {} times", kMostTimes));
    for (const Json& one : times) {
        KernelTime time = time_of(one);
        if (entry.find(time.kernel))
            throw Mistake(fmt::format("the kernel `{}` comes twice", time.kernel));
        entry.times.push_back(std::move(time));
    }
    return entry;
}

TuningHistory history_of(const Json& json) {
    if (!json.is_object() || json.value("format", Json()) != kFormat)
        throw Mistake("it is no history of tuning");
    if (const Json number = json.value("version", Json()); number != formats::kTuning.number)
        throw Mistake(other_format(formats::kTuning, write_json(number)));
    expect_object(json, 3, "it");
    const Json& entries = member(json, "entries");
    if (!entries.is_array() || entries.size() > kMostEntries)
        throw Mistake(fmt::format("`entries` is no list of at most {}", kMostEntries));
    TuningHistory history;
    std::size_t number = 0;
    for (const Json& one : entries) {
        try {
            history.add(entry_of(one));
        } catch (const std::exception& error) {
            throw Mistake(fmt::format("entry {}: {}", number, error.what()));
        }
        ++number;
    }
    return history;
}

// ---- Nearness

/// Whether the texts are the same but for whole numbers, and by what factors these differ: the sum
/// of the logarithms; nothing: they are not.
std::optional<double> distance_of(std::string_view a, std::string_view b) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto number_at = [&](std::string_view text, std::size_t& at) {
        double number = 0;
        for (; at < text.size() && is_digit(text[at]); ++at)
            number = 10 * number + (text[at] - '0');
        return number;
    };
    double sum = 0;
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (is_digit(a[i]) && is_digit(b[j])) {
            const double one = number_at(a, i), other = number_at(b, j);
            sum += std::abs(std::log((one + 1) / (other + 1)));
        } else if (a[i++] != b[j++]) {
            return std::nullopt;
        }
    }
    if (i < a.size() || j < b.size()) return std::nullopt;
    return sum;
}

}  // namespace

const KernelTime* TuningEntry::find(std::string_view kernel) const {
    for (const KernelTime& time : times)
        if (time.kernel == kernel) return &time;
    return nullptr;
}

std::string problem_key(const kernels::Problem& problem) {
    std::string text = fmt::format("{} {}:", problem.op, name_of(problem.dtype));
    for (const TensorType& source : problem.sources)
        text += " " + text_of(source);
    text += " ->";
    for (const TensorType& destination : problem.destinations)
        text += " " + text_of(destination);
    return fmt::format("{} {} on {} threads of {}", text, json_text(problem.attributes),
                       problem.threads, kernels::name_of(problem.isa));
}

void TuningHistory::add(TuningEntry entry) {
    Key key{entry.problem, entry.processor, entry.kernels};
    entries_.insert_or_assign(std::move(key), std::move(entry));
}

const TuningEntry* TuningHistory::find(const std::string& problem, const std::string& processor,
                                       const std::string& kernels) const {
    const auto found = entries_.find(Key{problem, processor, kernels});
    return found == entries_.end() ? nullptr : &found->second;
}

const TuningEntry* TuningHistory::nearest(const std::string& problem, const std::string& processor,
                                          const std::string& kernels) const {
    const TuningEntry* best = nullptr;
    std::tuple<double, bool, bool> least;
    // Keys of the operator stand together, and begin with its name.
    const std::string op = problem.substr(0, problem.find(' ') + 1);
    for (auto at = entries_.lower_bound(Key{op, "", ""}); at != entries_.end(); ++at) {
        const TuningEntry& entry = at->second;
        if (!entry.problem.starts_with(op)) break;
        const std::optional<double> distance = distance_of(problem, entry.problem);
        if (!distance) continue;
        const std::tuple rank{*distance, entry.processor != processor, entry.kernels != kernels};
        if (best && rank >= least) continue;
        best = &entry;
        least = rank;
    }
    return best;
}

void TuningHistory::merge(const TuningHistory& other) {
    for (const auto& [key, entry] : other.entries_)
        entries_.insert_or_assign(key, entry);
}

std::string TuningHistory::to_json() const {
    std::string text = fmt::format("{{\"format\": \"{}\", \"version\": {}, \"entries\": [", kFormat,
                                   formats::kTuning.number);
    const char* separator = "\n";
    for (const auto& [key, entry] : entries_) {
        text += fmt::format(
            "{}{{\"problem\": {}, \"processor\": {}, \"kernels\": {}, \"idle\": {}, \"times\": [",
            separator, json_text(entry.problem), json_text(entry.processor),
            json_text(entry.kernels), json_text(entry.idle));
        separator = ",\n";
        const char* comma = "";
        for (const KernelTime& time : entry.times) {
            text += fmt::format(
                "{}{{\"kernel\": {}, \"median\": {}, \"low\": {}, \"high\": {}, \"calls\": {}}}",
                comma, json_text(time.kernel), json_text(time.median), json_text(time.low),
                json_text(time.high), time.calls);
            comma = ", ";
        }
        text += "]}";
    }
    return text + "\n]}\n";
}

TuningReading read_tuning(std::string_view text) {
    try {
        return {history_of(parse_json(text)), ""};
    } catch (const std::exception& error) {
        return {std::nullopt, error.what()};
    }
}

}  // namespace dtnn::compiler
