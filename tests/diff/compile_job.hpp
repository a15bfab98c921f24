#pragma once
/// Specs in files of a folder of their own, and the plans that they compile to.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn {

/// A folder that is the current one while the object lives and is removed after it; specs are named
/// relative to it, so that plans do not depend on where it is.
class SpecFolder {
  public:
    explicit SpecFolder(const std::string& name);
    ~SpecFolder();
    SpecFolder(const SpecFolder&) = delete;
    SpecFolder& operator=(const SpecFolder&) = delete;

    /// The folder in which the tests were started: the root of the project.
    const std::filesystem::path& home() const { return home_; }
    static void write(const std::string& file, const std::string& text);

  private:
    std::filesystem::path home_, folder_;
};

/// As `dtnnc diff` compiles it, with the parameters of the model: for what the job and its machine
/// say, else for AVX2 and two threads, or as the plan beside it. `settings` are those of --set.
/// The plan; nothing, and the reason in `error`, when the spec is refused.
std::optional<plan::Plan> compile_job(const std::string& file, std::string& error,
                                      const std::vector<std::string>& settings = {},
                                      const plan::Plan* beside = nullptr);
/// Layers of the file's model once its blocks are expanded; 0 when it is refused.
std::size_t count_layers(const std::string& file);
/// The resolved spec of the file; empty when it is refused.
std::string resolve_job(const std::string& file);

}  // namespace dtnn
