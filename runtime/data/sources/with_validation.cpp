#include "runtime/data/sources/with_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/utf8.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/content_hash.hpp"

namespace dtnn::runtime {

WithValidation::WithValidation(std::unique_ptr<SampleSource> trained,
                               std::unique_ptr<SampleSource> held, bool named)
    : trained_(std::move(trained)), held_(std::move(held)) {
    const std::vector<std::string> columns = trained_->feature_names();
    if (const auto others = held_->feature_names(); !others.empty() && others != columns)
        throw RunError(Exit::failed,
                       fmt::format("{}: its columns are not those of the training samples",
                                   held_->name_of(Split::train, 0)),
                       "give both tables the same columns in the same order");
    if (!named) return;
    const std::vector<std::string> names = trained_->class_names();
    const std::vector<std::string> given = held_->class_names();
    const auto refuse = [&](const std::string& name) {
        throw RunError(Exit::failed,
                       fmt::format("the samples of validation have the class `{}`, which no "
                                   "training sample has",
                                   printable(name)),
                       "a class that is never trained cannot be told; take it out, or add it to "
                       "the training samples");
    };
    if (given.empty() != names.empty())
        refuse(given.empty() ? fmt::format("{}", held_->found_classes() - 1) : given.front());
    if (given.empty() && held_->found_classes() > trained_->found_classes())
        refuse(fmt::format("{}", held_->found_classes() - 1));
    for (const std::string& name : given) {
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end()) refuse(name);
        class_of_.push_back(std::int32_t(found - names.begin()));
    }
}

void WithValidation::load(Split split, std::int64_t index, Sample& sample) const {
    const std::int64_t at = place(split, index);
    if (at < 0) {
        trained_->load(split, index, sample);
        return;
    }
    held_->load(Split::train, at, sample);
    renumber(sample.target());
}

void WithValidation::load_target(Split split, std::int64_t index, SampleArray& target) const {
    const std::int64_t at = place(split, index);
    if (at < 0) {
        trained_->load_target(split, index, target);
        return;
    }
    held_->load_target(Split::train, at, target);
    renumber(target);
}

void WithValidation::renumber(SampleArray& target) const {
    if (class_of_.empty()) return;
    for (std::int32_t& label : target.integers)
        label = class_of_[std::size_t(label)];
}

std::uint64_t WithValidation::content_hash() const {
    ContentHash hash;
    hash.add("with validation").add(trained_->content_hash()).add(held_->content_hash());
    return hash.value();
}

std::int64_t WithValidation::resident_bytes() const {
    return trained_->resident_bytes() + held_->resident_bytes() +
           std::int64_t(class_of_.capacity() * sizeof(std::int32_t));
}

std::string WithValidation::name_of(Split split, std::int64_t index) const {
    const std::int64_t at = place(split, index);
    return at < 0 ? trained_->name_of(split, index) : held_->name_of(Split::train, at);
}

Dims WithValidation::found_shape() const {
    Dims shape = trained_->found_shape();
    // Samples that are no images have one shape.
    if (const Dims other = held_->found_shape(); shape != other) add_image_shape(shape, other);
    return shape;
}

std::int64_t WithValidation::found_pixels() const {
    return std::max(trained_->found_pixels(), held_->found_pixels());
}

std::vector<std::string> WithValidation::notes() const {
    std::vector<std::string> all = trained_->notes();
    const std::vector<std::string> more = held_->notes();
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace dtnn::runtime
