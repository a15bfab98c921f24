// Suggestions over the names that specs are written with: misspellings as people make them, and
// words that are no misspelling of anything.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "compiler/support/diagnostics.hpp"
#include "tests/unit/frontend/misspellings.hpp"

namespace suggestions_test {

using namespace dtnn::compiler;

TEST_CASE("the first suggestion for a misspelt name is right") {
    int count = 0, right = 0;
    std::string wrong;
    for (const MisspelledSet& set : misspelled_sets()) {
        for (const Misspelling& one : set.cases) {
            REQUIRE_MESSAGE(
                std::find(set.words.begin(), set.words.end(), one.right) != set.words.end(),
                one.right << " is not among the " << set.name);
            REQUIRE_MESSAGE(
                std::find(set.words.begin(), set.words.end(), one.wrong) == set.words.end(),
                one.wrong << " is a name");
            const std::string said = did_you_mean(one.wrong, set.words).value_or("nothing");
            ++count;
            if (said == one.right)
                ++right;
            else
                wrong +=
                    fmt::format("\n  {}: {} for {}, not {}", set.name, said, one.wrong, one.right);
        }
    }
    INFO(count << " misspellings, wrong:" << wrong);
    CHECK_GE(count, 150);
    CHECK_GE(right * 100, count * 95);
}

TEST_CASE("nonsense gets no suggestion") {
    const char* const nonsense[] = {
        "mmmm",        "rhythm",  "seq2seq",  "xyz",    "foo",        "bar",     "qux",
        "x",           "q",       "123",      "42",     "aaaaaaaa",   "banana",  "zebra",
        "qwertz",      "hello",   "world",    "python", "kubernetes", "blah",    "whatever",
        "asdf",        "fghjk",   "___",      "-",      "wurst",      "giraffe", "tokenizer",
        "beam_search", "speech",  "quantum",  "boiler", "vocabulary", "mpi",     "cuda",
        "xyzzy",       "kiwi",    "jjjj",     "ooo",    "hidden",     "encoder", "decoder",
        "voxel",       "cluster", "gradient", "tensor", "backbone",   "query",   "wavelet",
        "fourier",     "spline",  "monday",   "thing",  "stuff",      "todo",    "pytorch",
        "keras",       "gpu0",    "ffff",     "v2",     "final",      "young",   "new",
        "recurrent"};
    std::string wrong;
    int count = 0;
    for (const MisspelledSet& set : misspelled_sets())
        for (const char* word : nonsense) {
            ++count;
            if (const auto said = did_you_mean(word, set.words))
                wrong += fmt::format("\n  {}: {} for {}", set.name, *said, word);
        }
    CHECK_MESSAGE(wrong.empty(), wrong);
    CHECK_GT(count, 500);
}

}  // namespace suggestions_test
