#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "runtime/data/sampler.hpp"
#include "tests/unit/runtime/expect_error.hpp"

namespace dtnn::runtime::sampling_test {
namespace {

plan::Dataset dataset_of(std::int64_t source, std::int64_t validation, std::int64_t epoch) {
    plan::Dataset dataset;
    dataset.name = "made_up";
    dataset.source_train_samples = source;
    dataset.validation_samples = validation;
    dataset.train_samples = epoch;
    dataset.test_samples = 20;
    return dataset;
}

plan::Training training_of(std::uint64_t seed, bool shuffle = true) {
    plan::Training training;
    training.seed = seed;
    training.shuffle = shuffle;
    return training;
}

/// How often each sample is in an order, and with which occurrences.
std::map<std::int64_t, std::set<std::int64_t>> sightings(const std::vector<std::int64_t>& order,
                                                         std::int64_t source) {
    std::map<std::int64_t, std::set<std::int64_t>> result;
    for (const std::int64_t element : order)
        CHECK(result[element % source].insert(element / source).second);
    return result;
}

}  // namespace

// PyDTNN's later versions shuffled the training and the validation samples together before every
// epoch and took the first part: validation samples were trained on.
TEST_CASE("no epoch ever sees a sample of the validation, whatever the percentage") {
    for (const std::int64_t epoch_samples : {17, 80, 200}) {
        Sampler sampler(dataset_of(100, 20, epoch_samples), training_of(5));
        const std::set<std::int64_t> validation(sampler.validation().begin(),
                                                sampler.validation().end());
        CHECK(validation.size() == 20);
        CHECK(sampler.validation_split() == Split::train);
        std::set<std::int64_t> seen;
        for (std::int64_t epoch = 0; epoch < 30; ++epoch) {
            for (const std::int64_t element : sampler.epoch_order(epoch))
                seen.insert(element % 100);
        }
        for (const std::int64_t index : validation)
            CHECK(!seen.contains(index));
        CHECK(seen.size() == 80);  // over the epochs, all others are
    }
}

TEST_CASE("the test samples can be the validation, and take nothing from the training") {
    plan::Dataset dataset = dataset_of(100, 20, 100);
    dataset.test_as_validation = true;
    Sampler sampler(dataset, training_of(5));
    CHECK(sampler.validation_split() == Split::test);
    CHECK(sampler.validation() == sampler.test());
    CHECK(sampler.train().size() == 100);
    CHECK(sampler.epoch_order(0).size() == 100);
}

// PyDTNN's over-sampling read a generator that had ended, so that there were never more samples.
TEST_CASE("above a hundred percent every sample comes as often as any other, give or take one") {
    Sampler sampler(dataset_of(40, 0, 100), training_of(3));
    std::map<std::int64_t, int> third;  // how often a sample had a third sighting
    for (std::int64_t epoch = 0; epoch < 200; ++epoch) {
        const auto& order = sampler.epoch_order(epoch);
        CHECK(order.size() == 100);
        const auto seen = sightings(order, 40);
        CHECK(seen.size() == 40);
        for (const auto& [index, occurrences] : seen) {
            CHECK((occurrences == std::set<std::int64_t>{0, 1} ||
                   occurrences == std::set<std::int64_t>{0, 1, 2}));
            third[index] += occurrences.size() == 3;
        }
    }
    // One half of 200 epochs each, within more than five standard deviations.
    for (const auto& [index, count] : third)
        CHECK(std::abs(count - 100) < 40);
    // They are mixed, not one time after the other.
    const auto& order = sampler.epoch_order(0);
    CHECK(std::count_if(order.begin(), order.begin() + 40, [](auto i) { return i >= 40; }) > 5);
}

TEST_CASE("below a hundred percent every epoch sees another part") {
    Sampler sampler(dataset_of(1000, 0, 100), training_of(3));
    const std::vector<std::int64_t> first = sampler.epoch_order(0);
    const std::vector<std::int64_t> second = sampler.epoch_order(1);
    CHECK(std::set<std::int64_t>(first.begin(), first.end()).size() == 100);
    std::vector<std::int64_t> a = first, b = second, both;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    CHECK(both.size() < 30);  // ten are expected
    CHECK(sampler.epoch_order(0) == first);
    CHECK(Sampler(dataset_of(1000, 0, 100), training_of(4)).epoch_order(0) != first);
}

TEST_CASE("without shuffling the order rises") {
    Sampler sampler(dataset_of(10, 0, 25), training_of(3, false));
    const auto& order = sampler.epoch_order(7);
    CHECK(std::is_sorted(order.begin(), order.end()));
    CHECK(order[9] == 9);
    CHECK(order[19] == 19);
    CHECK(order[20] >= 20);
}

TEST_CASE("a plan that keeps more samples than there are is refused") {
    expect_error(Exit::mismatch, {"keeps 100 of 100"},
                 [] { Sampler(dataset_of(100, 100, 10), training_of(1)); });
}

}  // namespace dtnn::runtime::sampling_test
