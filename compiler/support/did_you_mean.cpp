// Suggestions for mistyped and half-remembered names. In this order: the same name but for case and
// separators; what other frameworks call it; the nearest by weighted edit distance; the one name
// that the word is a part of, or that is a part of the word.

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <unordered_map>
#include <utility>

#include "compiler/support/diagnostics.hpp"
#include "compiler/support/other_words.hpp"

namespace dtnn::compiler {
namespace {

using Tokens = std::vector<std::string>;

/// Parts of names that are written out by some and shortened by others.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kShortened = {{
    {"normalization", "norm"},
    {"normalisation", "norm"},
    {"normalize", "norm"},
    {"normalise", "norm"},
    {"normed", "norm"},
    {"average", "avg"},
    {"mean", "avg"},
    {"maximum", "max"},
    {"pooling", "pool"},
    {"padding", "pad"},
    {"convolution", "conv"},
    {"convolutional", "conv"},
    {"upsampling", "upsample"},
    {"transposed", "transpose"},
    {"initialiser", "initializer"},
    {"init", "initializer"},
}};

/// The words of other frameworks for single parts of names: `kaiming_uniform`, `drop_rate`. Whole
/// names: other_words.txt.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kPartSynonyms = {{
    {"kaiming", "he"},
    {"xavier", "glorot"},
    {"weight", "weights"},
    {"kernel", "weights"},
    {"out", "output"},
    {"num", "count"},
}};

bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
char lower(char c) {
    return is_upper(c) ? char(c - 'A' + 'a') : c;
}

/// A name's words: apart at separators and where capitals begin one. Digits stay with the letters
/// around them but for a dimension at the end: `BatchNorm2d` is batch, norm, 2d.
Tokens tokens_of(std::string_view word) {
    Tokens tokens(1);
    for (std::size_t i = 0; i < word.size(); ++i) {
        const char c = word[i];
        if (c == '_' || c == '-' || c == ' ' || c == '.' || c == '/') {
            tokens.emplace_back();
            continue;
        }
        const bool hump = i > 0 && is_upper(c) &&
                          (is_lower(word[i - 1]) || is_digit(word[i - 1])) &&
                          !(is_digit(word[i - 1]) && lower(c) == 'd');
        // In `ReLUActivation` the last capital begins the next word.
        const bool after = i > 0 && i + 1 < word.size() && is_upper(c) && is_upper(word[i - 1]) &&
                           is_lower(word[i + 1]);
        const bool dimension = i > 0 && is_digit(c) && !is_digit(word[i - 1]) &&
                               i + 2 == word.size() && lower(word[i + 1]) == 'd';
        if (hump || after || dimension) tokens.emplace_back();
        tokens.back() += lower(c);
    }
    std::erase(tokens, std::string());
    return tokens;
}

template <std::size_t N>
void replace_words(Tokens& tokens,
                   const std::array<std::pair<std::string_view, std::string_view>, N>& table) {
    for (std::string& token : tokens)
        for (const auto& [from, to] : table)
            if (token == from) {
                token = to;
                break;
            }
}

std::string joined(const Tokens& tokens) {
    std::string result;
    for (const std::string& token : tokens)
        result += token;
    return result;
}

/// A name in the forms that are compared.
struct Word {
    std::string plain;      ///< "batchnormalization": without separators and capitals
    std::string shortened;  ///< "batchnorm"
    std::string sorted;     ///< the same, its parts in the alphabet's order; empty for one part
    std::string renamed;    ///< parts that others call otherwise, by our name; empty: no such part
    Tokens parts;           ///< "batch", "norm"

    explicit Word(std::string_view name) {
        Tokens tokens = tokens_of(name);
        plain = joined(tokens);
        replace_words(tokens, kShortened);
        shortened = joined(tokens);
        Tokens other = tokens;
        replace_words(other, kPartSynonyms);
        if (other != tokens) renamed = joined(other);
        parts = tokens;
        // `2d` has no place of its own: `conv2d_transpose`, `ConvTranspose2d`.
        for (std::size_t i = 0; i < tokens.size(); ++i)
            for (const char* dimensions : {"1d", "2d"})
                if (tokens[i].size() > 2 && tokens[i].ends_with(dimensions)) {
                    tokens[i].resize(tokens[i].size() - 2);
                    tokens.emplace_back(dimensions);
                    break;
                }
        std::sort(tokens.begin(), tokens.end());
        if (tokens.size() > 1) sorted = joined(tokens);
    }
};

/// The same name is a candidate for many words.
const Word& word_of(const std::string& name) {
    constexpr std::size_t kMost = 4096;
    thread_local std::unordered_map<std::string, Word> known;
    if (known.size() >= kMost) known.clear();
    return known.try_emplace(name, name).first->second;
}

/// Whether the keys lie side by side on the usual keyboards.
bool are_neighbours(char a, char b) {
    constexpr std::array<std::string_view, 4> kRows = {"1234567890", "qwertyuiop", "asdfghjkl",
                                                       "zxcvbnm"};
    int rows[2] = {-1, -1}, columns[2] = {0, 0};
    for (int row = 0; row < 4; ++row)
        for (const int k : {0, 1}) {
            const std::size_t at = kRows[std::size_t(row)].find(k == 0 ? a : b);
            if (at == std::string_view::npos) continue;
            rows[k] = row;
            columns[k] = int(at);
        }
    if (rows[0] < 0 || rows[1] < 0) return false;
    const int down = rows[1] - rows[0], across = columns[1] - columns[0];
    // Every row is shifted by about half a key against the one above.
    if (down == 0) return std::abs(across) == 1;
    return (down == 1 && (across == 0 || across == -1)) ||
           (down == -1 && (across == 0 || across == 1));
}

/// Edit distance in tenths (optimal string alignment): 10 for a letter more, less or other; less
/// for the slips that happen most - neighbouring keys, letters swapped, letters doubled or not.
int distance(const std::string& a, const std::string& b) {
    constexpr int kStep = 10, kNeighbour = 8, kSwap = 7, kDoubled = 6;
    const std::size_t columns = b.size() + 1;
    std::vector<int> before(columns), previous(columns), current(columns);
    const auto single = [](const std::string& text, std::size_t i) {
        return i > 0 && text[i] == text[i - 1] ? kDoubled : kStep;
    };
    for (std::size_t j = 1; j < columns; ++j)
        previous[j] = previous[j - 1] + single(b, j - 1);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        current[0] = previous[0] + single(a, i - 1);
        for (std::size_t j = 1; j < columns; ++j) {
            const char x = a[i - 1], y = b[j - 1];
            const int other = x == y ? 0 : are_neighbours(x, y) ? kNeighbour : kStep;
            current[j] = std::min({previous[j - 1] + other, previous[j] + single(a, i - 1),
                                   current[j - 1] + single(b, j - 1)});
            if (i > 1 && j > 1 && x == b[j - 2] && a[i - 2] == y)
                current[j] = std::min(current[j], before[j - 2] + kSwap);
        }
        std::swap(before, previous);
        std::swap(previous, current);
    }
    return previous.back();
}

constexpr int kFar = 1'000'000;

/// Their distance, or kFar when one is no slip of the other.
int nearness(const std::string& wanted, const std::string& name) {
    if (wanted.empty() || name.empty()) return kFar;
    const auto longer = int(std::max(name.size(), wanted.size()));
    const auto shorter = int(std::min(name.size(), wanted.size()));
    // A third of the letters; a quarter is all that short words can lose and still be recognised.
    const int limit = std::max(10, longer * 10 / (longer < 8 ? 4 : 3));
    // Doubled letters are the cheapest difference in length.
    if ((longer - shorter) * 6 > limit) return kFar;
    int steps = distance(wanted, name);
    // The first letter is seldom wrong.
    if (wanted[0] != name[0]) steps += 3;
    // Words with no letter in place are not near, however short they are.
    if (steps > limit + 3 || steps >= shorter * 10 - 5) return kFar;
    return steps;
}

bool is_letter_left(const std::string& text) {
    return std::any_of(text.begin(), text.end(), [](char c) { return is_lower(c); });
}

/// The one candidate that a word contains or is contained in: `cross_entropy`, `adam_optimizer`.
const std::string* partly(const Word& wanted, const std::vector<std::string>& candidates) {
    if (wanted.shortened.size() < 4) return nullptr;
    const std::string* best = nullptr;
    std::size_t best_left = 0;
    bool several = false;
    // The candidate that leaves the fewest letters unmatched, if it alone does.
    for (const std::string& candidate : candidates) {
        const Word& name = word_of(candidate);
        std::size_t left = 0;
        const std::string &word = wanted.shortened, &whole = name.shortened;
        if (whole.find(word) != std::string::npos)
            left = whole.size() - word.size();
        else if ((whole.size() >= 4 && word.starts_with(whole)) ||
                 std::find(wanted.parts.begin(), wanted.parts.end(), whole) != wanted.parts.end())
            left = word.size() - whole.size();
        else
            continue;
        if (best && left == best_left) several = true;
        if (best && left >= best_left) continue;
        several = false;
        best = &candidate;
        best_left = left;
    }
    return several ? nullptr : best;
}

}  // namespace

std::optional<std::string> did_you_mean(std::string_view word,
                                        const std::vector<std::string>& candidates) {
    // A longer word than any name is no typo, and the distance is quadratic.
    if (word.empty() || word.size() > 100) return std::nullopt;
    const Word wanted(word);
    if (!is_letter_left(wanted.plain)) return std::nullopt;

    for (const std::string& candidate : candidates)
        if (word_of(candidate).plain == wanted.plain) return candidate;
    for (const OtherWord* other : find_other_words(word))
        if (!other->ours.empty() &&
            std::find(candidates.begin(), candidates.end(), other->ours) != candidates.end())
            return std::string(other->ours);

    const std::string* best = nullptr;
    int best_steps = 0;
    for (const std::string& candidate : candidates) {
        const Word& name = word_of(candidate);
        int steps = std::min(nearness(wanted.plain, name.plain),
                             nearness(wanted.shortened, name.shortened) + 1);
        // Other orders and other frameworks' parts are worth a little less than slips.
        if (!wanted.sorted.empty())
            steps = std::min(steps, nearness(wanted.sorted, name.sorted) + 4);
        if (!wanted.renamed.empty())
            steps = std::min(steps, nearness(wanted.renamed, name.shortened) + 5);
        if (steps >= kFar || (best && steps >= best_steps)) continue;
        best = &candidate;
        best_steps = steps;
    }
    if (!best) best = partly(wanted, candidates);
    if (!best) return std::nullopt;
    return *best;
}

}  // namespace dtnn::compiler
