#include "runtime/data/sources/token_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace dtnn::runtime {
namespace {

/// `stride`, or `steps` where it is not given.
std::int64_t stride_of(const plan::Dataset& dataset, std::int64_t steps) {
    return dataset.attributes.contains("stride") ? attribute<std::int64_t>(dataset, "stride")
                                                 : steps;
}

std::int64_t positive(const plan::Dataset& dataset, const char* name, std::int64_t value) {
    if (value > 0) return value;
    throw RunError(
        Exit::mismatch,
        fmt::format("the plan's dataset `{}` has a `{}` of {}", dataset.name, name, value),
        kCompileAgain);
}

}  // namespace

TokenWindows::TokenWindows(const plan::Dataset& dataset, const Asked& asked, TokenFiles train,
                           TokenFiles test, std::int64_t classes, std::vector<std::string> names)
    : steps_(positive(dataset, "steps", attribute<std::int64_t>(dataset, "steps"))),
      stride_(positive(dataset, "stride", stride_of(dataset, steps_))),
      classes_(classes),
      names_(std::move(names)) {
    for (const auto& file : train)
        add(train_, *file, 0, file->tokens());
    for (const auto& file : test)
        add(test_, *file, 0, file->tokens());
    ContentHash hash;
    hash.add(std::uint64_t(steps_)).add(std::uint64_t(stride_)).add(std::uint64_t(train.size()));
    for (TokenFiles* files : {&train, &test})
        std::move(files->begin(), files->end(), std::back_inserter(files_));
    for (const auto& file : files_) {
        if (!file->add_to(hash)) hashes_all_ = false;
        resident_ += file->resident_bytes() + std::int64_t(file->path().size());
    }
    if (test_.stretches.empty() && dataset.attributes.contains(kShare)) {
        const auto share_of_test = attribute<double>(dataset, kShare);
        hash.add(std::uint64_t(share_of_test * 1e9));
        share(share_of_test);
    }
    hash_ = hash.value();
    resident_ += std::int64_t((train_.stretches.size() + test_.stretches.size()) * sizeof(Stretch));
    // What any source holds is not counted.
    constexpr std::int64_t kFew = 4096;
    if (resident_ <= kFew) resident_ = 0;
    check_counts(dataset, asked);
}

// A sample takes the token behind its last, too.
void TokenWindows::add(Part& part, const TokenFile& file, std::int64_t begin,
                       std::int64_t tokens) const {
    if (tokens <= steps_) return;
    part.stretches.push_back({&file, begin, tokens, part.samples});
    part.samples += (tokens - 1 - steps_) / stride_ + 1;
}

/// Cuts the training's tokens in two.
void TokenWindows::share(double test) {
    std::int64_t all = 0;
    for (const Stretch& stretch : train_.stretches)
        all += stretch.tokens;
    // The same rounding as of other types.
    const std::int64_t cut = all - std::int64_t(std::floor(double(all) * test + 1e-7));
    const std::vector<Stretch> stretches = std::exchange(train_, {}).stretches;
    std::int64_t before = 0;
    for (const Stretch& stretch : stretches) {
        const std::int64_t trained = std::clamp<std::int64_t>(cut - before, 0, stretch.tokens);
        add(train_, *stretch.file, stretch.begin, trained);
        add(test_, *stretch.file, stretch.begin + trained, stretch.tokens - trained);
        before += stretch.tokens;
    }
}

void TokenWindows::check_counts(const plan::Dataset& dataset, const Asked& asked) const {
    const std::int64_t train = source_train_samples(dataset), test = dataset.test_samples;
    const auto right = [&](std::int64_t found, std::int64_t wanted) {
        return found == wanted || (asked.counts == Counts::at_most && found < wanted);
    };
    if (asked.counts == Counts::any || (right(train_.samples, train) && right(test_.samples, test)))
        return;
    throw RunError(
        Exit::mismatch,
        fmt::format("{} makes {} training and {} test samples of {} tokens each; the plan expects "
                    "{}{} and {}",
                    path_of(dataset), train_.samples, test_.samples, steps_,
                    asked.counts == Counts::at_most ? "at most " : "", train, test),
        fmt::format("if the files are right, leave train_samples and test_samples out of the "
                    "dataset, or compile the job with --set dataset.train_samples={} --set "
                    "dataset.test_samples={}",
                    train_.samples, test_.samples));
}

const TokenWindows::Stretch& TokenWindows::stretch_of(Split split, std::int64_t index) const {
    const std::vector<Stretch>& stretches = of(split).stretches;
    const auto behind = std::upper_bound(
        stretches.begin(), stretches.end(), index,
        [](std::int64_t at, const Stretch& stretch) { return at < stretch.first_sample; });
    return *std::prev(behind);
}

void TokenWindows::load(Split split, std::int64_t index, Sample& sample) const {
    const Stretch& stretch = stretch_of(split, index);
    const std::int64_t begin = stretch.begin + (index - stretch.first_sample) * stride_;
    SampleArray& input = sample.input();
    SampleArray& target = sample.target();
    input.dims.assign(1, steps_);
    target.dims.assign(1, steps_);
    input.integers.resize(std::size_t(steps_) + 1);
    stretch.file->read(begin, input.integers);
    target.integers.assign(input.integers.begin() + 1, input.integers.end());
    input.integers.pop_back();
}

std::string TokenWindows::name_of(Split split, std::int64_t index) const {
    const Stretch& stretch = stretch_of(split, index);
    const std::int64_t begin = stretch.begin + (index - stretch.first_sample) * stride_;
    return fmt::format("{}: tokens {} to {}", stretch.file->path(), begin, begin + steps_);
}

}  // namespace dtnn::runtime
