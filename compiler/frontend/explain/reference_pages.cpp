#include "compiler/frontend/explain/reference_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/frontend/explain/field_text.hpp"
#include "compiler/frontend/explain/reference_kinds.hpp"
#include "compiler/frontend/explain/reference_operators.hpp"
#include "compiler/ops/initializers.hpp"
#include "compiler/support/diagnostics.hpp"

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

/// An example of one line goes on where the text before it ends.
std::string example_text(std::string_view example) {
    if (example.find_first_of("\n`") == std::string_view::npos)
        return fmt::format(" Such as: `{}`", example);
    return fmt::format("\n\n```text\n{}\n```", example);
}

std::string codes_text(bool lints) {
    std::string text;
    for (const CodeInfo& code : all_codes())
        if (code.lint == lints)
            text += fmt::format("\n## {}\n\n{}{}{}\n\nWhat to do: {}\n", dashed(code.name),
                                code.meaning, lints ? "" : " " + severity_text(code),
                                example_text(code.example), code.mend);
    return text;
}

ReferencePage diagnostics_page() {
    ReferencePage page{"diagnostics.md", "Shared lists", "diagnostics",
                       "what every message means, what provokes it, what to do", ""};
    page.text = fmt::format(
        "{}\n# Diagnostics\n\nThe word in brackets at the end of a message is its code: "
        "`[unknown-field]`. `dtnnc explain CODE` says the same as this page. The exit code of "
        "`dtnnc` is the largest of the codes': 2 the command line, 3 a spec is invalid, 4 the "
        "plan does not fit the memory budget, 5 plan and machine do not match. Warnings have [a "
        "page of their own](lints.md).\n{}",
        kGeneratedLine, codes_text(false));
    return page;
}

ReferencePage lints_page() {
    ReferencePage page{"lints.md", "Shared lists", "lints",
                       "what is sound and probably not meant, and how to silence it", ""};
    page.text = fmt::format(
        "{}\n# Lints\n\nLints are warnings about what is sound and probably not meant: `--strict` "
        "makes them errors, `--allow CODE` silences one, and so does `allow: [CODE]` in a job, a "
        "model, a dataset or a training. `dtnnc explain CODE` says the same as this page.\n{}",
        kGeneratedLine, codes_text(true));
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
    append(set_pages());
    append(operator_pages(training));
    append(block_pages());
    pages.push_back(initializers_page());
    pages.push_back(diagnostics_page());
    pages.push_back(lints_page());
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
