#include "runtime/data/sources/table_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>

#include "base/utf8.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

std::vector<std::size_t> find_columns(const TableLine& first, const ColumnWish& wish,
                                      const std::string& path, const char* field,
                                      const std::string& model) {
    std::vector<std::size_t> result;
    std::map<std::string_view, std::size_t> places;
    const char* const several = wish.one ? "" : "s";
    for (std::size_t column = 0; !wish.names.empty() && column < first.size(); ++column)
        places.emplace(first[column], column);
    for (const std::string& name : wish.names) {
        const auto found = places.find(name);
        if (found == places.end()) {
            std::vector<std::string> have;
            std::transform(first.begin(), first.end(), std::back_inserter(have), printable);
            throw bad_file(
                path + ":1", fmt::format("no column is called `{}`", printable(name)),
                model.empty()
                    ? fmt::format("correct dataset.{}_name{}; the columns are {}", field, several,
                                  fmt::join(have, ", "))
                    : fmt::format("the columns of {} must be in it, in any order; it has {}", model,
                                  fmt::join(have, ", ")));
        }
        result.push_back(found->second);
    }
    if (!wish.names.empty()) return result;
    const auto columns = std::int64_t(first.size());
    for (const std::int64_t column : wish.numbers) {
        const std::int64_t index = column < 0 ? columns + column : column - 1;
        if (index < 0 || index >= columns ||
            std::count(result.begin(), result.end(), std::size_t(index)) > 0) {
            throw bad_file(path,
                           fmt::format("it has {} columns; dataset.{}_column{} names {}", columns,
                                       field, several, column),
                           fmt::format("correct dataset.{}_column{}, or see dataset.separator",
                                       field, several));
        }
        result.push_back(std::size_t(index));
    }
    return result;
}

std::vector<std::string> column_names(const TableLine& first,
                                      const std::vector<std::size_t>& columns,
                                      const std::vector<std::size_t>& among) {
    std::vector<std::string> result;
    std::map<std::string_view, int> times;
    for (const std::size_t column : among)
        ++times[first[column]];
    for (const std::size_t column : columns) {
        if (first[column].empty() || times[first[column]] != 1) return {};
        result.emplace_back(first[column]);
    }
    return result;
}

std::errc parse_number(std::string_view text, char decimal, double& value) {
    std::string other;
    if (decimal != '.') {
        if (text.find('.') != text.npos) return std::errc::invalid_argument;
        other = text;
        std::replace(other.begin(), other.end(), decimal, '.');
        text = other;
    }
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end != text.data() + text.size())
        return std::errc::invalid_argument;
    return error;
}

}  // namespace dtnn::runtime
