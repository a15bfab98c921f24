#pragma once
/// The plan's file form: JSON, one record per line, the same bytes for the same plan.
///
/// The first line is exactly
///     {"format": "dtnn-plan", "version": 1, "checksum": "xxh3:<32 hex digits>",
/// where the digits are XXH3's 128 bits over every byte after that line, so that any changed byte
/// is found: one of the first line by its fixed form, any other by the checksum. Doubles are
/// written with the shortest digits that read back exactly.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "plan/plan.hpp"

namespace dtnn::plan {

std::string to_json(const Plan& plan);

/// The part that the text lacks until all of it has been made: the digits of the checksum, and
/// where in the first line they stand.
struct JsonChecksum {
    std::size_t offset = 0;
    std::string digits;
};

/// The text of to_json piece by piece, for files: the text of a network of 100,000 layers has half
/// a gigabyte, which need not be in memory at once. Zeros stand in the place of the checksum; the
/// caller writes the digits there afterwards.
JsonChecksum write_json(const Plan& plan, const std::function<void(std::string_view)>& sink);

struct ReadResult {
    std::optional<Plan> plan;
    std::string error;  ///< what is wrong and where, when there is no plan; without the file's name
};

/// Total: any text gives a plan or an error, and never an exception. A plan that was read is
/// well-formed: all fields are there with their types, every index is inside its list, no size is
/// negative, every order is a permutation. Whether its memory is sound is for audit().
ReadResult read_plan(std::string_view text);

/// The checksum that stands in the first line of `text`, "" when there is none: the plan's
/// identity.
std::string checksum_of(std::string_view text);

/// Whether the text begins as a plan does (as opposed to a spec).
bool looks_like_plan(std::string_view text);

}  // namespace dtnn::plan
