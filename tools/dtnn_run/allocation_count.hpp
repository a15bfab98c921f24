#pragma once
/// Counts how often this program asks for memory, so that `bench` can show that a step does not.

#include <cstdint>

namespace dtnn {

/// Since the program began, in all threads and libraries. Zero where nothing can be counted.
std::int64_t allocation_count();

/// Call once, early. Needed where the sanitizers own the allocator.
void begin_allocation_count();

}  // namespace dtnn
