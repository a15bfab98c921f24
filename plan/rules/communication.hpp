#pragma once
/// The exchanges of an update between ranks, in a few figures for people.

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

struct Communication {
    std::int64_t global_batch = 0;        ///< samples of an update, of all ranks and batches
    std::vector<std::int64_t> exchanges;  ///< bytes of each, in the plan's order; of gradients
    /// Exchanges of batch statistics, of all batches of an update: small, and nothing but what does
    /// not need them goes on meanwhile.
    std::int64_t statistics = 0;
    /// Updates between two times that they take place: 1, or with local steps their number. The
    /// figures below are of one update, in the mean.
    std::int64_t every = 1;
    std::int64_t bytes = 0;       ///< of all of them
    std::int64_t wire_bytes = 0;  ///< that each rank sends, on Target::ranks ranks
    double seconds = 0;           ///< foreseen for all of them, one after the other
};
/// The exchanges of the training program or, with local steps, of the one that synchronises. For a
/// plan without data parallelism only the batch is not zero.
Communication communication_of(const Plan& plan);

/// Whether the exchange is one of synchronised batch statistics.
bool exchanges_statistics(const Plan& plan, const Collective& collective);

/// "4 ranks, a global batch of 256 samples; ..." and "3 for an update ...".
std::string parallel_words(const Plan& plan);
std::string exchange_words(const Plan& plan);
/// {"ranks": 4, ...}, as `dtnnc summary --format json` has it.
std::string parallel_json(const Plan& plan);

}  // namespace dtnn::plan
