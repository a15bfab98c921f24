#include <fmt/format.h>
#include <xxhash.h>

#include <iterator>
#include <new>

#include "base/formats.hpp"
#include "plan/json/json.hpp"
#include "plan/json/reading.hpp"

namespace dtnn::plan {

namespace {

constexpr std::string_view kOpening = R"({"format": "dtnn-plan", "version": )";
constexpr std::string_view kChecksumKey = R"(, "checksum": "xxh3:)";
constexpr std::string_view kLineEnd = "\",\n";
constexpr std::size_t kDigits = 32;

// Limits that no plan of ours comes near; they bound the time and memory that a hostile text can
// take.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr int kMostNesting = 8;

struct FirstLine {
    std::string_view version, digits, body;
};

FirstLine split_first_line(std::string_view text) {
    FirstLine line;
    if (!text.starts_with(kOpening))
        throw Refused{text.empty() ? "the file is empty"
                                   : "this is no plan: the first line is not that of one"};
    std::size_t end = text.find(kChecksumKey, kOpening.size());
    if (end == std::string_view::npos || end - kOpening.size() > 9)
        throw Refused{"the first line is damaged or cut off: no version and checksum"};
    line.version = text.substr(kOpening.size(), end - kOpening.size());
    line.digits = text.substr(end + kChecksumKey.size());
    line.digits = line.digits.substr(0, kDigits);
    std::size_t rest = end + kChecksumKey.size() + kDigits;
    if (line.digits.size() != kDigits || !text.substr(rest).starts_with(kLineEnd))
        throw Refused{"the first line is damaged or cut off: no checksum of 32 digits"};
    line.body = text.substr(rest + kLineEnd.size());
    return line;
}

/// "dtnnc 0.3.0", where a plan of any format says it: at the beginning of the body.
std::string_view writer_of(std::string_view body) {
    constexpr std::string_view kKey = R"("generator": ")";
    constexpr std::size_t kMostBefore = 4096;
    const std::size_t key = body.substr(0, kMostBefore).find(kKey);
    if (key == std::string_view::npos) return {};
    body.remove_prefix(key + kKey.size());
    return body.substr(0, body.find('"'));
}

void check_checksum(const FirstLine& line) {
    XXH128_canonical_t digest;
    XXH128_canonicalFromHash(&digest, XXH3_128bits(line.body.data(), line.body.size()));
    std::string digits;
    for (unsigned char byte : digest.digest)
        fmt::format_to(std::back_inserter(digits), "{:02x}", byte);
    if (digits != line.digits)
        throw Refused{
            fmt::format("the checksum of the file is {}, the first line says {}: the "
                        "file was changed or cut off after it was written",
                        digits, line.digits)};
}

// Before the JSON parser builds a tree of it: values nested deeper than any plan's.
void check_nesting(std::string_view text) {
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (quoted) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '[' || c == '{') {
            if (++depth > kMostNesting)
                throw Refused{
                    fmt::format("byte {}: values nested deeper than {}", i, kMostNesting)};
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
}

Plan parse(std::string_view text) {
    if (text.size() > kMostBytes)
        throw Refused{
            fmt::format("{} bytes are more than a plan may have ({})", text.size(), kMostBytes)};
    FirstLine line = split_first_line(text);
    if (line.version != fmt::format("{}", formats::kPlan.number))
        throw Refused{other_format(formats::kPlan, line.version, writer_of(line.body)) +
                      ": compile the job again with the dtnnc of this installation"};
    check_checksum(line);
    check_nesting(text);
    // The body alone, with the opening brace that the first line took.
    std::string body = "{";
    body.append(line.body);
    const JsonTree tree(body);
    Plan plan = plan_of(tree.root());
    check_ranges(plan);
    return plan;
}

}  // namespace

ReadResult read_plan(std::string_view text) {
    ReadResult result;
    try {
        result.plan = parse(text);
    } catch (const Refused& refused) {
        result.error = refused.text;
    } catch (const std::bad_alloc&) {
        result.error = "not enough memory to read the plan";
    }
    return result;
}

std::string checksum_of(std::string_view text) {
    try {
        return std::string(split_first_line(text).digits);
    } catch (const Refused&) {
        return {};
    }
}

bool looks_like_plan(std::string_view text) {
    return text.starts_with(R"({"format": "dtnn-plan")");
}

}  // namespace dtnn::plan
