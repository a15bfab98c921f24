#include "tools/dtnnc/explain/explain_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace dtnn::tools {
namespace {

/// docs/words.md, which CMake writes into a literal.
constexpr std::string_view kIndex =
#include "tools/dtnnc/explain/index_of_words.inc"
    ;

/// Letters and digits alone, small.
std::string bare(std::string_view text) {
    std::string result;
    for (const char c : text)
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            result += char(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

struct Row {
    std::vector<std::string> words;
    std::string_view where;
};

/// The rows of the one table, its head and the line below left out.
std::vector<Row> rows() {
    constexpr std::string_view kCell = " | ";
    std::vector<Row> all;
    for (std::size_t at = 0; at < kIndex.size();) {
        const std::size_t end = std::min(kIndex.find('\n', at), kIndex.size());
        const std::string_view line = kIndex.substr(at, end - at);
        at = end + 1;
        const std::size_t cell = line.find(kCell);
        if (!line.starts_with("| ") || cell == std::string_view::npos) continue;
        Row row{{}, line.substr(cell + kCell.size(), line.size() - cell - kCell.size() - 2)};
        const std::string_view words = line.substr(2, cell - 2);
        for (std::size_t from = 0; from <= words.size();) {
            const std::size_t comma = std::min(words.find(", ", from), words.size());
            row.words.emplace_back(words.substr(from, comma - from));
            from = comma + 2;
        }
        all.push_back(std::move(row));
    }
    if (!all.empty()) all.erase(all.begin());
    return all;
}

/// Markdown's links as people read them: "losses (docs/losses.md)".
std::string plain(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t open = text.find('['), middle = text.find("](", open);
        const std::size_t close = text.find(')', middle);
        if (close == std::string_view::npos) return result + std::string(text);
        const std::string_view path = text.substr(middle + 2, close - middle - 2);
        result += text.substr(0, open);
        result += fmt::format(
            "{} ({})", text.substr(open + 1, middle - open - 1),
            path.starts_with("../") ? std::string(path.substr(3)) : fmt::format("docs/{}", path));
        text.remove_prefix(close + 1);
    }
    return result;
}

}  // namespace

std::optional<Topic> index_topic(const std::string& word) {
    const std::string wanted = bare(word);
    if (wanted.empty()) return std::nullopt;
    for (const Row& row : rows())
        for (const std::string& one : row.words)
            if (bare(one) == wanted) {
                const char* const group = "a word of the index of pages";
                return Topic{one, group,
                             fmt::format("{} - {}\n\n  {}\n", one, group, plain(row.where))};
            }
    return std::nullopt;
}

std::vector<std::string> index_words() {
    std::vector<std::string> words;
    for (const Row& row : rows())
        words.insert(words.end(), row.words.begin(), row.words.end());
    return words;
}

}  // namespace dtnn::tools
