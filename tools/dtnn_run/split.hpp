#pragma once
/// The splits of a plan's dataset, as the command line calls them.

#include <cstdint>
#include <span>
#include <string>

#include "runtime/data/sampler.hpp"

namespace dtnn {

bool is_split(const std::string& word);  ///< train, validation, test

/// A split without samples is a RunError (exit 2).
void require_split(const plan::Plan& plan, const std::string& word);

struct SplitSamples {
    runtime::Split split = runtime::Split::test;
    std::span<const std::int64_t> order;
};
/// In rising order. Of `train` those that are trained on: without the validation samples, each
/// once.
SplitSamples samples_of(const runtime::Sampler& sampler, const std::string& word);

}  // namespace dtnn
