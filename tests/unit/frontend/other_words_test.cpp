/// Words of other tools: every line of the table is answered where it may be written, and leads to
/// something that there is.

#include "compiler/support/other_words.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "compiler/frontend/expand/blocks.hpp"
#include "compiler/frontend/expand/layers.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ops/initializers.hpp"
#include "compiler/ops/op.hpp"

namespace other_words_test {

using namespace dtnn::compiler;

namespace {

std::vector<const FieldTable*> all_tables() {
    std::vector<const FieldTable*> tables = {
        &parallel_table(), &clip_table(),  &average_table(),     &checkpoint_table(),
        &group_table(),    &input_table(), &kernel_wish_table(), &generation_table(),
        &repeat_table(),   &if_table()};
    for (const KindInfo& kind : all_kinds())
        tables.push_back(kind.fields);
    for (const OpDef* op : all_ops())
        if (op->layer) tables.push_back(&fields_of_operator(*op));
    for (const ComponentSet* set : component_sets())
        for (const ComponentInfo& member : set->members)
            tables.push_back(member.fields);
    return tables;
}

const ComponentSet* set_of(WordKind kind) {
    switch (kind) {
        case WordKind::optimizer:
            return &optimizers();
        case WordKind::loss:
            return &losses();
        case WordKind::metric:
            return &metrics();
        case WordKind::schedule:
            return &schedules();
        case WordKind::transform:
            return &transforms();
        case WordKind::augmentation:
            return &augmentations();
        default:
            return nullptr;
    }
}

std::set<std::string, std::less<>> layer_words() {
    Diagnostics unheard;
    const Blocks blocks(nullptr, nullptr, unheard);
    const std::vector<std::string> names = entry_names(blocks);
    return {names.begin(), names.end()};
}

bool is_value(std::string_view ours) {
    for (const FieldTable* table : all_tables())
        for (const Field& field : *table)
            if (std::find(field.choices.begin(), field.choices.end(), ours) != field.choices.end())
                return true;
    return initializer_table(std::string(ours)) != nullptr || ours == "same" || ours == "valid";
}

bool is_anything(std::string_view ours) {
    if (layer_words().contains(ours) || is_value(ours)) return true;
    for (const FieldTable* table : all_tables())
        if (find_field(*table, ours)) return true;
    return std::any_of(component_sets().begin(), component_sets().end(),
                       [&](const ComponentSet* set) { return set->find(ours) != nullptr; });
}

/// The help for the word as a layer.
std::string help_as_layer(const OtherWord& word) {
    Diagnostics unheard;
    const Blocks blocks(nullptr, nullptr, unheard);
    return suggest_type(std::string(word.word), blocks);
}

/// The help for the word as a field where `ours` is one.
std::string help_as_field(const OtherWord& word) {
    const std::vector<const FieldTable*> tables = all_tables();
    const auto table = std::find_if(tables.begin(), tables.end(), [&](const FieldTable* one) {
        return !find_field(*one, word.word) && (word.ours.empty() || find_field(*one, word.ours));
    });
    if (table == tables.end()) return "";
    SourceNode map = make_map();
    map.entries.push_back({std::string(word.word), Span{{"a.yaml", 1, 1}, 1}, make_scalar("1")});
    Diagnostics diagnostics;
    FieldTable all = **table;
    for (Field& field : all)
        field.optional = true;
    read_fields(map, all, {"it", {}}, diagnostics);
    return diagnostics.all().empty() ? "" : diagnostics.all()[0].help;
}

}  // namespace

TEST_CASE("every word of another tool leads to something that there is") {
    CHECK_GE(other_words().size(), 800);
    for (const OtherWord& word : other_words()) {
        CAPTURE(word.word);
        CAPTURE(word.ours);
        CHECK_FALSE((word.ours.empty() && word.remark.empty()));
        if (!word.ours.empty()) CHECK(is_anything(word.ours));
        CHECK(word.ours != word.word);
    }
}

TEST_CASE("every word of another tool is answered where it is written") {
    int asked = 0;
    for (const OtherWord& word : other_words()) {
        if (word.tools.empty()) continue;
        CAPTURE(word.word);
        std::string help;
        if (word.kind == WordKind::layer)
            help = help_as_layer(word);
        else if (word.kind == WordKind::field)
            help = help_as_field(word);
        else if (const ComponentSet* set = set_of(word.kind)) {
            const std::vector<std::string_view> names = set->names();
            help = suggest_word(word.word, {names.begin(), names.end()}, "");
        } else
            help = suggest_word(word.word, {std::string(word.ours)}, "");
        CAPTURE(help);
        const std::string wanted =
            word.ours.empty() ? std::string(word.remark) : "`" + std::string(word.ours) + "`";
        CHECK(help.find(wanted) != std::string::npos);
        ++asked;
    }
    CHECK_GE(asked, 650);
}

TEST_CASE("modules, calls and capitals do not hide a word") {
    for (const char* word :
         {"nn.Conv2d", "torch.nn.Conv2d(3, 64, 3)", "CONV_2D", "layers.Conv2D"}) {
        CAPTURE(word);
        const auto found = find_other_words(word);
        REQUIRE_FALSE(found.empty());
        CHECK(found[0]->ours == "conv2d");
    }
    CHECK(find_other_words("0.5").empty());
    CHECK(find_other_words("").empty());
    CHECK(find_other_words("(").empty());
    CHECK(help_by_name("kernel_size", {"kernel", "filters"}) ==
          "PyTorch's and Keras' `kernel_size` is `kernel` here");
    CHECK(help_by_name("kernel_size", {"filters"}).empty());
}

}  // namespace other_words_test
