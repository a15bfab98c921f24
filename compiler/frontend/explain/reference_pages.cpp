#include "compiler/frontend/explain/reference_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "compiler/frontend/explain/field_text.hpp"
#include "compiler/frontend/explain/reference_kinds.hpp"
#include "compiler/frontend/explain/reference_operators.hpp"
#include "compiler/ops/initializers.hpp"
#include "compiler/support/diagnostics.hpp"
#include "compiler/support/other_words.hpp"

namespace dtnn::compiler {
namespace {

ReferencePage initializers_page() {
    ReferencePage page{"initializers.md", "Shared lists", "initializers",
                       "the first values of weights, by name, with their numbers", ""};
    page.text = fmt::format(
        "{}\n# Initializers\n\nFirst values of weights. A field takes the name, or the name with "
        "its numbers:\n\n```yaml\nkind: model\ninput: {{shape: [1, 28, 28]}}\nlayers:\n  - "
        "flatten\n  - dense: {{units: 100, weights_initializer: he_uniform}}\n  - relu\n  - dense: "
        "{{units: 10, weights_initializer: {{normal: {{deviation: 0.01}}}}}}\n  - softmax\n```\n\n"
        "A value depends on the seed of the training, the layer and the place alone: not on "
        "layout, type or threads. `fan_in` is how many numbers a result is summed from, "
        "`fan_out` to how many results a number goes.\n",
        kGeneratedLine);
    for (const std::string_view name : initializer_names()) {
        page.text += fmt::format("\n## `{}`\n\n{}\n", name, initializer_doc(name));
        const std::string numbers = fields_markdown(*initializer_table(name), "initializers.md");
        if (!numbers.empty()) page.text += "\n" + numbers;
    }
    return page;
}

ReferencePage diagnostics_page() {
    ReferencePage page{"diagnostics.md", "Shared lists", "diagnostics",
                       "what every message means, what provokes it, what to do", ""};
    page.text = fmt::format(
        "{}\n# Diagnostics\n\nThe word in brackets at the end of a message is its code: "
        "`[unknown-field]`. `dtnnc explain CODE` says the same as this page. The exit code of "
        "`dtnnc` is the largest of the codes': 2 the command line, 3 a spec is invalid, 4 the "
        "plan does not fit the memory budget, 5 plan and machine do not match. Lints are warnings "
        "about what is sound and probably not meant: `--strict` makes them errors, `--allow CODE` "
        "silences one, and so does `allow: [CODE]` in a job, a model, a dataset or a training.\n",
        kGeneratedLine);
    for (const CodeInfo& code : all_codes())
        page.text += fmt::format("\n## {}\n\n{} {}\n\n```text\n{}\n```\n\nWhat to do: {}\n",
                                 dashed(code.name), code.meaning, severity_text(code), code.example,
                                 code.mend);
    return page;
}

/// Those with a column of their own; others stand with their words in one.
constexpr std::array<std::string_view, 4> kTools = {"Keras", "PyTorch", "Caffe", "PyDTNN"};

bool is_of(const OtherWord& word, std::string_view tool) {
    return (", " + std::string(word.tools) + ",").find(fmt::format(", {},", tool)) !=
           std::string::npos;
}

/// The words among `words`, of a tool that has a column, or of the others with their tools.
std::string words_cell(const std::vector<const OtherWord*>& words, std::string_view tool) {
    std::string cell;
    for (const OtherWord* word : words) {
        const bool known = std::any_of(kTools.begin(), kTools.end(),
                                       [&](std::string_view one) { return is_of(*word, one); });
        if (tool.empty() ? known : !is_of(*word, tool)) continue;
        cell += fmt::format("{}`{}`{}", cell.empty() ? "" : ", ", word->word,
                            tool.empty() ? fmt::format(" ({})", tools_text(*word)) : "");
    }
    return cell;
}

/// A table of the words of one kind: a line for each of ours, a column for each tool.
std::string words_table(WordKind kind, std::string_view title) {
    std::vector<std::pair<std::string_view, std::vector<const OtherWord*>>> lines;
    for (const OtherWord& word : other_words()) {
        if (word.kind != kind || word.tools.empty() || word.ours.empty()) continue;
        auto line = std::find_if(lines.begin(), lines.end(),
                                 [&](const auto& one) { return one.first == word.ours; });
        if (line == lines.end())
            line = lines.insert(lines.end(), {word.ours, std::vector<const OtherWord*>()});
        line->second.push_back(&word);
    }
    std::string text =
        fmt::format("\n## {}\n\n| here | {} | others | |\n|---|---|---|---|---|---|---|\n", title,
                    fmt::join(kTools, " | "));
    for (const auto& [name, words] : lines) {
        text += fmt::format("| `{}` |", name);
        for (const std::string_view tool : kTools)
            text += fmt::format(" {} |", words_cell(words, tool));
        text += fmt::format(" {} |", words_cell(words, ""));
        std::string remarks;
        for (const OtherWord* word : words)
            if (!word->remark.empty())
                remarks += fmt::format("{}`{}`: {}", remarks.empty() ? "" : "; ", word->word,
                                       word->remark);
        text += fmt::format(" {} |\n", markdown_cell(remarks));
    }
    return text;
}

ReferencePage other_tools_page() {
    ReferencePage page{
        "other_tools.md", "Shared lists", "words of other tools",
        "what Keras, PyTorch, Caffe, PyDTNN and others call things, and what they are here", ""};
    page.text = fmt::format(
        "{}\n# Words of other tools\n\nA spec that has one of these words is answered with the "
        "word on the left, and `dtnnc explain WORD` knows them: `dtnnc explain kernel_size`.\n",
        kGeneratedLine);
    constexpr std::pair<WordKind, std::string_view> kTitles[] = {
        {WordKind::layer, "Layers"},         {WordKind::field, "Fields"},
        {WordKind::optimizer, "Optimizers"}, {WordKind::loss, "Losses"},
        {WordKind::metric, "Metrics"},       {WordKind::schedule, "Schedules"},
        {WordKind::transform, "Transforms"}, {WordKind::augmentation, "Augmentations"},
        {WordKind::value, "Values"}};
    for (const auto& [kind, title] : kTitles)
        page.text += words_table(kind, title);
    page.text += "\n## Not needed, or not here\n\n| word | of | |\n|---|---|---|\n";
    for (const OtherWord& word : other_words())
        if (word.ours.empty() && !word.tools.empty())
            page.text += fmt::format("| `{}` | {} | {} |\n", word.word, tools_text(word),
                                     markdown_cell(word.remark));
    return page;
}

}  // namespace

const std::string_view kGeneratedLine =
    "<!-- Written by `dtnnc reference -o docs/reference`; do not edit. -->";

std::string first_sentence(std::string_view text) {
    // A full stop inside "et al., 2015)." or "1.5" is followed by no space and capital.
    for (std::size_t i = 0; i + 2 < text.size(); ++i)
        if (text[i] == '.' && text[i + 1] == ' ' && text[i + 2] >= 'A' && text[i + 2] <= 'Z')
            return std::string(text.substr(0, i + 1));
    return std::string(text);
}

std::vector<ReferencePage> reference_pages(const DescribeTraining& training) {
    std::vector<ReferencePage> pages = kind_pages();
    const auto append = [&](std::vector<ReferencePage> more) {
        std::move(more.begin(), more.end(), std::back_inserter(pages));
    };
    append(operator_pages(training));
    append(block_pages());
    pages.push_back(initializers_page());
    pages.push_back(diagnostics_page());
    pages.push_back(other_tools_page());
    return pages;
}

ReferencePage reference_index(const std::vector<ReferencePage>& pages) {
    ReferencePage index{"README.md", "", "Reference", "", ""};
    index.text = fmt::format(
        "{}\n# Reference\n\nWritten from the tables that the compiler itself works by; `dtnnc "
        "explain WORD` says the same in the terminal, and `dtnnc schema` writes it for editors. "
        "The language by example: [language.md](../language.md).\n",
        kGeneratedLine);
    std::vector<std::string> groups;
    for (const ReferencePage& page : pages)
        if (groups.empty() || groups.back() != page.group) groups.push_back(page.group);
    for (const std::string& group : groups) {
        index.text += fmt::format("\n## {}\n\n| | |\n|---|---|\n", group);
        for (const ReferencePage& page : pages)
            if (page.group == group)
                index.text += fmt::format("| [{}]({}) | {} |\n", page.title, page.path,
                                          markdown_cell(page.summary));
    }
    return index;
}

}  // namespace dtnn::compiler
