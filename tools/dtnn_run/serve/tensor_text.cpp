#include "tools/dtnn_run/serve/tensor_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/utf8.hpp"
#include "tools/dtnn_run/serve/http.hpp"

namespace dtnn::serve {
namespace {

using Kind = runtime::NpyHeader::Kind;

/// {"inputs": [{"data": []}]}: a tensor's members are in three brackets.
constexpr int kTensorDepth = 3;

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::size_t skip_spaces(std::string_view text, std::size_t at) {
    while (at < text.size() && is_space(text[at]))
        ++at;
    return at;
}

/// Behind the text that begins at this quote.
std::size_t end_of_text(std::string_view text, std::size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
    return std::min(at + 1, text.size());
}

/// Behind the list that begins at this bracket. What is between two brackets is passed over in one
/// step: it is most of a request.
std::size_t end_of_list(std::string_view text, std::size_t at) {
    for (std::size_t depth = 0, end = at;;) {
        end = text.find(']', end);
        if (end == std::string_view::npos)
            throw Refused(Status::bad_request, "the request is not JSON: it ends within a list");
        const std::string_view between = text.substr(at, end - at);
        if (between.find('"') != std::string_view::npos)
            throw Refused(Status::bad_request,
                          "`data` has texts in it; tensors here are of numbers, and of true and "
                          "false");
        for (std::size_t open = between.find('['); open != std::string_view::npos;
             open = between.find('[', open + 1))
            ++depth;
        at = ++end;
        if (--depth == 0) return at;
    }
}

/// Whether what std::from_chars takes for a number is one by the grammar of JSON (RFC 8259, section
/// 6): it begins with a digit, behind a minus; no zero leads; behind a point is a digit.
bool is_json_number(std::string_view text) {
    if (!text.empty() && text[0] == '-') text.remove_prefix(1);
    if (text.empty() || !is_digit(text[0])) return false;
    std::size_t whole = 1;  // digits before what follows them: a point, an exponent, nothing
    while (whole < text.size() && is_digit(text[whole]))
        ++whole;
    if (text[0] == '0' && whole > 1) return false;
    const bool point = whole < text.size() && text[whole] == '.';
    return !point || (whole + 1 < text.size() && is_digit(text[whole + 1]));
}

/// Reads the elements of one tensor.
class ElementReader {
  public:
    ElementReader(std::string_view text, const TensorType& type, const Dims& dims,
                  const std::string& name)
        : text_(text), type_(type), dims_(dims), name_(name) {}

    std::vector<char> read() {
        wanted_ = 1;
        for (const std::int64_t extent : dims_)
            if (__builtin_mul_overflow(wanted_, std::size_t(extent), &wanted_)) refuse_count();
        // An element takes a character and a comma.
        if (wanted_ > text_.size() / 2) refuse_count();
        bytes_.resize(wanted_ * std::size_t(type_.bytes));
        to_ = bytes_.data();
        const std::size_t inside = skip_spaces(text_, 1);
        const bool nested = inside < text_.size() && text_[inside] == '[';
        if (nested)
            read_nested(0);
        else
            read_list([&] { read_element(); }, wanted_);
        return std::move(bytes_);
    }

  private:
    [[noreturn]] void refuse(const std::string& fact) const {
        throw Refused(Status::bad_request, fmt::format("the input `{}`: {}", shown(name_), fact));
    }
    [[noreturn]] void refuse_count() const {
        refuse(
            fmt::format("its shape [{}] is not that of its data; give a flat list of all "
                        "elements, row-major, or lists nested as the shape says",
                        fmt::join(dims_, ",")));
    }
    [[noreturn]] void refuse_text() const {
        const std::string_view rest = text_.substr(at_, text_.substr(at_).find_first_of(",]"));
        refuse(fmt::format("`{}` in its data is no {}", shown(rest.substr(0, 40)),
                           type_.kind == Kind::boolean ? "true or false" : "number"));
    }

    void read_nested(std::size_t axis) {
        if (at_ >= text_.size() || text_[at_] != '[') refuse_count();
        const auto inner = [&] {
            if (axis + 2 < dims_.size())
                read_nested(axis + 1);
            else
                read_list([&] { read_element(); }, std::size_t(dims_[axis + 1]));
        };
        if (axis + 1 >= dims_.size()) refuse_count();
        read_list(inner, std::size_t(dims_[axis]));
    }

    /// Exactly so many, each by `one`.
    template <class One>
    void read_list(const One& one, std::size_t count) {
        if (at_ >= text_.size() || text_[at_] != '[') refuse_count();
        at_ = skip_spaces(text_, at_ + 1);
        for (std::size_t i = 0; i < count; ++i) {
            if (i > 0) {
                if (text_[at_] == ']') refuse_count();
                if (text_[at_] != ',') refuse_text();
                at_ = skip_spaces(text_, at_ + 1);
            }
            if (text_[at_] == ']') refuse_count();
            one();
            at_ = skip_spaces(text_, at_);
        }
        if (text_[at_] == ',') refuse_count();
        if (text_[at_] != ']') {
            if (count == 0) refuse_count();
            refuse_text();
        }
        ++at_;
    }

    void read_element() {
        switch (type_.kind) {
            case Kind::real:
                return type_.bytes == 4 ? read_real<float>() : read_real<double>();
            case Kind::boolean:
                return read_boolean();
            case Kind::natural:
                switch (type_.bytes) {
                    case 1:
                        return read_whole<std::uint8_t>();
                    case 2:
                        return read_whole<std::uint16_t>();
                    case 4:
                        return read_whole<std::uint32_t>();
                    default:
                        return read_whole<std::uint64_t>();
                }
            case Kind::integer:
                switch (type_.bytes) {
                    case 1:
                        return read_whole<std::int8_t>();
                    case 2:
                        return read_whole<std::int16_t>();
                    case 4:
                        return read_whole<std::int32_t>();
                    default:
                        return read_whole<std::int64_t>();
                }
        }
    }

    template <class T>
    void put(T value) {
        std::memcpy(to_, &value, sizeof value);
        to_ += sizeof value;
    }

    /// Reads a number at `at_`, and says whether it is one of this type.
    template <class T>
    std::errc read_number(T& value) {
        const char* const begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        const std::string_view found = text_.substr(at_, std::size_t(end - begin));
        if (error == std::errc::invalid_argument || !is_json_number(found)) refuse_text();
        at_ += found.size();
        found_ = found;
        return error;
    }

    template <class Real>
    void read_real() {
        Real value = 0;
        if (read_number(value) == std::errc::result_out_of_range) {
            // Too small for the type is zero, or nearly; too large is no number.
            value = Real(std::strtod(std::string(found_).c_str(), nullptr));
            if (!std::isfinite(value))
                refuse(
                    fmt::format("{} is too large for {}", shown(found_.substr(0, 40)), type_.name));
        }
        put(value);
    }

    template <class Whole>
    void read_whole() {
        Whole value = 0;
        const char *const begin = text_.data() + at_, *const limit = text_.data() + text_.size();
        const auto [end, error] = std::from_chars(begin, limit, value);
        const bool ends = end == limit || (*end != '.' && *end != 'e' && *end != 'E');
        const std::string_view found(begin, std::size_t(end - begin));
        if (error != std::errc() || !ends || !is_json_number(found)) {
            double number = 0;
            read_number(number);
            refuse(fmt::format("{} is no {}", shown(found_.substr(0, 40)), type_.name));
        }
        at_ += found.size();
        put(value);
    }

    void read_boolean() {
        for (const auto& [word, value] :
             {std::pair<std::string_view, bool>{"true", true}, {"false", false}}) {
            if (text_.substr(at_, word.size()) != word) continue;
            at_ += word.size();
            return put(value);
        }
        refuse_text();
    }

    const std::string_view text_;
    const TensorType& type_;
    const Dims& dims_;
    const std::string& name_;
    std::size_t at_ = 0;
    std::string_view found_;  ///< the number that was read last
    std::size_t wanted_ = 0;
    std::vector<char> bytes_;
    char* to_ = nullptr;
};

}  // namespace

TensorDocument read_tensor_document(std::string_view text) {
    TensorDocument document;
    std::string rest;        // the text with a number in the place of each list
    std::size_t copied = 0;  // of the text
    int depth = 0;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '{' || c == '[') ++depth;
        if (c == '}' || c == ']') --depth;
        if (c != '"') {
            ++at;
            continue;
        }
        const std::size_t end = end_of_text(text, at);
        const bool is_data = depth == kTensorDepth && text.substr(at, end - at) == "\"data\"";
        at = skip_spaces(text, end);
        if (!is_data || at >= text.size() || text[at] != ':') continue;
        at = skip_spaces(text, at + 1);
        if (at >= text.size() || text[at] != '[') continue;
        const std::size_t behind = end_of_list(text, at);
        if (document.data.size() == kMostTensors)
            throw Refused(Status::bad_request,
                          fmt::format("there are more than {} tensors", kMostTensors));
        rest.append(text, copied, at - copied);
        rest += std::to_string(document.data.size());
        document.data.push_back(text.substr(at, behind - at));
        at = copied = behind;
    }
    rest.append(text, copied);
    try {
        document.tree = parse_json(rest);
    } catch (const Json::exception& error) {
        throw Refused(Status::bad_request,
                      fmt::format("the request, counted without the elements of its tensors, is "
                                  "not JSON: {}",
                                  shown_lines(error.what())));
    }
    return document;
}

std::vector<char> read_elements(std::string_view list, const TensorType& type, const Dims& dims,
                                const std::string& name) {
    return ElementReader(list, type, dims, name).read();
}

}  // namespace dtnn::serve
