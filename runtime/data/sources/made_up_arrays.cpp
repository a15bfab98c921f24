#include "runtime/data/sources/made_up_arrays.hpp"

#include <algorithm>

#include "kernels/philox.hpp"

namespace dtnn::runtime {
namespace {

/// Behind the streams of Synthetic: two for each input.
constexpr std::uint64_t kFirstStream = 8;

}  // namespace

void MadeUpArrays::load(Split split, std::int64_t index, Sample& sample) const {
    namespace philox = kernels::philox;
    images_->load(split, index, sample);
    if (most_labels_ > 0) {
        std::vector<std::int32_t>& labels = sample.target().integers;
        if (labels[0] == blank_) labels.clear();
        labels.resize(std::size_t(most_labels_), plan::kIgnoredLabel);
    }
    sample.inputs.resize(inputs_.size());
    for (std::size_t i = first_; i < inputs_.size(); ++i) {
        const std::uint64_t stream = kFirstStream + 2 * i + (split == Split::train ? 0 : 1);
        const std::uint64_t key = philox::key_of(seed_, philox::Purpose::data, stream);
        const auto count = std::size_t(element_count(inputs_[i].dims));
        const auto word = [&](std::size_t k) {
            return philox::block(key, std::uint64_t(index), k / 4)[k % 4];
        };
        SampleArray& array = sample.inputs[i];
        if (inputs_[i].kind == plan::LabelKind::classes) {
            array.integers.resize(count);
            for (std::size_t k = 0; k < count; ++k)
                array.integers[k] = std::int32_t(std::int64_t(word(k)) %
                                                 std::max<std::int64_t>(1, inputs_[i].classes));
        } else {
            array.fill(inputs_[i].dims, [&](auto numbers) {
                for (std::size_t k = 0; k < count; ++k)
                    numbers[k] = philox::uniform_float(word(k));
            });
        }
    }
}

}  // namespace dtnn::runtime
