#pragma once
/// Transforms and augmentations of samples, made from a plan's components.
///
/// A transform is a pure function of the image; an augmentation of the image and of the numbers
/// that it draws, which depend on seed, epoch, sample and occurrence only (draws.hpp). So the same
/// batch comes out for any number of workers, and in a run that was resumed.

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/base/component_fields.hpp"
#include "runtime/data/transforms/draws.hpp"
#include "runtime/data/transforms/image_view.hpp"
#include "runtime/data/transforms/resample.hpp"

namespace dtnn::runtime {

/// The memory that steps write to besides the image; each worker has one.
struct SampleScratch {
    Sample spare;
    ResizeScratch resize;
};

class SampleStep {
  public:
    virtual ~SampleStep() = default;
    /// Changes `image` in place, or makes another in `scratch.spare` and lets the two change places
    /// (ImageView::swap). Called by several threads at once. A sample that it cannot work on
    /// is a RunError whose fact goes on from the sample's name: "is 3x20x20, ...".
    virtual void apply(const ImageView& image, SampleScratch& scratch, Draws& draws) const = 0;
    /// The part of an augmentation that samples go through which are evaluated, not trained on.
    /// Only those that make another size do something, so that both kinds of samples have it.
    virtual void apply_plain(const ImageView&, SampleScratch&) const {}
};

/// The bounds of fields, as the compiler's table has them
/// (compiler/frontend/tables/transform_table.cpp).
constexpr std::int64_t kMostExtent = 65536;
constexpr double kPositive = std::numeric_limits<double>::denorm_min();

/// `size` of a step: height and width.
std::vector<std::int64_t> size_of(const ComponentFields& fields);

/// A component that is unknown, or lacks a field, or has one beyond its bounds, is a RunError
/// (exit 5) that names it. Nothing for `normalize`
/// and `mixup`, which are no steps of a sample (sample_chain.hpp).
std::unique_ptr<SampleStep> make_transform(const plan::Component& component);
std::unique_ptr<SampleStep> make_augmentation(const plan::Component& component);

/// A line of the table of transforms or of augmentations.
struct SampleStepKind {
    const char* name;
    std::unique_ptr<SampleStep> (*make)(const ComponentFields& fields);  ///< null: no step
};
std::unique_ptr<SampleStep> make_step(std::span<const SampleStepKind> kinds, const char* what,
                                      const plan::Component& component);
template <class Step>
std::unique_ptr<SampleStep> make(const ComponentFields& fields) {
    return std::make_unique<Step>(fields);
}

}  // namespace dtnn::runtime
