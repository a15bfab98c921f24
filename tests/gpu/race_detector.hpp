#pragma once
/// The order of operations by streams, events and the host's waits, and what overlaps without it.
/// After Lamport's clocks: of every stream a clock knows how many of its operations are before.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dtnn::runtime::cuda {

/// By stream, from 0: so many of its first operations.
class Clock {
  public:
    std::int64_t of(std::size_t stream) const {
        return stream < counts_.size() ? counts_[stream] : 0;
    }
    void advance(std::size_t stream);
    void join(const Clock& other);

  private:
    std::vector<std::int64_t> counts_;
};

/// Bytes that an operation reads or writes.
struct Access {
    const std::byte* first = nullptr;
    std::int64_t bytes = 0;
    bool writes = false;
};

class RaceDetector {
  public:
    /// An operation at the end of a stream, which knows what `clock` says, itself included. Gives
    /// what it is in a race with; empty: nothing.
    std::string add(std::size_t stream, const Clock& clock, std::string name,
                    std::vector<Access> accesses);
    /// The host has waited for this: whatever is added from now on is behind it.
    void forget(const Clock& done);

  private:
    struct Operation {
        std::int64_t number = 0;  // in its stream, from 1
        std::string name;
        std::vector<Access> accesses;
    };
    std::vector<std::vector<Operation>> streams_;
};

}  // namespace dtnn::runtime::cuda
