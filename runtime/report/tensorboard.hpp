#pragma once
/// The event file by which TensorBoard shows a run, with scalars, histograms and the network's
/// graph. Fields are those of TensorFlow's event.proto, summary.proto, graph.proto and
/// attr_value.proto.

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/report/event_file.hpp"

namespace dtnn::runtime {

using Scalars = std::vector<std::pair<std::string, double>>;

class TensorBoard {
  public:
    /// Begins FOLDER/events.out.tfevents.SECONDS.dtnn (-2, -3 ... when that is taken), making the
    /// folder. `first_step`: what other files of the folder say of this step and later ones no
    /// longer counts, as after a resumed run.
    explicit TensorBoard(const std::string& folder, std::int64_t first_step = 0);

    /// "train/loss" -> 0.3, all at one step.
    void scalars(std::int64_t step, const Scalars& values);
    /// How the values lie between their least and their greatest, in at most 64 equal buckets.
    /// Values that are no numbers are not counted.
    void histogram(std::int64_t step, const std::string& tag, std::span<const double> values);
    /// A node for every layer; blocks are scopes, because layers' names are paths.
    void graph(const plan::Plan& plan);

    const std::string& path() const { return file_.path(); }

  private:
    EventFile file_;
};

}  // namespace dtnn::runtime
