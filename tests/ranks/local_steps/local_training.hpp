#pragma once
/// Jobs compiled from text, and trained by ranks that are threads.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/train/loop.hpp"

namespace dtnn {

/// Through the file's text, as a run gets it.
plan::Plan compiled(const std::string& job);

/// A folder that is removed with everything in it.
class DataFolder {
  public:
    DataFolder();
    ~DataFolder();
    DataFolder(const DataFolder&) = delete;
    DataFolder& operator=(const DataFolder&) = delete;
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

    /// `NAME.csv`: so many lines x,y.
    void write_pairs(const std::string& name, double x, double y, int lines) const;
    /// MNIST's four files in the folder NAME, of made-up pixels that depend on `seed`.
    void write_mnist(const std::string& name, int train, int test, unsigned seed) const;

  private:
    std::string path_;
};

/// A state of a training, and rank 0's parameters at it.
struct Kept {
    runtime::TrainingState state;
    std::vector<std::vector<std::byte>> parameters;
};

struct Trained {
    /// By parameter, of rank 0; as double.
    std::vector<std::vector<double>> parameters;
    bool same_on_all = true;     ///< all but the optimizer's states
    std::vector<double> losses;  ///< of epochs
    std::vector<std::int64_t> samples;
    std::int64_t steps = 0;
    std::vector<Kept> kept;  ///< the checkpoints
    runtime::PassValues test;
    /// Steps of each rank that had samples.
    std::vector<std::int64_t> own_steps;
    std::string error;  ///< of the first rank that has one

    /// All numbers of the parameter.
    const std::vector<double>& of(const plan::Plan& plan, const std::string& name) const;
};

/// Trains on so many ranks, each with its own data where the plan says so; from a state that was
/// kept, if one is given.
Trained train_on(int ranks, const plan::Plan& plan, const Kept* from = nullptr);

}  // namespace dtnn
