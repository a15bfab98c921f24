#include "plan/diff/align_layers.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/json_text.hpp"

namespace dtnn::plan {

namespace {

constexpr std::size_t kMostCells = 40'000'000;

// A pair of equal layers, of layers that differ in a field, of the same name, of a made name with
// another number. Two changed pairs are worth less than one equal pair, so that a moved layer is
// one fact rather than two changed ones; names only decide between alignments of equal worth.
constexpr std::int64_t kEqualScore = 100, kChangedScore = 49, kChangedRange = 40;
constexpr std::int64_t kContent = std::int64_t{1} << 32;
constexpr std::int64_t kSameName = 2, kRenumbered = 1;
// More layers than these in one place are told as gone and new.
constexpr std::size_t kMostReplaced = 4;

std::string_view without_number(std::string_view part) {
    std::size_t end = part.size();
    while (end > 0 && part[end - 1] >= '0' && part[end - 1] <= '9')
        --end;
    bool numbered = end < part.size() && end > 0 && part[end - 1] == '_';
    return numbered ? part.substr(0, end) : part;
}

// Names with their numbers taken out; equal for made names of equal layers.
std::string stem(std::string_view name) {
    std::string result;
    for (;;) {
        std::size_t slash = name.find('/');
        result += without_number(name.substr(0, slash));
        if (slash == std::string_view::npos) return result;
        result += '/';
        name.remove_prefix(slash + 1);
    }
}

// A layer as small numbers that compare fast; equal numbers mean equal things.
struct Token {
    int type = 0, content = 0, name = 0, stem = 0;
};

class Interner {
  public:
    Token token(const Layer& layer) {
        std::string content = layer.type + json_text(layer.attributes);
        Token token;
        token.type = number(layer.type, types_);
        token.name = number(layer.name, names_);
        token.stem = number(stem(layer.name), stems_);
        token.content = number(content, contents_);
        if (std::size_t(token.content) == examples_.size()) examples_.push_back(&layer.attributes);
        return token;
    }

    // How much a pair of one type is worth, whose fields differ.
    std::int64_t changed(int content_a, int content_b) {
        auto i = std::size_t(content_a), j = std::size_t(content_b);
        std::size_t count = examples_.size();
        if (count > kMostKept) return count_changed(i, j);
        if (kept_.empty()) kept_.assign(count * count, 0);
        std::int8_t& known = kept_[i * count + j];
        if (known == 0) known = std::int8_t(count_changed(i, j));
        return known;
    }

  private:
    static constexpr std::size_t kMostKept = 4096;

    std::int64_t count_changed(std::size_t content_a, std::size_t content_b) const {
        const Attributes &a = *examples_[content_a], &b = *examples_[content_b];
        std::int64_t fields = 0, different = 0;
        for (const auto& [name, value] : a) {
            auto other = b.find(name);
            different += other == b.end() || other->second != value;
            ++fields;
        }
        for (const auto& [name, value] : b)
            if (!a.contains(name)) ++fields, ++different;
        return kChangedScore - kChangedRange * different / std::max<std::int64_t>(fields, 1);
    }

    using Numbers = std::unordered_map<std::string, int>;
    static int number(const std::string& text, Numbers& numbers) {
        return numbers.emplace(text, int(numbers.size())).first->second;
    }
    Numbers types_, contents_, names_, stems_;
    std::vector<const Attributes*> examples_;  // by content
    std::vector<std::int8_t> kept_;            // by pair of contents, zero: not counted yet
};

struct Range {
    int begin = 0, end = 0;
    int size() const { return end - begin; }
};

class Aligner {
  public:
    Aligner(const Plan& a, const Plan& b) : plan_a_(a), plan_b_(b) {
        for (const Layer& layer : a.layers)
            a_.push_back(interner_.token(layer));
        for (const Layer& layer : b.layers)
            b_.push_back(interner_.token(layer));
        result_.of_a.assign(a_.size(), -1);
        result_.of_b.assign(b_.size(), -1);
        result_.moved.assign(b_.size(), false);
    }

    LayerAlignment run() {
        align({0, int(a_.size())}, {0, int(b_.size())});
        find_moved();
        find_replaced();
        return std::move(result_);
    }

  private:
    const Token& a(int i) const { return a_[std::size_t(i)]; }
    const Token& b(int j) const { return b_[std::size_t(j)]; }
    int& of_a(int i) { return result_.of_a[std::size_t(i)]; }
    int& of_b(int j) { return result_.of_b[std::size_t(j)]; }

    void pair(int i, int j) {
        of_a(i) = j;
        of_b(j) = i;
    }

    // Zero: not the same layer.
    std::int64_t worth(int i, int j) {
        const Token &s = a(i), &t = b(j);
        if (s.type != t.type) return 0;
        std::int64_t content =
            s.content == t.content ? kEqualScore : interner_.changed(s.content, t.content);
        std::int64_t name = s.name == t.name ? kSameName : s.stem == t.stem ? kRenumbered : 0;
        return content * kContent + name;
    }

    // Pairs equal layers at both ends. With names equal too this is never worse than another
    // alignment.
    void trim(Range& s, Range& t, bool names) {
        auto same = [&](int i, int j) {
            return a(i).content == b(j).content && (!names || a(i).name == b(j).name);
        };
        while (s.size() > 0 && t.size() > 0 && same(s.begin, t.begin))
            pair(s.begin++, t.begin++);
        while (s.size() > 0 && t.size() > 0 && same(s.end - 1, t.end - 1))
            pair(--s.end, --t.end);
    }

    void align(Range s, Range t) {
        trim(s, t, true);
        if (s.size() == 0 || t.size() == 0) return;
        auto rows = std::size_t(s.size()), columns = std::size_t(t.size());
        if (rows <= kMostCells / columns)
            best(s, t);
        else
            anchored(s, t);
    }

    // The recurrence over prefixes, row by row; one byte per cell remembers the choice.
    void best(Range s, Range t) {
        enum Choice : std::uint8_t { take, skip_a, skip_b };
        auto columns = std::size_t(t.size());
        std::vector<std::uint8_t> choices(static_cast<std::size_t>(s.size()) * columns);
        std::vector<std::int64_t> above(columns + 1, 0), row(columns + 1, 0);
        for (int i = 0; i < s.size(); ++i) {
            std::uint8_t* choice = choices.data() + std::size_t(i) * columns;
            for (std::size_t j = 0; j < columns; ++j) {
                std::int64_t w = worth(s.begin + i, t.begin + int(j));
                std::int64_t most = above[j] + w;
                choice[j] = take;
                if (w == 0 || above[j + 1] > most) most = above[j + 1], choice[j] = skip_a;
                if (row[j] > most) most = row[j], choice[j] = skip_b;
                row[j + 1] = most;
            }
            std::swap(above, row);
        }
        for (int i = s.size() - 1, j = t.size() - 1; i >= 0 && j >= 0;) {
            switch (choices[std::size_t(i) * columns + std::size_t(j)]) {
                case take:
                    pair(s.begin + i--, t.begin + j--);
                    break;
                case skip_a:
                    --i;
                    break;
                default:
                    --j;
            }
        }
    }

    // Layers that occur once on each side, in the longest order that both share, divide the
    // ranges (patience diff); without any, equal ends are all that is paired.
    void anchored(Range s, Range t) {
        trim(s, t, false);
        std::vector<std::pair<int, int>> anchors = unique_pairs(s, t);
        if (anchors.empty()) return;
        anchors.emplace_back(s.end, t.end);
        for (auto [i, j] : anchors) {
            align({s.begin, i}, {t.begin, j});
            if (i < s.end) pair(i, j);
            s.begin = i + 1;
            t.begin = j + 1;
        }
    }

    std::vector<std::pair<int, int>> unique_pairs(Range s, Range t) {
        struct Seen {
            int in_a = 0, in_b = 0, i = 0, j = 0;
        };
        auto key = [](const Token& token) {
            return std::uint64_t(token.content) << 32 | std::uint32_t(token.name);
        };
        std::unordered_map<std::uint64_t, Seen> seen;
        for (int i = s.begin; i < s.end; ++i) {
            Seen& one = seen[key(a(i))];
            ++one.in_a, one.i = i;
        }
        for (int j = t.begin; j < t.end; ++j)
            if (auto found = seen.find(key(b(j))); found != seen.end())
                ++found->second.in_b, found->second.j = j;
        std::vector<std::pair<int, int>> pairs;
        for (int i = s.begin; i < s.end; ++i)
            if (const Seen& one = seen[key(a(i))]; one.in_a == 1 && one.in_b == 1)
                pairs.emplace_back(i, one.j);
        return longest_rising(pairs);
    }

    static std::vector<std::pair<int, int>> longest_rising(
        const std::vector<std::pair<int, int>>& pairs) {
        std::vector<std::size_t> tops;  // by length - 1: the pair that ends it lowest
        std::vector<int> before(pairs.size(), -1);
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            auto at =
                std::lower_bound(tops.begin(), tops.end(), pairs[k].second,
                                 [&](std::size_t top, int j) { return pairs[top].second < j; });
            if (at != tops.begin()) before[k] = int(*(at - 1));
            if (at == tops.end())
                tops.push_back(k);
            else
                *at = k;
        }
        std::vector<std::pair<int, int>> rising;
        for (int k = tops.empty() ? -1 : int(tops.back()); k >= 0; k = before[std::size_t(k)])
            rising.push_back(pairs[std::size_t(k)]);
        std::reverse(rising.begin(), rising.end());
        return rising;
    }

    // Pairs what is left over on both sides when it is the same layer: equal in all under its own
    // or a made name, or of the same type under a name that a user gave.
    void find_moved() {
        pair_left_over([](const Token& t) { return std::pair(t.content, t.name); });
        pair_left_over([](const Token& t) { return std::pair(t.content, t.stem); });
        std::vector<int> left;
        for (int j = 0; j < int(b_.size()); ++j)
            if (of_b(j) < 0) left.push_back(j);
        std::unordered_map<int, int> by_name;
        for (int j : left)
            by_name.emplace(b(j).name, j);
        for (int i = 0; i < int(a_.size()) && !left.empty(); ++i) {
            if (of_a(i) >= 0) continue;
            auto found = by_name.find(a(i).name);
            const std::string& name = plan_a_.layers[std::size_t(i)].name;
            if (found == by_name.end() || of_b(found->second) >= 0 || stem(name) != name ||
                a(i).type != b(found->second).type)
                continue;
            pair(i, found->second);
            result_.moved[std::size_t(found->second)] = true;
        }
    }

    template <class Key>
    void pair_left_over(Key key) {
        std::map<std::pair<int, int>, std::vector<int>> left;  // of b, last first
        for (int j = int(b_.size()) - 1; j >= 0; --j)
            if (of_b(j) < 0) left[key(b(j))].push_back(j);
        for (int i = 0; i < int(a_.size()) && !left.empty(); ++i) {
            if (of_a(i) >= 0) continue;
            auto found = left.find(key(a(i)));
            if (found == left.end() || found->second.empty()) continue;
            int j = found->second.back();
            found->second.pop_back();
            pair(i, j);
            result_.moved[std::size_t(j)] = true;
        }
    }

    // Between two neighbouring pairs: what is gone there and what is new there.
    void find_replaced() {
        std::vector<int> gone, fresh;
        int i = 0, j = 0;
        const int rows = int(a_.size()), columns = int(b_.size());
        auto fixed_b = [&](int k) { return of_b(k) >= 0 && !result_.moved[std::size_t(k)]; };
        auto fixed_a = [&](int k) { return of_a(k) >= 0 && fixed_b(of_a(k)); };
        while (i < rows || j < columns) {
            gone.clear(), fresh.clear();
            for (; i < rows && !fixed_a(i); ++i)
                if (of_a(i) < 0) gone.push_back(i);
            for (; j < columns && !fixed_b(j); ++j)
                if (of_b(j) < 0) fresh.push_back(j);
            replace(gone, fresh);
            ++i, ++j;
        }
    }

    void replace(const std::vector<int>& gone, const std::vector<int>& fresh) {
        if (gone.empty() || fresh.empty()) return;
        if (gone.size() == fresh.size() && gone.size() <= kMostReplaced) {
            for (std::size_t k = 0; k < gone.size(); ++k)
                pair(gone[k], fresh[k]);
            return;
        }
        std::unordered_map<int, int> by_name;
        for (int j : fresh)
            by_name.emplace(b(j).name, j);
        for (int i : gone)
            if (auto found = by_name.find(a(i).name); found != by_name.end())
                pair(i, found->second);
    }

    const Plan& plan_a_;
    const Plan& plan_b_;
    Interner interner_;
    std::vector<Token> a_, b_;
    LayerAlignment result_;
};

}  // namespace

LayerAlignment align_layers(const Plan& a, const Plan& b) {
    return Aligner(a, b).run();
}

bool renumbered(std::string_view a, std::string_view b) {
    return a != b && stem(a) == stem(b);
}

}  // namespace dtnn::plan
