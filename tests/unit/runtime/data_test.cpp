#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "plan/rules/local_steps.hpp"
#include "runtime/base/files.hpp"
#include "runtime/data/formats/idx.hpp"
#include "runtime/data/sampler.hpp"
#include "runtime/data/sources/digits.hpp"
#include "runtime/data/sources/mnist.hpp"
#include "runtime/data/sources/synthetic.hpp"
#include "tests/unit/runtime/archive_files.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime::data_test {
namespace {

std::string number(std::uint32_t value) {
    return {char(value >> 24), char(value >> 16), char(value >> 8), char(value)};
}

std::string idx(std::uint32_t magic, std::initializer_list<std::uint32_t> dims,
                const std::string& data) {
    std::string text = number(magic);
    for (const std::uint32_t dim : dims)
        text += number(dim);
    return text + data;
}

/// Pixels that tell samples apart.
std::string images(std::uint32_t samples) {
    std::string data(std::size_t(samples) * 784, '\0');
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = char(i / 784 * 10 + i % 7);
    return idx(0x803, {samples, 28, 28}, data);
}

std::string labels(std::uint32_t samples, char most = 9) {
    std::string data(samples, '\0');
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = char(i % std::size_t(most + 1));
    return idx(0x801, {samples}, data);
}

struct MnistFolder : TemporaryFolder {
    MnistFolder() {
        write_text(*this / "train-images-idx3-ubyte", images(20));
        write_text(*this / "train-labels-idx1-ubyte.gz", gzip(labels(20)));
        write_text(*this / "t10k-images-idx3-ubyte.gz", gzip(images(12)));
        write_text(*this / "t10k-labels-idx1-ubyte", labels(12));
    }
};

std::vector<std::uint8_t> glyph(std::uint64_t seed, Split split, std::int64_t index) {
    std::vector<std::uint8_t> pixels(kGlyphPixels);
    render_digit(seed, split, index, pixels);
    return pixels;
}

}  // namespace

TEST_CASE("an epoch's order is a pure function of seed and epoch") {
    plan::Dataset dataset;
    dataset.train_samples = 101;
    plan::Training training;
    training.seed = 5;
    Sampler sampler(dataset, training), other(dataset, training);
    const std::vector<std::int64_t> third = sampler.epoch_order(3);
    sampler.epoch_order(0);
    other.epoch_order(1);
    CHECK(sampler.epoch_order(3) == third);
    CHECK(other.epoch_order(3) == third);
    CHECK(other.epoch_order(4) != third);
    std::vector<std::int64_t> sorted = third;
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == sampler.train());
    CHECK(third != sorted);
    training.seed = 6;
    CHECK(Sampler(dataset, training).epoch_order(3) != third);
    training.shuffle = false;
    CHECK(Sampler(dataset, training).epoch_order(3) == sorted);
}

TEST_CASE("shuffling favours no place") {
    // 6 values, 6000 shuffles: each value stands at each place about 1000 times (standard deviation
    // about 29).
    plan::Dataset dataset;
    dataset.train_samples = 6;
    Sampler sampler(dataset, plan::Training{});
    int counts[6][6] = {};
    for (int epoch = 0; epoch < 6000; ++epoch) {
        const auto& order = sampler.epoch_order(epoch);
        for (int place = 0; place < 6; ++place)
            ++counts[order[std::size_t(place)]][place];
    }
    for (const auto& row : counts) {
        for (const int count : row)
            CHECK(std::abs(count - 1000) < 150);
    }
}

TEST_CASE("training and validation samples are disjoint and together all") {
    plan::Dataset dataset;
    dataset.train_samples = 90;
    dataset.validation_samples = 10;
    dataset.test_samples = 4;
    plan::Training training;
    Sampler sampler(dataset, training);
    CHECK(sampler.validation().size() == 10);
    CHECK(sampler.train().size() == 90);
    std::set<std::int64_t> all(sampler.train().begin(), sampler.train().end());
    all.insert(sampler.validation().begin(), sampler.validation().end());
    CHECK(all.size() == 100);
    CHECK(*all.begin() == 0);
    CHECK(*all.rbegin() == 99);
    CHECK(sampler.validation().back() > 9);  // drawn, not the first ten
    CHECK(Sampler(dataset, training).validation() == sampler.validation());
    CHECK(sampler.test() == std::vector<std::int64_t>{0, 1, 2, 3});
}

TEST_CASE("folds are all training samples, each in one, and alike in size") {
    for (const std::int64_t folds : {2, 3, 7, 100}) {
        std::set<std::int64_t> all;
        std::size_t least = 100, most = 0;
        for (std::int64_t fold = 1; fold <= folds; ++fold) {
            plan::Training training;
            training.k_folds = folds;
            training.fold = fold;
            plan::Dataset dataset;
            dataset.train_samples = dataset.source_train_samples = 100;
            plan::split_dataset(training, dataset);
            const Sampler sampler(dataset, training);
            least = std::min(least, sampler.validation().size());
            most = std::max(most, sampler.validation().size());
            all.insert(sampler.validation().begin(), sampler.validation().end());
            std::set<std::int64_t> both(sampler.train().begin(), sampler.train().end());
            both.insert(sampler.validation().begin(), sampler.validation().end());
            CHECK(both.size() == 100);
            CHECK(sampler.train().size() + sampler.validation().size() == 100);
        }
        CHECK(all.size() == 100);
        CHECK(most - least <= 1);
    }
    // A plan that says otherwise is refused.
    plan::Training training;
    training.k_folds = 4;
    training.fold = 4;
    plan::Dataset dataset;
    dataset.source_train_samples = 100;
    dataset.train_samples = 50;
    dataset.validation_samples = 50;
    expect_error(Exit::mismatch, {"fold 4 of 4 ends behind"}, [&] { Sampler(dataset, training); });
}

/// The one label of a sample.
int label_of(const SampleSource& source, Split split, std::int64_t index,
             std::vector<float>& pixels) {
    Sample sample;
    source.load(split, index, sample);
    REQUIRE(sample.target().integers.size() == 1);
    pixels = sample.input().floats;
    return sample.target().integers[0];
}

TEST_CASE("digits are a pure function of seed, split and index") {
    const auto first = glyph(0, Split::train, 13);
    CHECK(glyph(0, Split::train, 13) == first);
    CHECK(glyph(0, Split::train, 23) != first);
    CHECK(glyph(0, Split::test, 13) != first);
    CHECK(glyph(1, Split::train, 13) != first);

    Digits digits(0, 40, 20);
    std::vector<float> pixels(kGlyphPixels), again(kGlyphPixels);
    CHECK(label_of(digits, Split::train, 13, pixels) == 3);
    CHECK(label_of(digits, Split::train, 7, again) == 7);
    label_of(digits, Split::train, 13, again);
    CHECK(pixels == again);
    CHECK(pixels[300] == float(first[300]) / 255.0f);
    CHECK(digits.size(Split::test) == 20);
}

TEST_CASE("every digit has ink inside and an empty border") {
    for (std::int64_t index = 0; index < 200; ++index) {
        CAPTURE(index);
        const auto pixels = glyph(3, Split::train, index);
        const auto ink = std::count_if(pixels.begin(), pixels.end(),
                                       [](std::uint8_t value) { return value > 128; });
        CHECK(ink > 25);
        CHECK(ink < 400);
    }
}

TEST_CASE("synthetic samples are pure, balanced, in range, and differ by class") {
    Synthetic source({3, 5, 7}, 4, {}, 9, 100, 50);
    std::vector<float> a(105), b(105), means(4 * 105);
    CHECK(label_of(source, Split::train, 6, a) == 2);
    label_of(source, Split::train, 5, b);
    CHECK(a != b);
    label_of(source, Split::test, 6, b);
    CHECK(a != b);
    Synthetic same({3, 5, 7}, 4, {}, 9, 100, 50);
    label_of(same, Split::train, 6, b);
    CHECK(a == b);
    for (std::int64_t i = 0; i < 400; ++i) {
        const int label = label_of(source, Split::train, i, a);
        for (std::size_t p = 0; p < a.size(); ++p) {
            REQUIRE((a[p] >= 0.0f && a[p] <= 1.0f));
            means[std::size_t(label) * 105 + p] += a[p] / 100.0f;
        }
    }
    float distance = 0;
    for (std::size_t p = 0; p < 105; ++p)
        distance += std::abs(means[p] - means[105 + p]);
    CHECK(distance / 105 > 0.05f);
}

TEST_CASE("synthetic samples with a class for every pixel have the light of each cell's class") {
    Synthetic source({1, 8, 12}, 3, {8, 12}, 9, 100, 50);
    Sample a, b;
    const std::vector<std::int32_t>& labels = a.target().integers;
    std::vector<double> light(3), count(3);
    for (std::int64_t i = 0; i < 100; ++i) {
        source.load(Split::train, i, a);
        for (std::size_t p = 0; p < 96; ++p) {
            REQUIRE((labels[p] >= 0 && labels[p] < 3));
            CHECK(labels[p] == labels[p / 24 * 24 + p % 12 / 3 * 3]);  // cells of 2x3 pixels
            light[std::size_t(labels[p])] += a.input().floats[p],
                count[std::size_t(labels[p])] += 1;
        }
    }
    for (std::size_t c = 0; c < 3; ++c) {
        CHECK(count[c] > 2000);
        light[c] /= count[c];
    }
    CHECK(std::abs(light[0] - light[1]) + std::abs(light[1] - light[2]) > 0.02);
    source.load(Split::train, 3, a);
    source.load(Split::train, 3, b);
    CHECK((a.input().floats == b.input().floats && a.target().integers == b.target().integers));
    source.load(Split::test, 3, b);
    CHECK(a.target().integers != b.target().integers);
}

TEST_CASE("mnist reads raw and gzip files") {
    const MnistFolder folder;
    Mnist mnist(folder.path(), 20, 12);
    CHECK(mnist.size(Split::train) == 20);
    CHECK(mnist.size(Split::test) == 12);
    std::vector<float> pixels(784);
    CHECK(label_of(mnist, Split::train, 12, pixels) == 2);
    CHECK(pixels[5] == doctest::Approx(125.0 / 255));
    CHECK(label_of(mnist, Split::test, 11, pixels) == 1);
}

TEST_CASE("mnist names file, fact and remedy") {
    const auto open = [](const TemporaryFolder& folder, std::int64_t train = 20) {
        return [&folder, train] { const Mnist mnist(folder.path(), train, 12); };
    };
    SUBCASE("no folder") {
        expect_error(Exit::failed, {"no/such/folder", "dataset.path"},
                     [] { const Mnist mnist("no/such/folder", 1, 1); });
    }
    SUBCASE("no file") {
        const TemporaryFolder folder;
        expect_error(Exit::failed, {"train-images-idx3-ubyte", ".gz", "dataset.path"},
                     open(folder));
    }
    SUBCASE("wrong count") {
        const MnistFolder folder;
        expect_error(Exit::mismatch, {"train-images", "20 samples", "21", "train_samples"},
                     open(folder, 21));
        // Packed, and of more samples than the plan has.
        expect_error(Exit::mismatch, {"t10k-images", "12 samples", "11", "test_samples"},
                     [&] { const Mnist mnist(folder.path(), 20, 11); });
    }
    SUBCASE("truncated") {
        const MnistFolder folder;
        write_text(folder / "train-images-idx3-ubyte", images(20).substr(0, 9000));
        expect_error(Exit::failed, {"train-images", "9000 bytes", "15696"}, open(folder));
        write_text(folder / "train-images-idx3-ubyte", images(20).substr(0, 10));
        expect_error(Exit::failed, {"train-images", "cut off in its header"}, open(folder));
        write_text(folder / "train-images-idx3-ubyte", "");
        expect_error(Exit::failed, {"train-images", "0 bytes"}, open(folder));
    }
    SUBCASE("too long") {
        const MnistFolder folder;
        write_text(folder / "train-images-idx3-ubyte", images(20) + "x");
        expect_error(Exit::failed, {"15697 bytes"}, open(folder));
    }
    SUBCASE("wrong magic") {
        const MnistFolder folder;
        write_text(folder / "train-images-idx3-ubyte", labels(20));
        expect_error(Exit::failed, {"magic number", "0x00000801", "0x00000803"}, open(folder));
    }
    SUBCASE("wrong size of samples") {
        const MnistFolder folder;
        write_text(folder / "train-images-idx3-ubyte",
                   idx(0x803, {20, 28, 32}, std::string(20 * 28 * 32, 'x')));
        expect_error(Exit::failed, {"32 columns", "28"}, open(folder));
    }
    SUBCASE("label out of range") {
        const MnistFolder folder;
        write_text(folder / "t10k-labels-idx1-ubyte", labels(12, 10));
        expect_error(Exit::failed, {"t10k-labels", "sample 10 is 10"}, open(folder));
    }
    SUBCASE("corrupt gzip") {
        const MnistFolder folder;
        const std::string good = gzip(images(12));
        write_text(folder / "t10k-images-idx3-ubyte.gz", good.substr(0, good.size() / 2));
        expect_error(Exit::failed, {"t10k-images", "cut off"}, open(folder));
        std::string bad = good;
        for (std::size_t i = 20; i < 40; ++i)
            bad[i] = char(0xFF);
        write_text(folder / "t10k-images-idx3-ubyte.gz", bad);
        expect_error(Exit::failed, {"t10k-images.", "corrupt"},
                     [&] { gunzip(bad, 100000, "t10k-images."); });
        bad = good;
        bad[bad.size() - 6] = char(bad[bad.size() - 6] ^ 1);  // in the checksum
        write_text(folder / "t10k-images-idx3-ubyte.gz", bad);
        expect_error(Exit::failed, {"t10k-images", "corrupt"}, open(folder));
        write_text(folder / "t10k-images-idx3-ubyte.gz", "not gzip at all");
        expect_error(Exit::failed, {"t10k-images", "corrupt"}, open(folder));
        write_text(folder / "t10k-images-idx3-ubyte.gz", good + "more");
        expect_error(Exit::failed, {"4 bytes follow"}, open(folder));
        write_text(folder / "t10k-images-idx3-ubyte.gz", gzip(std::string(1 << 20, 'x')));
        expect_error(Exit::failed, {"t10k-images", "magic number"}, open(folder));
    }
}

TEST_CASE("a dataset that does not fit the plan is refused") {
    plan::Dataset dataset;
    dataset.name = "d";
    dataset.type = "digits";
    dataset.input().dims = {3, 32, 32};
    dataset.target().classes = 10;
    dataset.train_samples = 5;
    expect_error(Exit::mismatch, {"[3,32,32]", "[1,28,28]"}, [&] { open_source(dataset); });
    dataset.type = "pictures";
    expect_error(Exit::mismatch, {"pictures", "digits, mnist"}, [&] { open_source(dataset); });
    dataset.type = "mnist";
    dataset.input().dims = {1, 28, 28};
    expect_error(Exit::mismatch, {"path"}, [&] { open_source(dataset); });
    CHECK(made_up_source(dataset)->size(Split::train) == 5);
}

}  // namespace dtnn::runtime::data_test
