#pragma once
/// A change in words, for the text of a comparison and its headline.

#include <string>
#include <vector>

#include "plan/diff/diff.hpp"

namespace dtnn::plan {

/// A JSON value as people read it: 64x16x16, 1.1 GiB, conv2d filters=32 kernel=3x3.
std::string value_words(const std::string& json, Unit unit);
/// "64 -> 128", "1.1 -> 1.9 GiB"; equal units are said once.
std::string range_words(const Change& change);
/// Names, or when there are many: how many below which part of the network.
std::string member_words(const std::vector<std::string>& members);
/// The whole fact without its label: "bias of 54 conv2d layers: true -> false (...)".
std::string change_words(const Change& change);
/// The same in the fewest words: "batch 64 -> 128".
std::string short_words(const Change& change);

}  // namespace dtnn::plan
