#include "runtime/data/survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plan/rules/ignored_labels.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/sampler.hpp"
#include "runtime/data/transforms/sample_chain.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::uint64_t kSurveySeed = 0;  ///< chooses the samples that are looked at

/// Mean and standard deviation by T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating formulae and
/// a pairwise algorithm for computing sample variances" (1979): the parts are samples.
class Moments {
  public:
    template <class Number>
    void add(const Number* numbers, std::int64_t count) {
        if (count == 0) return;
        double sum = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            sum += double(numbers[i]);
            least_ = std::min(least_, double(numbers[i]));
            greatest_ = std::max(greatest_, double(numbers[i]));
        }
        const double mean = sum / double(count);
        double squares = 0;
        for (std::int64_t i = 0; i < count; ++i)
            squares += (double(numbers[i]) - mean) * (double(numbers[i]) - mean);
        const double all = double(count_ + count), difference = mean - mean_;
        squares_ += squares + difference * difference * double(count_) * double(count) / all;
        mean_ += difference * double(count) / all;
        count_ += count;
    }
    NumberSpread spread() const {
        if (count_ == 0) return {};
        return {mean_, std::sqrt(squares_ / double(count_)), least_, greatest_};
    }

  private:
    std::int64_t count_ = 0;
    double mean_ = 0;
    double squares_ = 0;  ///< sum of the squared distances from the mean
    double least_ = std::numeric_limits<double>::infinity();
    double greatest_ = -std::numeric_limits<double>::infinity();
};

class Surveyor {
  public:
    Surveyor(const SampleSource& source, const plan::Plan& plan)
        : source_(source), dataset_(plan.dataset), chain_(plan) {}

    SplitSurvey look(Split split, std::int64_t most) {
        SplitSurvey result;
        // Those of validation are no training samples.
        result.samples =
            source_.size(split) - (split == Split::train ? source_.validation_size() : 0);
        result.seen = most > 0 ? std::min(most, result.samples) : result.samples;
        result.class_counts.assign(std::size_t(dataset_.target().classes), 0);
        std::vector<Moments> values(static_cast<std::size_t>(dataset_.target().classes));
        std::vector<std::int64_t> drawn = split_permutation(kSurveySeed, result.samples);
        drawn.resize(std::size_t(result.seen));
        std::sort(drawn.begin(), drawn.end());
        const bool labelled = dataset_.target().kind != plan::LabelKind::input;
        for (const std::int64_t index : drawn) {
            source_.load(split, index, sample_);
            if (image_) note_size();
            if (labelled) count_labels(split, index, result, values);
            transform(split, index);
            if (image_ && split == Split::train) note_pixels();
        }
        if (!labelled) result.class_counts.clear();
        if (dataset_.target().kind == plan::LabelKind::values) {
            result.class_counts.clear();
            for (const Moments& one : values)
                result.values.push_back(one.spread());
        }
        return result;
    }
    Dims smallest, largest;
    std::vector<Moments> channels;

  private:
    void note_size() {
        const Dims size(sample_.input().dims.begin() + 1, sample_.input().dims.end());
        if (smallest.empty()) smallest = largest = size;
        for (std::size_t axis = 0; axis < 2; ++axis) {
            smallest[axis] = std::min(smallest[axis], size[axis]);
            largest[axis] = std::max(largest[axis], size[axis]);
        }
    }
    void count_labels(Split split, std::int64_t index, SplitSurvey& result,
                      std::vector<Moments>& values) {
        for (const std::int32_t label : sample_.target().integers) {
            if (label == plan::kIgnoredLabel && plan::ignores_labels(dataset_)) {
                ++result.ignored;
                continue;
            }
            if (label < 0 || label >= dataset_.target().classes) {
                throw RunError(
                    Exit::failed,
                    fmt::format("{} has the class {}; the dataset has {} classes",
                                source_.name_of(split, index), label, dataset_.target().classes));
            }
            ++result.class_counts[std::size_t(label)];
        }
        const std::vector<double>& numbers = sample_.target().doubles;
        for (std::size_t i = 0; i < std::min(numbers.size(), values.size()); ++i) {
            result.class_counts[i] += numbers[i] != 0;
            values[i].add(&numbers[i], 1);
        }
    }
    void transform(Split split, std::int64_t index) {
        try {
            chain_.transform(sample_, scratch_);
        } catch (const RunError& error) {
            throw RunError(error.exit(),
                           fmt::format("{} {}", source_.name_of(split, index), error.what()),
                           error.help(), error.detail());
        }
    }
    void note_pixels() {
        const ImageView image(sample_);
        channels.resize(std::size_t(image.channels()));
        const std::int64_t plane = image.height() * image.width();
        for (std::int64_t c = 0; c < image.channels(); ++c)
            channels[std::size_t(c)].add(image.pixels().data() + c * plane, plane);
    }

    const SampleSource& source_;
    const plan::Dataset& dataset_;
    const bool image_ = plan::has_image(dataset_);
    SampleChain chain_;
    Sample sample_;
    SampleScratch scratch_;
};

}  // namespace

DataSurvey survey(const SampleSource& source, const plan::Plan& plan, std::int64_t most) {
    Surveyor surveyor(source, plan);
    DataSurvey result;
    result.train = surveyor.look(Split::train, most);
    result.test = surveyor.look(Split::test, most);
    result.smallest = surveyor.smallest;
    result.largest = surveyor.largest;
    for (const Moments& channel : surveyor.channels)
        result.channels.push_back(channel.spread());
    return result;
}

}  // namespace dtnn::runtime
