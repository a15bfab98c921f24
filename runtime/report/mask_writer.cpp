#include "runtime/report/mask_writer.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "base/folders.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/new_file.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/png_writer.hpp"

namespace dtnn::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostMaskClasses = 256;

/// The name of a mask's file; what is no letter, digit, point, dash or underscore becomes one.
std::string mask_name(const std::string& sample) {
    std::string stem = base_name(sample);
    if (const std::size_t dot = stem.rfind('.'); dot != stem.npos && dot > 0) {
        // "a.npz[3]" and the like keep what tells them apart.
        const std::size_t bracket = stem.find('[', dot);
        stem = stem.substr(0, dot) + (bracket == stem.npos ? "" : "_" + stem.substr(bracket + 1));
    }
    while (stem.ends_with(']'))
        stem.pop_back();
    for (char& c : stem) {
        const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.';
        if (!kept && static_cast<unsigned char>(c) < 0x80) c = '_';
    }
    return stem.empty() || stem[0] == '.' ? "mask" + stem : stem;
}

/// The folder, once it is certain that it is empty or not there; those above it are made.
std::string made_beside(std::string folder) {
    while (folder.size() > 1 && folder.ends_with('/'))
        folder.pop_back();
    std::error_code error;
    if (fs::exists(folder, error) &&
        !(fs::is_directory(folder, error) && fs::is_empty(folder, error)))
        throw RunError(Exit::usage, fmt::format("{} is there already, and not empty", folder),
                       "name another folder with -o");
    create_folders(fs::path(folder).parent_path().string());
    return folder;
}

class MaskWriter final : public PredictionWriter {
  public:
    MaskWriter(std::string folder, PredictionFacts facts)
        : folder_(made_beside(std::move(folder))), facts_(std::move(facts)) {
        if (folder_.error() != 0)
            throw system_error("make the folder", folder_.place(), folder_.error());
    }
    MaskWriter(const MaskWriter&) = delete;
    MaskWriter& operator=(const MaskWriter&) = delete;

    void add(const PredictedBatch& batch, const std::vector<std::string>& names) override {
        const std::int64_t classes = facts_.form.dims[0];
        const std::int64_t height = facts_.form.dims[1], width = facts_.form.dims[2];
        const std::size_t pixels = std::size_t(height * width);
        std::vector<std::uint8_t> numbers(pixels);
        for (std::int64_t i = 0; i < batch.samples; ++i) {
            const double* const scores =
                batch.predictions.data() + std::size_t(i * classes) * pixels;
            for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
                std::size_t best = 0;
                for (std::size_t c = 1; c < std::size_t(classes); ++c)
                    if (scores[c * pixels + pixel] > scores[best * pixels + pixel]) best = c;
                numbers[pixel] = std::uint8_t(
                    facts_.mask_values.empty() ? std::int64_t(best) : facts_.mask_values[best]);
            }
            std::string stem = mask_name(names[std::size_t(i)]);
            if (!stems_.insert(stem).second) {
                stem += fmt::format("_{}", batch.first + i);
                stems_.insert(stem);
            }
            NewFile file(fmt::format("{}/{}.png", folder_.path(), stem));
            file.add(png_of_numbers(numbers, height, width));
            file.finish();
        }
    }
    void finish() override {
        if (const int error = folder_.put(FolderAside::Existing::kept))
            throw system_error("write the folder", folder_.place(), error);
    }

  private:
    FolderAside folder_;
    PredictionFacts facts_;
    std::set<std::string> stems_;
};

}  // namespace

std::unique_ptr<PredictionWriter> open_masks(const std::string& folder, PredictionFacts facts) {
    const Dims& dims = facts.form.dims;
    if (folder == "-")
        throw RunError(Exit::usage, "masks cannot be written to standard output",
                       "name a folder with -o");
    if (facts.form.axes != image_axes() || facts.form.kind != plan::LabelKind::classes ||
        dims[0] > kMostMaskClasses ||
        (!facts.mask_values.empty() && std::int64_t(facts.mask_values.size()) != dims[0])) {
        throw RunError(Exit::usage,
                       fmt::format("the plan's predictions are [{}], and masks are of up to {} "
                                   "classes for every pixel",
                                   fmt::join(dims, ","), kMostMaskClasses),
                       "name a file that ends in .npz with -o");
    }
    return std::make_unique<MaskWriter>(folder, std::move(facts));
}

}  // namespace dtnn::runtime
