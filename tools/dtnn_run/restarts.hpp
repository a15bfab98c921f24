#pragma once
/// Whether a job that has died is started again, when, and what is said of it. Decides only;
/// start_job.cpp acts.

#include <cstdint>
#include <optional>
#include <string>

namespace dtnn {

/// How one try of a job has ended.
struct TryEnd {
    int code = 0;
    bool stop_asked = false;           ///< by a signal to the process that has started the ranks
    std::string reason;                ///< "rank 1 (node17, process 42) was killed by signal 9"
    std::optional<std::int64_t> step;  ///< the newest checkpoint's; nothing: there is none
    bool answer_lost = false;          ///< all is done and kept, and standard output was full
};

struct Decision {
    bool again = false;
    double seconds = 0;  ///< to wait first
    std::string line;    ///< to say; empty: nothing, the ranks have said it
};

class Restarts {
  public:
    explicit Restarts(int most) : most_(most) {}

    /// Another try may mend a death by signal, a lost rank, a failing disk, file system or
    /// launcher: whatever ends with 1, or with a code that the program does not have. It does not
    /// mend a mistake of usage (2), what does not fit together (3, 4, 5), a loss that is NaN (6:
    /// the same steps make the same number), a mistake of the program's (70); 0 and 75 are no
    /// failures.
    ///
    /// The first restart comes after a second; each one that has brought no newer checkpoint
    /// doubles the wait, up to a minute.
    Decision after(const TryEnd& end);

  private:
    int most_;
    int done_ = 0;
    int idle_ = 0;  ///< restarts in a row without a newer checkpoint
    std::optional<std::int64_t> step_;
};

}  // namespace dtnn
