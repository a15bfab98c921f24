#include "runtime/data/vocabulary/vocabulary_trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/base/signals.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::size_t kMostPieces = std::size_t{1} << 25;

/// Bytes in the order of their letters.
std::vector<int> bytes_by_letter() {
    const std::array<unsigned, 256> letters = letters_of_bytes();
    std::vector<int> bytes(letters.size());
    std::iota(bytes.begin(), bytes.end(), 0);
    std::sort(bytes.begin(), bytes.end(),
              [&](int a, int b) { return letters[std::size_t(a)] < letters[std::size_t(b)]; });
    return bytes;
}

Vocabulary rules_for(const std::vector<std::string>& added) {
    Vocabulary rules;
    rules.path = "a vocabulary";
    rules.rules.push_back({byte_level_expression()});
    for (const std::string& token : added) {
        rules.added.push_back(std::int32_t(rules.tokens.size()));
        rules.tokens.push_back(token);
    }
    return rules;
}

struct Word {
    std::vector<std::int32_t> tokens;
    std::int64_t count;  ///< places in the text
};

struct Pair {
    std::int32_t left, right;
    bool operator==(const Pair&) const = default;
};
struct PairHash {
    std::size_t operator()(const Pair& pair) const {
        return std::hash<std::uint64_t>()(std::uint64_t(std::uint32_t(pair.left)) << 32 |
                                          std::uint32_t(pair.right));
    }
};

/// How often two tokens stand together, and in which words.
struct PairPlaces {
    std::int64_t count = 0;
    std::vector<std::int32_t> words;  ///< those that have it, and some that had it
};

struct Best {
    std::int64_t count;
    Pair pair;
    bool operator<(const Best& other) const {
        return std::tie(count, other.pair.left, other.pair.right) <
               std::tie(other.count, pair.left, pair.right);
    }
};

class Learner {
  public:
    explicit Learner(const std::unordered_map<std::string, std::int64_t>& counts) {
        std::array<std::int32_t, 256> token_of{};
        for (const int byte : bytes_by_letter()) {
            token_of[std::size_t(byte)] = std::int32_t(learned_.tokens.size());
            learned_.tokens.emplace_back(1, char(byte));
        }
        for (std::size_t i = 0; i < learned_.tokens.size(); ++i)
            numbers_.emplace(learned_.tokens[i], std::int32_t(i));
        words_.reserve(counts.size());
        for (const auto& [text, count] : counts) {
            Word& word = words_.emplace_back(Word{{}, count});
            for (const char c : text)
                word.tokens.push_back(token_of[std::uint8_t(c)]);
            for (std::size_t i = 0; i + 1 < word.tokens.size(); ++i)
                change({word.tokens[i], word.tokens[i + 1]}, std::int32_t(words_.size() - 1), 1);
        }
        push_changed();
    }

    LearnedPairs learn(std::int64_t size, std::int64_t least) {
        while (std::int64_t(learned_.tokens.size()) < size && !best_.empty()) {
            const Best best = best_.top();
            best_.pop();
            PairPlaces& places = pairs_.at(best.pair);
            if (best.count != places.count) {
                if (places.count > 0) best_.push({places.count, best.pair});
                continue;
            }
            if (best.count < least) break;
            if (stop_requested() != 0)
                throw RunError(Exit::interrupted, "stopped; no vocabulary was written");
            merge(best.pair, std::vector(std::move(places.words)));
        }
        return std::move(learned_);
    }

  private:
    std::int32_t number_of(const std::string& bytes) {
        const auto [found, fresh] = numbers_.emplace(bytes, std::int32_t(learned_.tokens.size()));
        if (fresh) learned_.tokens.push_back(bytes);
        return found->second;
    }

    void change(Pair pair, std::int32_t word, std::int64_t by) {
        PairPlaces& places = pairs_[pair];
        places.count += by * words_[std::size_t(word)].count;
        if (by < 0) return;
        if (places.words.empty() || places.words.back() != word) places.words.push_back(word);
        changed_.push_back(pair);
    }

    void push_changed() {
        std::sort(changed_.begin(), changed_.end(), [](const Pair& a, const Pair& b) {
            return std::tie(a.left, a.right) < std::tie(b.left, b.right);
        });
        changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
        for (const Pair& pair : changed_)
            if (const std::int64_t count = pairs_.at(pair).count; count > 0)
                best_.push({count, pair});
        changed_.clear();
    }

    void merge(Pair pair, const std::vector<std::int32_t>& words) {
        const std::int32_t made = number_of(learned_.tokens[std::size_t(pair.left)] +
                                            learned_.tokens[std::size_t(pair.right)]);
        learned_.merges.push_back({pair.left, pair.right});
        for (const std::int32_t word : words)
            merge_in(word, pair, made);
        pairs_.at(pair) = {};
        push_changed();
    }

    void merge_in(std::int32_t number, Pair pair, std::int32_t made) {
        std::vector<std::int32_t>& tokens = words_[std::size_t(number)].tokens;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const bool here =
                tokens[i] == pair.left && i + 1 < tokens.size() && tokens[i + 1] == pair.right;
            if (!here) {
                tokens[kept++] = tokens[i];
                continue;
            }
            if (kept > 0) {
                change({tokens[kept - 1], pair.left}, number, -1);
                change({tokens[kept - 1], made}, number, 1);
            }
            if (i + 2 < tokens.size()) {
                change({pair.right, tokens[i + 2]}, number, -1);
                change({made, tokens[i + 2]}, number, 1);
            }
            tokens[kept++] = made;
            ++i;
        }
        tokens.resize(kept);
    }

    LearnedPairs learned_;
    std::unordered_map<std::string, std::int32_t> numbers_;
    std::vector<Word> words_;
    std::unordered_map<Pair, PairPlaces, PairHash> pairs_;
    std::priority_queue<Best> best_;
    std::vector<Pair> changed_;
};

}  // namespace

VocabularyTrainer::VocabularyTrainer(std::vector<std::string> added)
    : added_(std::move(added)), rules_(rules_for(added_)), pieces_(rules_) {}

void VocabularyTrainer::piece(std::string_view text) {
    ++counts_[std::string(text)];
    if (counts_.size() > kMostPieces)
        throw RunError(Exit::failed,
                       fmt::format("the text has more than {} different words",
                                   grouped(std::int64_t(kMostPieces))),
                       "train on a part of it: a vocabulary of words that are common needs no "
                       "more");
}

LearnedPairs VocabularyTrainer::train(std::int64_t size, std::int64_t least) {
    Learner learner(counts_);
    counts_.clear();
    LearnedPairs learned = learner.learn(size - std::int64_t(added_.size()), least);
    learned.added = added_.size();
    learned.tokens.insert(learned.tokens.end(), added_.begin(), added_.end());
    return learned;
}

std::string huggingface_text(const LearnedPairs& learned) {
    const std::array<unsigned, 256> letters = letters_of_bytes();
    const auto lettered = [&](const std::string& bytes) {
        std::string text;
        for (const char byte : bytes)
            text += utf8_of(letters[std::uint8_t(byte)]);
        return text;
    };
    const std::size_t pairs_end = learned.tokens.size() - learned.added;
    Json vocabulary = Json::object(), merges = Json::array(), added = Json::array();
    for (std::size_t i = 0; i < pairs_end; ++i)
        add_member(vocabulary, lettered(learned.tokens[i]), std::int64_t(i));
    for (std::size_t i = pairs_end; i < learned.tokens.size(); ++i)
        added.push_back({{"id", std::int64_t(i)},
                         {"content", learned.tokens[i]},
                         {"single_word", false},
                         {"lstrip", false},
                         {"rstrip", false},
                         {"normalized", false},
                         {"special", true}});
    for (const LearnedPairs::Merge& merge : learned.merges)
        merges.push_back(fmt::format("{} {}", lettered(learned.tokens[std::size_t(merge.left)]),
                                     lettered(learned.tokens[std::size_t(merge.right)])));
    const Json byte_level = {{"type", "ByteLevel"},
                             {"add_prefix_space", false},
                             {"trim_offsets", true},
                             {"use_regex", true}};
    const Json file = {{"version", "1.0"},
                       {"truncation", nullptr},
                       {"padding", nullptr},
                       {"added_tokens", std::move(added)},
                       {"normalizer", nullptr},
                       {"pre_tokenizer", byte_level},
                       {"post_processor", nullptr},
                       {"decoder", byte_level},
                       {"model",
                        {{"type", "BPE"},
                         {"dropout", nullptr},
                         {"unk_token", nullptr},
                         {"continuing_subword_prefix", nullptr},
                         {"end_of_word_suffix", nullptr},
                         {"fuse_unk", false},
                         {"byte_fallback", false},
                         {"ignore_merges", false},
                         {"vocab", std::move(vocabulary)},
                         {"merges", std::move(merges)}}}};
    return write_json(file, 1) + "\n";
}

}  // namespace dtnn::runtime
