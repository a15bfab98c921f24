#pragma once
/// The progress of a run as a person sees it, on stderr: a bar that is redrawn on a terminal, plain
/// lines elsewhere.

#include <functional>
#include <string>

#include "runtime/base/clock.hpp"
#include "runtime/train/loop.hpp"

namespace dtnn::runtime {

enum class ProgressStyle { bar, plain, none };

/// "auto" is a bar on a terminal and plain lines elsewhere. The word has been checked.
ProgressStyle choose_progress(const std::string& word);

/// Whether stderr gets colours: "always", "never", or "auto": a terminal, and neither NO_COLOR nor
/// TERM=dumb.
bool choose_color(const std::string& word);

/// One line of at most `width` columns, with the speed of all ranks and the measures of this one,
/// e.g.
///     epoch 2/3 [=====>    ] 43%  21.3k samples/s  loss 0.0921  accuracy 97.20%  0:12 left
/// Parts are left out from the right, the bar first, when there is no room. ASCII only.
std::string progress_line(const Progress& progress, double samples_per_second, double seconds_left,
                          int width);

/// "epoch 2/3, step 412/938: loss 0.0921, accuracy 97.20%; 21.3k samples/s, 0:12 left"
std::string step_line(const Progress& progress, double samples_per_second, double seconds_left);

/// "epoch 2/3: loss 0.0921, accuracy 97.20%; validation: loss 0.1012, accuracy 97.01%; 21.3k
/// samples/s, 0:03"
std::string epoch_line(const EpochResult& result, std::int64_t epochs);

/// "loss 0.0921, accuracy 97.20%": what is one number; lists and matrices are in the history.
std::string measures_text(const PassValues& pass, const char* separator = ", ");

/// The progress of what a person waits through: the steps of a training, and passes that evaluate.
class ProgressReport {
  public:
    /// Prints a line, where there is no bar, at the latest `line_seconds` behind the one before, as
    /// soon as a step or a batch is done. `clock` gives seconds since any time.
    ProgressReport(ProgressStyle style, bool color, const plan::Plan& plan,
                   double line_seconds = 30, std::function<double()> clock = seconds_since_start);
    ~ProgressReport();
    ProgressReport(const ProgressReport&) = delete;
    ProgressReport& operator=(const ProgressReport&) = delete;

    /// The bar is drawn at most ten times a second.
    void step(const Progress& progress);
    /// So much is done of something else: "validation: batch 12/60", what it is coming first.
    void part(const std::string& what, std::int64_t done, std::int64_t all);
    void epoch(const EpochResult& result);
    /// A line of its own.
    void say(const std::string& line);
    /// Takes the bar away, where there is one.
    void clear();
    /// A line on standard output; false where it is lost. Where that cannot be written and no
    /// program reads it for certain (`wanted`: a RunError), it is told as a note with the reason.
    bool answer(const std::string& line, bool wanted);

  private:
    bool is_due();
    void draw(const std::string& line);

    ProgressStyle style_;
    bool color_;
    bool drawn_ = false;
    std::int64_t epochs_;
    double line_seconds_;
    std::function<double()> clock_;
    double last_told_;  ///< when a line was written, or the bar was drawn; below 0: it was not
    double validation_seconds_ = 0;  ///< what the last epoch took, for the time left
};

}  // namespace dtnn::runtime
