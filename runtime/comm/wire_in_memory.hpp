#pragma once
/// A reduction whose numbers travel in fewer bytes, where all ranks' memory is at hand: what ranks
/// that are processes do together, with the same functions and the same bits.

#include <cstdint>
#include <span>

#include "runtime/comm/communicator.hpp"

namespace dtnn::runtime {

/// `data` and `forms` by rank; data are floats. Of one rank nothing changes.
void exchange_in_memory(std::int64_t elements, std::span<void* const> data,
                        std::span<const WireForm* const> forms);

/// Of the exchange, as plan/rules/wire.hpp compares it with elements * 4 bytes.
double bytes_as(const WireForm& form, std::int64_t elements);

}  // namespace dtnn::runtime
