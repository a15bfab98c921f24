#pragma once
/// The closed sets that fields of datasets are chosen from, which the compiler checks and the
/// runtime reads from Dataset::attributes by `choice`: each an enum and, beside it, its words
/// (base/enum_names.hpp).

#include <cstddef>
#include <cstdint>

#include "base/enum_names.hpp"

namespace dtnn::plan {

/// What stands between the columns of a table (`separator`).
enum class Separator : std::uint8_t { comma, semicolon, tab };
constexpr auto names_of(Separator) {
    return std::to_array<const char*>({"comma", "semicolon", "tab"});
}
constexpr char sign_of(Separator separator) {
    return ",;\t"[std::size_t(separator)];
}

/// What stands before the fraction of a table's numbers (`decimal`).
enum class DecimalMark : std::uint8_t { point, comma };
constexpr auto names_of(DecimalMark) {
    return std::to_array<const char*>({"point", "comma"});
}
constexpr char sign_of(DecimalMark mark) {
    return ".,"[std::size_t(mark)];
}

/// What a column of categories becomes (`categories`): a number for each of them, one of which is
/// 1, or one number, the category's place.
enum class CategoryForm : std::uint8_t { one_hot, number };
constexpr auto names_of(CategoryForm) {
    return std::to_array<const char*>({"one_hot", "number"});
}

/// What a category is that no training sample has (`unknown_categories`): an error, or no category
/// of all.
enum class UnknownCategory : std::uint8_t { refuse, zeros };
constexpr auto names_of(UnknownCategory) {
    return std::to_array<const char*>({"refuse", "zeros"});
}

/// What fills in for a number that is missing (`missing`): nothing, which is an error; the mean or
/// the median of the column's training samples; `fill_value`.
enum class Fill : std::uint8_t { refuse, mean, median, constant };
constexpr auto names_of(Fill) {
    return std::to_array<const char*>({"refuse", "mean", "median", "constant"});
}

/// What targets that are numbers (`target_scaling`), and the features of a series
/// (`feature_scaling`), are divided by: nothing, or their standard deviation once their mean is
/// subtracted.
enum class TargetScaling : std::uint8_t { none, standard };
constexpr auto names_of(TargetScaling) {
    return std::to_array<const char*>({"none", "standard"});
}

/// What has a label each (`labels`); `sequence`: a sample has some, which are not of its steps.
enum class LabelPlace : std::uint8_t { sample, pixel, step, sequence };
constexpr auto names_of(LabelPlace) {
    return std::to_array<const char*>({"sample", "pixel", "step", "sequence"});
}

/// What a token of a text is (`unit`): one of its bytes, or one of its characters.
enum class TextUnit : std::uint8_t { byte, character };
constexpr auto names_of(TextUnit) {
    return std::to_array<const char*>({"byte", "character"});
}

/// What the tokens of a file without a header are (`item`): 16 or 32 bits, lowest byte first.
enum class TokenItem : std::uint8_t { u16, u32 };
constexpr auto names_of(TokenItem) {
    return std::to_array<const char*>({"u16", "u32"});
}

/// What the network is to give (`target`): a sample's label, or the sample itself.
enum class TargetSource : std::uint8_t { label, input };
constexpr auto names_of(TargetSource) {
    return std::to_array<const char*>({"label", "input"});
}

/// Which of a sample's two labels its class is in CIFAR-100 (`level`): one of 100, or of 20.
enum class LabelLevel : std::uint8_t { fine, coarse };
constexpr auto names_of(LabelLevel) {
    return std::to_array<const char*>({"fine", "coarse"});
}

}  // namespace dtnn::plan
