// The texts of `dtnnc explain` and of the reference pages: nothing is left out, and every example
// is sound.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "compiler/frontend/expand/standard_blocks.hpp"
#include "compiler/frontend/explain/field_text.hpp"
#include "compiler/frontend/explain/language_words.hpp"
#include "compiler/frontend/explain/reference_pages.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ops/initializers.hpp"
#include "compiler/support/diagnostics.hpp"

namespace reference_test {

using namespace dtnn;
using namespace dtnn::compiler;

namespace {

bool explained(std::string_view choice, std::string_view group) {
    return std::any_of(choice_words().begin(), choice_words().end(), [&](const LanguageWord& word) {
        return word.name == choice && word.group == group;
    });
}

const ReferencePage* page_of(const std::vector<ReferencePage>& pages, const std::string& path) {
    for (const ReferencePage& page : pages)
        if (page.path == path) return &page;
    return nullptr;
}

}  // namespace

TEST_CASE("every member of every component set is explained, by its own example") {
    std::size_t choices = 0;
    for (const ComponentSet* set : component_sets())
        for (const ComponentInfo& member : set->members) {
            CAPTURE(member.name);
            CHECK(explained(member.name, set->group));
            CHECK(!member.doc.empty());
            CHECK(member.example.find(member.name) != std::string::npos);
            ++choices;
        }
    CHECK(choice_words().size() == choices);
    // Fields that choose from a set name all of it.
    for (const FieldTable* table : {&dataset_table(), &training_table()})
        for (const Field& field : *table)
            if (field.components) CHECK(field.choices == field.components->names());
    CHECK(find_field(dataset_table(), "type")->choices == dataset_types().names());
    CHECK(standard_block_words().size() == standard_blocks().entries.size());
}

TEST_CASE("every word that models, blocks, repeat and if are written with is explained") {
    for (const FieldTable* table : {&model_table(), &layer_table(), &branches_table()})
        for (const Field& field : *table) {
            // Fields whose line says everything.
            if (std::set<std::string_view>{"kind", "name", "description", "input", "layers"}
                    .contains(field.name))
                continue;
            CAPTURE(field.name);
            CHECK(std::any_of(language_words().begin(), language_words().end(),
                              [&](const LanguageWord& word) { return word.name == field.name; }));
        }
}

TEST_CASE("examples of words are sound specs") {
    for (const auto* list : {&language_words(), &choice_words(), &standard_block_words()})
        for (const LanguageWord& word : *list) {
            CAPTURE(word.name);
            CHECK(word.example.starts_with("kind: "));
            LoadOptions options;
            options.texts["example.yaml"] = std::string(word.example);
            if (word.name == "extends") continue;  // of a shipped model; the pages' test has it
            Diagnostics diagnostics;
            check_spec("example.yaml", options, diagnostics);
            CHECK(diagnostics.render(false) == "");
        }
}

TEST_CASE("there is a page for every kind, operator and block, and the index has them all") {
    const std::vector<ReferencePage> pages = reference_pages({});
    std::set<std::string> paths;
    for (const ReferencePage& page : pages) {
        CAPTURE(page.path);
        CHECK(paths.insert(page.path).second);
        CHECK(page.text.starts_with(kGeneratedLine));
        CHECK(page.text.ends_with('\n'));
        CHECK(!page.summary.empty());
    }
    const std::string index = reference_index(pages).text;
    for (const ReferencePage& page : pages)
        CHECK(index.find("(" + page.path + ")") != std::string::npos);
    for (const KindInfo& kind : all_kinds())
        CHECK(paths.contains("kinds/" + std::string(kind.name) + ".md"));
    for (const std::string& name : layer_names()) {
        const ReferencePage* page = page_of(pages, "operators/" + name + ".md");
        REQUIRE(page);
        for (const Field& field : op(name).fields)
            CHECK(page->text.find("| `" + std::string(field.name) + "` |") != std::string::npos);
    }
    for (const CodeInfo& code : all_codes()) {
        const std::string& page = page_of(pages, code.lint ? "lints.md" : "diagnostics.md")->text;
        CHECK(page.find("## " + dashed(code.name) + "\n") != std::string::npos);
    }
    const std::string& initializers = page_of(pages, "initializers.md")->text;
    for (const std::string_view name : initializer_names())
        CHECK(initializers.find("## `" + std::string(name) + "`\n") != std::string::npos);
}

TEST_CASE("the text of a standard block is its whole declaration and nothing of the next") {
    std::string joined;
    for (const LanguageWord& block : standard_block_words())
        joined += standard_block_text(block.name);
    CHECK(joined == standard_blocks_text());
    // Defaults are shown as they are written there.
    for (const LanguageWord& block : standard_block_words())
        if (block.name == "squeeze_excite")
            CHECK(default_text(*find_field(*block.fields, "channels")) == "${in.channels}");
}

TEST_CASE("a table's cell keeps to its cell") {
    CHECK(markdown_cell("a | b\nc") == "a \\| b c");
    CHECK(first_sentence("One (Ioffe et al., 2015). Two.") == "One (Ioffe et al., 2015).");
    CHECK(first_sentence("from 0.5 to 1, e.g. here") == "from 0.5 to 1, e.g. here");
}

}  // namespace reference_test
