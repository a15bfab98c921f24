#include "runtime/data/sources/grammar.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>

#include "kernels/philox.hpp"
#include "runtime/data/formats/content_hash.hpp"
#include "runtime/data/sources/source_type.hpp"

namespace dtnn::runtime {
namespace {

namespace philox = kernels::philox;

constexpr std::array<const char*, 40> kWords = {
    ".",      "the",   "a",        "some",   "that",   "old",    "young",  "small",
    "grey",   "cat",   "dog",      "bird",   "child",  "judge",  "baker",  "cats",
    "dogs",   "birds", "children", "judges", "bakers", "sees",   "hears",  "follows",
    "greets", "see",   "hear",     "follow", "greet",  "sleeps", "laughs", "waits",
    "runs",   "sleep", "laugh",    "wait",   "run",    "today",  "often",  "here"};

/// WordKind of one kind, which follow one another.
struct WordKind {
    int first, count;
};
constexpr WordKind kFullStop{0, 1}, kThe{1, 1}, kA{2, 1}, kSome{3, 1}, kThat{4, 1},
    kAdjectives{5, 4};
constexpr WordKind kAdverbs{37, 3};
/// Of the number: 0 one, 1 several.
constexpr WordKind nouns(int number) {
    return {9 + 6 * number, 6};
}
/// Verbs with an object, and without.
constexpr WordKind transitive(int number) {
    return {21 + 4 * number, 4};
}
constexpr WordKind intransitive(int number) {
    return {29 + 4 * number, 4};
}

enum class WordPlace : std::uint8_t {
    article,      ///< a noun's beginning
    description,  ///< behind its article: an adjective or the noun
    noun,
    behind_noun,
    clause,       ///< behind "that"
    behind_verb,  ///< without an object
    end,          ///< behind an adverb
};
enum class NounRole : std::uint8_t { subject, object, object_of_clause };

/// What decides which words may follow, and how likely they are.
struct WordState {
    WordPlace place = WordPlace::article;
    NounRole role = NounRole::subject;  ///< of the noun
    int number = 2;                     ///< of the noun; 2: its article does not say it
    int outer = 0;                      ///< of the sentence's subject, within a clause
    bool operator<(const WordState& other) const {
        return std::tie(place, role, number, outer) <
               std::tie(other.place, other.role, other.number, other.outer);
    }
};

/// One of the words, each as likely as the others of the kind, and what comes behind it.
struct WordChoice {
    WordKind words;
    int weight;  ///< of all of the words, in 100
    WordState next;
};

std::vector<WordChoice> behind_noun(const WordState& state) {
    constexpr WordState kObject{WordPlace::article, NounRole::object};
    const auto verbs = [&](int number, int with, int without) -> std::vector<WordChoice> {
        return {{transitive(number), with, kObject},
                {intransitive(number), without, {WordPlace::behind_verb}}};
    };
    if (state.role == NounRole::object)
        return {{kFullStop, 70, {}}, {kAdverbs, 30, {WordPlace::end}}};
    if (state.role == NounRole::object_of_clause) return verbs(state.outer, 64, 36);
    std::vector<WordChoice> choices = verbs(state.number, 48, 27);
    choices.push_back({kThat, 25, {WordPlace::clause, state.role, state.number}});
    return choices;
}

std::vector<WordChoice> choices_of(const WordState& state) {
    const auto to = [&](WordPlace place, int number) {
        return WordState{place, state.role, number, state.outer};
    };
    const auto with_noun = [&](int weight) -> std::vector<WordChoice> {
        if (state.number < 2)
            return {{nouns(state.number), weight, to(WordPlace::behind_noun, state.number)}};
        return {{nouns(0), weight / 2, to(WordPlace::behind_noun, 0)},
                {nouns(1), weight / 2, to(WordPlace::behind_noun, 1)}};
    };
    switch (state.place) {
        case WordPlace::article:
            return {{kThe, 50, to(WordPlace::description, 2)},
                    {kA, 25, to(WordPlace::description, 0)},
                    {kSome, 25, to(WordPlace::description, 1)}};
        case WordPlace::description: {
            std::vector<WordChoice> choices = with_noun(60);
            choices.push_back({kAdjectives, 40, to(WordPlace::noun, state.number)});
            return choices;
        }
        case WordPlace::noun:
            return with_noun(100);
        case WordPlace::behind_noun:
            return behind_noun(state);
        case WordPlace::clause:
            return {{transitive(state.number),
                     100,
                     {WordPlace::article, NounRole::object_of_clause, 2, state.number}}};
        case WordPlace::behind_verb:
            return {{kFullStop, 55, {}}, {kAdverbs, 45, {WordPlace::end}}};
        case WordPlace::end:
            return {{kFullStop, 100, {}}};
    }
    return {};
}

/// The word that is drawn, and the state behind it.
int draw_word(WordState& state, const philox::Block& drawn) {
    auto left = int(philox::below(drawn[0], drawn[1], 100));
    for (const WordChoice& choice : choices_of(state)) {
        left -= choice.weight;
        if (left >= 0) continue;
        state = choice.next;
        return choice.words.first +
               int(philox::below(drawn[2], drawn[3], std::uint64_t(choice.words.count)));
    }
    return 0;
}

}  // namespace

void Grammar::load(Split split, std::int64_t index, Sample& sample) const {
    const std::uint64_t key =
        philox::key_of(seed_, philox::Purpose::data, split == Split::train ? 0 : 1);
    SampleArray& input = sample.input();
    SampleArray& target = sample.target();
    input.dims.assign(1, steps_);
    target.dims.assign(1, steps_);
    input.integers.resize(std::size_t(steps_));
    target.integers.resize(std::size_t(steps_));
    WordState state;
    std::int32_t word = 0;  // the end of the sentence before
    for (std::int64_t step = 0; step < steps_; ++step) {
        input.integers[std::size_t(step)] = word;
        word = draw_word(state, philox::block(key, std::uint64_t(index), std::uint64_t(step)));
        target.integers[std::size_t(step)] = word;
    }
}

std::uint64_t Grammar::content_hash() const {
    ContentHash hash;
    hash.add("grammar").add(seed_).add(std::uint64_t(steps_));
    hash.add(std::uint64_t(train_samples_)).add(std::uint64_t(test_samples_));
    for (const char* word : kWords)
        hash.add(word);
    return hash.value();
}

std::vector<std::string> Grammar::class_names() const {
    return {kWords.begin(), kWords.end()};
}

std::vector<std::string> Grammar::notes() const {
    return {
        fmt::format("the least loss that any network can have on the words of the dataset is "
                    "{:.4f}, which is a perplexity of {:.3f}",
                    least_grammar_loss(steps_), std::exp(least_grammar_loss(steps_)))};
}

double least_grammar_loss(std::int64_t steps) {
    std::map<WordState, double> shares = {{WordState{}, 1.0}};
    double sum = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
        std::map<WordState, double> next;
        for (const auto& [state, share] : shares)
            for (const WordChoice& choice : choices_of(state)) {
                const double likely = choice.weight / 100.0;
                sum -= share * likely * std::log(likely / choice.words.count);
                next[choice.next] += share * likely;
            }
        shares = std::move(next);
    }
    return steps > 0 ? sum / double(steps) : 0;
}

SourceType grammar_source() {
    return {.open = [](const plan::Dataset& dataset, const Asked&) -> Source {
        const auto steps = attribute<std::int64_t>(dataset, "steps");
        check_fixed(dataset, {steps}, std::int64_t(kWords.size()));
        return std::make_unique<Grammar>(steps, seed_of(dataset), source_train_samples(dataset),
                                         dataset.test_samples);
    }};
}

}  // namespace dtnn::runtime
