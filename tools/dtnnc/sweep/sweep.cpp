#include "tools/dtnnc/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "tools/dtnnc/output.hpp"

namespace dtnn::tools {
namespace {

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' '))
        text.remove_prefix(1);
    while (text.ends_with(' '))
        text.remove_suffix(1);
    return text;
}

/// The parts of a text between its commas, those in brackets and quotes not counted.
std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    int depth = 0;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote) {
            if (c == '\\' && quote == '"')
                ++i;
            else if (c == quote)
                quote = 0;
        } else if ((c == '"' || c == '\'') &&
                   (depth > 0 || trimmed(text.substr(begin, i - begin)).empty())) {
            quote = c;
        } else if (c == '[' || c == '{' || c == '(') {
            ++depth;
        } else if (c == ']' || c == '}' || c == ')') {
            depth = std::max(0, depth - 1);
        } else if (c == ',' && depth == 0) {
            parts.emplace_back(trimmed(text.substr(begin, i - begin)));
            begin = i + 1;
        }
    }
    parts.emplace_back(trimmed(text.substr(begin)));
    return parts;
}

Sweep parse_sweep(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw UsageError(
            fmt::format("--sweep {}: it must be path=value,value,...\n"
                        "help: such as --sweep training.batch_size=32,64,128",
                        text));
    Sweep sweep{text.substr(0, equals), split(std::string_view(text).substr(equals + 1))};
    std::set<std::string> values;
    for (const std::string& value : sweep.values) {
        if (value.empty())
            throw UsageError(
                fmt::format("--sweep {}: a value is empty\n"
                            "help: write '' in quotes for an empty text",
                            text));
        if (!values.insert(value).second)
            throw UsageError(fmt::format("--sweep {}: the value {} is given twice", text, value));
    }
    return sweep;
}

/// The text as every file system and shell takes it.
std::string safe(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_' || c == '+';
        if (kept)
            result += c;
        else if (!result.empty() && !result.ends_with('_'))
            result += '_';
    }
    while (result.ends_with('_') || result.ends_with('.'))
        result.pop_back();
    return result;
}

/// The ends of the paths by which they can be told apart: batch_size, conv1.filters.
std::vector<std::string> short_paths(const std::vector<Sweep>& sweeps) {
    std::vector<std::string> names;
    for (const Sweep& sweep : sweeps) {
        std::size_t begin = sweep.path.size();
        std::string name;
        bool alone = false;
        while (!alone && begin > 0) {
            const std::size_t dot = sweep.path.rfind('.', begin - 1);
            begin = dot == std::string::npos ? 0 : dot;
            name = sweep.path.substr(dot == std::string::npos ? 0 : dot + 1);
            alone = std::none_of(sweeps.begin(), sweeps.end(), [&](const Sweep& other) {
                return &other != &sweep && (other.path == name || other.path.ends_with("." + name));
            });
        }
        names.push_back(name);
    }
    return names;
}

std::string file_name(const std::vector<std::string>& names,
                      const std::vector<std::string>& values) {
    constexpr std::size_t kLongest = 120;
    std::string result;
    for (std::size_t i = 0; i < values.size(); ++i)
        result += fmt::format("{}{}-{}", i == 0 ? "" : "_", safe(names[i]), safe(values[i]));
    while (result.starts_with('-') || result.starts_with('.'))
        result.erase(0, 1);
    return result.substr(0, kLongest);
}

}  // namespace

std::vector<Sweep> parse_sweeps(const std::vector<std::string>& texts,
                                const std::vector<std::string>& settings) {
    std::vector<Sweep> sweeps;
    std::int64_t count = 1;
    std::string product;
    for (const std::string& text : texts) {
        Sweep sweep = parse_sweep(text);
        for (const Sweep& other : sweeps)
            if (other.path == sweep.path)
                throw UsageError(
                    fmt::format("--sweep {}: {} is swept twice\n"
                                "help: give all its values in one --sweep",
                                text, sweep.path));
        for (const std::string& setting : settings)
            if (setting.substr(0, setting.find('=')) == sweep.path)
                throw UsageError(fmt::format(
                    "--sweep {}: {} is also set, by --set {}\nhelp: give it to one of them", text,
                    sweep.path, setting));
        // Saturates: the product of a long command line need not fit 64 bits.
        count = std::min<std::int64_t>(count * std::int64_t(sweep.values.size()), 1'000'000'000);
        product += fmt::format("{}{}", product.empty() ? "" : " x ", sweep.values.size());
        sweeps.push_back(std::move(sweep));
    }
    if (count > kMaximumCombinations)
        throw UsageError(fmt::format("--sweep: {} = {}{} combinations; the most is {}", product,
                                     count == 1'000'000'000 ? "more than " : "", count,
                                     kMaximumCombinations));
    return sweeps;
}

std::vector<Combination> combinations(const std::vector<Sweep>& sweeps) {
    std::vector<Combination> result(1);
    for (const Sweep& sweep : sweeps) {
        std::vector<Combination> longer;
        for (const Combination& one : result)
            for (const std::string& value : sweep.values) {
                Combination next = one;
                next.values.push_back(value);
                next.settings.push_back(fmt::format("{}={}", sweep.path, value));
                longer.push_back(std::move(next));
            }
        result = std::move(longer);
    }
    const std::vector<std::string> names = short_paths(sweeps);
    std::set<std::string> taken;
    for (Combination& one : result) {
        const std::string wanted = file_name(names, one.values);
        one.file = wanted;
        // Upper and lower case are one on some file systems.
        for (int number = 2; !taken.insert(lower(one.file)).second; ++number)
            one.file = fmt::format("{}-{}", wanted, number);
    }
    return result;
}

std::string describe(const Combination& combination) {
    return fmt::format("{}", fmt::join(combination.settings, ", "));
}

}  // namespace dtnn::tools
