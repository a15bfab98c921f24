// Samples out of streams of tokens: what each reads, and the token that follows each step.

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <numeric>
#include <vector>

#include "runtime/data/find_in_files.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sources/grammar.hpp"
#include "tests/data/dataset_files.hpp"
#include "tests/unit/runtime/expect_error.hpp"

namespace tokens_test {

using namespace dtnn;
using namespace dtnn::runtime;

namespace {

using Tokens = std::vector<std::int32_t>;

struct Opened {
    explicit Opened(DatasetFiles files) {
        files.write(folder);
        source = open_source(files.dataset);
    }
    /// A sample's tokens and, behind them, the class of its last step.
    Tokens tokens(Split split, std::int64_t index) const {
        Sample sample;
        source->load(split, index, sample);
        Tokens all = sample.input().integers;
        const Tokens& classes = sample.target().integers;
        CHECK(sample.input().dims == Dims{std::int64_t(all.size())});
        CHECK(sample.target().dims == Dims{std::int64_t(classes.size())});
        for (std::size_t i = 0; i + 1 < all.size(); ++i)
            CHECK(classes[i] == all[i + 1]);
        all.push_back(classes.back());
        return all;
    }

    TemporaryFolder folder;
    std::unique_ptr<SampleSource> source;
};

}  // namespace

TEST_CASE("a text is stretches of characters, and no sample reads of two documents") {
    const Opened text(text_files());
    REQUIRE(text.source->size(Split::train) == 6);
    CHECK(text.tokens(Split::train, 0) == Tokens{1, 2, 3, 4, 0});
    CHECK(text.tokens(Split::train, 1) == Tokens{0, 5, 6, 7, 1});
    CHECK(text.tokens(Split::train, 3) == Tokens{6, 5, 4, 3, 2});
    CHECK(text.tokens(Split::test, 1) == Tokens{2, 0, 1, 7, 0});
    CHECK(text.source->class_names().back() == "\u00fc");
    CHECK(text.source->name_of(Split::train, 4).ends_with("b.txt: tokens 4 to 8"));
}

TEST_CASE("a text says its characters, and how many samples it has") {
    DatasetFiles files = text_files();
    const TemporaryFolder folder;
    files.write(folder);
    plan::Dataset bare = files.dataset;
    bare.target().names.clear();
    bare.target().classes = bare.train_samples = bare.source_train_samples = bare.test_samples = 0;
    find_in_files(bare);
    CHECK(bare.target().names == files.dataset.target().names);
    CHECK(bare.target().classes == 8);
    CHECK(bare.train_samples == 6);
    CHECK(bare.test_samples == 2);
}

TEST_CASE("a text of bytes, a stride, and a share for the test, which is the text's end") {
    DatasetFiles files = text_files();
    files.set("unit", std::string("byte"));
    files.set("stride", std::int64_t{1});
    files.set("test_share", 0.25);
    files.dataset.attributes.erase("test_path");
    files.dataset.target().names.clear();
    files.dataset.target().classes = 256;
    // 14 and 13 bytes, of which 6 are the test's: 7 of the second document are trained on.
    files.dataset.train_samples = files.dataset.source_train_samples = 10 + 3;
    files.dataset.test_samples = 2;
    const Opened text(files);
    CHECK(text.tokens(Split::train, 1) == Tokens{'b', 'c', 'd', ' ', 'e'});
    CHECK(text.tokens(Split::train, 10) == Tokens{'f', 'e', 'd', 'c', 'b'});
    CHECK(text.tokens(Split::test, 0) == Tokens{'f', 'e', 'd', 'c', 'b'});
    CHECK(text.tokens(Split::test, 1) == Tokens{'e', 'd', 'c', 'b', 'a'});
}

TEST_CASE("places far inside of a text of characters of one to four bytes are found") {
    DatasetFiles files = text_files();
    const std::vector<std::string> letters = {"a", "\u00fc", "\u20ac", "\U0001F600"};
    std::string text;
    constexpr std::int64_t kCharacters = 30'001;
    for (std::int64_t i = 0; i < kCharacters; ++i)
        text += letters[std::size_t(i * i % 7 % 4)];
    files.files = {{"d/a.txt", text}, {"test.txt", "aaaaaaaaa"}};
    files.dataset.target().names = letters;
    files.dataset.target().classes = 4;
    files.dataset.train_samples = files.dataset.source_train_samples = (kCharacters - 1) / 4;
    const Opened source(files);
    for (std::int64_t sample = 0; sample < source.source->size(Split::train); ++sample) {
        Tokens wanted;
        for (std::int64_t i = 4 * sample; i <= 4 * sample + 4; ++i)
            wanted.push_back(std::int32_t(i * i % 7 % 4));
        CHECK(source.tokens(Split::train, sample) == wanted);
    }
}

TEST_CASE("a text that changes under a run is noticed") {
    const Opened text(text_files());
    std::ofstream(text.folder / "d/a.txt") << "ABCD EFGHIJKLM";
    Sample sample;
    expect_error(Exit::failed, {"a.txt", "it is not the text that it was"},
                 [&] { text.source->load(Split::train, 0, sample); });
}

TEST_CASE("stored tokens are read as they lie, without a header or in an .npy") {
    const Opened flat(token_files());
    CHECK(flat.tokens(Split::train, 4) == Tokens{32, 34, 36, 38, 40});
    DatasetFiles files = token_files();
    files.set("path", std::string("train.npy"));
    std::vector<std::int32_t> numbers(22);
    std::iota(numbers.begin(), numbers.end(), 7);
    files.files["train.npy"] = npy("<i4", "(22,)", bytes_of(numbers));
    const Opened array(files);
    CHECK(array.tokens(Split::train, 4) == Tokens{23, 24, 25, 26, 27});
}

TEST_CASE("the grammar's words come as often as its least loss says") {
    constexpr std::int64_t kSteps = 32, kSamples = 4000;
    const Grammar grammar(kSteps, 3, kSamples, 10);
    CHECK(grammar.class_names().size() == 40);
    // Words behind words: their entropy is above that of words behind all that stands before them.
    std::vector<double> pairs(1600), words(40);
    Sample sample;
    for (std::int64_t i = 0; i < kSamples; ++i) {
        grammar.load(Split::train, i, sample);
        CHECK(sample.input().integers[0] == 0);
        for (std::size_t step = 0; step < std::size_t(kSteps); ++step) {
            const auto from = std::size_t(sample.input().integers[step]);
            pairs[from * 40 + std::size_t(sample.target().integers[step])] += 1;
            words[from] += 1;
        }
    }
    double entropy = 0;
    for (std::size_t k = 0; k < pairs.size(); ++k)
        if (pairs[k] > 0)
            entropy -= pairs[k] / double(kSteps * kSamples) * std::log(pairs[k] / words[k / 40]);
    const double least = least_grammar_loss(kSteps);
    CAPTURE(least);
    CHECK(least < entropy);
    CHECK(least > 0.8 * entropy);
}

}  // namespace tokens_test
