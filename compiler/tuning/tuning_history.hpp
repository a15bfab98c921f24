#pragma once
/// Times of kernels that `dtnnc tune` has measured, by problem, processor and kernels: a file that
/// later compilations choose by.
///
///     {"format": "dtnn-tuning", "version": 1, "entries": [
///       {"problem": "conv2d f32: ...", "processor": "Intel(R) Xeon(R) ...", "kernels": "9f3c...",
///        "idle": true,
///        "times": [{"kernel": "direct", "median": 1.2e-3, "low": 1.1e-3, "high": 1.3e-3,
///                   "calls": 11}, ...]}]}
///
/// Anybody may have written it. The worst that it can do is to choose a slower kernel: names that
/// no kernel of the operator has are passed over, and no kernel is chosen that refuses the problem.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kernels/problem.hpp"

namespace dtnn::compiler {

/// The times of calls of a kernel, in seconds; the quartiles are what a comparison must leave
/// behind.
struct KernelTime {
    std::string kernel;
    double median = 0;
    double low = 0;   ///< a quarter of the calls took less
    double high = 0;  ///< a quarter took more
    int calls = 0;
};

struct TuningEntry {
    std::string problem;    ///< problem_key()
    std::string processor;  ///< base/processor.hpp
    std::string kernels;    ///< kernels::revision()
    bool idle = true;       ///< nothing else used the machine's cores meanwhile
    std::vector<KernelTime> times;

    /// Null: the kernel was not measured.
    const KernelTime* find(std::string_view kernel) const;
};

/// Everything of a problem that its time depends on, as one line: operator, types, shapes, orders,
/// attributes, threads and instruction set.
std::string problem_key(const kernels::Problem& problem);

class TuningHistory {
  public:
    /// In place of an entry of the same problem, processor and kernels.
    void add(TuningEntry entry);
    /// Null: there is none.
    const TuningEntry* find(const std::string& problem, const std::string& processor,
                            const std::string& kernels) const;
    /// The entry whose problem differs in numbers only, and in them least; of these, one of the
    /// processor and one of the kernels first. Null: there is none. It says what to try first and
    /// decides nothing.
    const TuningEntry* nearest(const std::string& problem, const std::string& processor,
                               const std::string& kernels) const;
    /// Those of another history in place of own ones.
    void merge(const TuningHistory& other);
    std::size_t size() const { return entries_.size(); }

    /// Deterministic: equal histories are equal texts.
    std::string to_json() const;

  private:
    using Key = std::tuple<std::string, std::string, std::string>;
    std::map<Key, TuningEntry> entries_;
};

struct TuningReading {
    std::optional<TuningHistory> history;
    std::string mistake;  ///< why there is none: "entry 3: `median` is no time"
};
TuningReading read_tuning(std::string_view text);

}  // namespace dtnn::compiler
