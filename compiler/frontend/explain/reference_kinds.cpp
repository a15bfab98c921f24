#include "compiler/frontend/explain/reference_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/expand/expansion_count.hpp"
#include "compiler/frontend/explain/field_text.hpp"
#include "compiler/frontend/explain/language_words.hpp"
#include "compiler/frontend/formula/formula.hpp"
#include "compiler/frontend/read/quantity.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {
namespace {

std::string yaml(std::string_view text) {
    return fmt::format("```yaml\n{}{}```\n", text, text.ends_with('\n') ? "" : "\n");
}

std::string word_section(const LanguageWord& word) {
    std::string text =
        fmt::format("\n## `{}`\n\n{}\n\n{}", word.name, word.doc, yaml(word.example));
    if (word.fields) text += "\n" + fields_markdown(*word.fields, kInitializersPage);
    // A block's parameters are what the other fields of a block are about.
    if (word.parameter_fields)
        text += "\nA parameter is a type, or a map of these:\n\n" +
                fields_markdown(*word.parameter_fields, kInitializersPage);
    return text;
}

std::string model_sections() {
    std::string text =
        "\n## `input`\n\n" + fields_markdown(input_table(), kInitializersPage) +
        "\n## One of `inputs`\n\n" + fields_markdown(named_input_table(), kInitializersPage) +
        "\n## Layers\n\nA layer is the name of an operator or of a block, or one key with its "
        "fields. What every layer takes besides the fields of its type:\n\n" +
        fields_markdown(layer_table(), kInitializersPage) +
        "\nThe [index](../README.md) lists the operators and the blocks that every model has.\n";
    for (const LanguageWord& word : language_words())
        text += word_section(word);
    constexpr const char* limits =
        "\n## Limits\n\nA model becomes at most {} layers in at most {} steps (layers, repetitions "
        "and uses of blocks; many or long values count more), which are counted before any of them "
        "is made. An expression has at most {} bytes and {} levels.\n";
    return text + fmt::format(limits, kMaximumLayers, kMaximumSteps, kMaximumFormulaBytes,
                              kMaximumFormulaDepth);
}

std::string set_path(const ComponentSet& set) {
    std::string path = fmt::format("sets/{}.md", set.plural);
    std::replace(path.begin(), path.end(), ' ', '_');
    return path;
}

/// Where the members of sets are described.
std::string links_to(const std::vector<const ComponentSet*>& sets) {
    std::string text = "\nThe";
    for (std::size_t i = 0; i < sets.size(); ++i)
        text += fmt::format("{} [{}](../{})",
                            i == 0                ? ""
                            : i + 1 < sets.size() ? ","
                                                  : " and",
                            sets[i]->plural, set_path(*sets[i]));
    return text + " have pages of their own.\n";
}

std::string training_sections() {
    std::string text = links_to({&optimizers(), &losses(), &metrics(), &schedules()}) +
                       "\n## `groups`\n\nAn entry takes fields of the training's optimizer, which "
                       "then count for its parameters, and:\n\n" +
                       fields_markdown(group_table(), kInitializersPage);
    for (const auto& [name, table] : {std::pair{"clip", &clip_table()},
                                      {"average", &average_table()},
                                      {"checkpoint", &checkpoint_table()}})
        text += fmt::format("\n## `{}`\n\n{}", name, fields_markdown(*table, kInitializersPage));
    return text;
}

std::string unit_list(std::string_view unit) {
    std::string text;
    for (const std::string& name : units_of(unit))
        text += fmt::format("{}`{}`", text.empty() ? "" : ", ", name);
    return text;
}

std::string machine_sections() {
    return "\n## Units\n\nNumbers stand with their units: bytes " + unit_list("bytes") +
           "; rates of data " + unit_list("bytes/s") + "; rates of arithmetic " +
           unit_list("flop/s") + "; times " + unit_list("seconds") + "; rates of samples " +
           unit_list("samples/s") +
           ". K, M, G and T are powers of 1000, Ki, Mi, Gi and Ti of 1024; 8 bits are a byte.\n" +
           "\n## `network` and `local`\n\n" + fields_markdown(network_table(), kInitializersPage) +
           "\n## `kernels`\n\n" + fields_markdown(kernel_rate_table(), kInitializersPage) +
           "\n## `gpus`\n\n" + fields_markdown(gpus_table(), kInitializersPage) +
           "\n## `slurm`\n\n" + fields_markdown(slurm_table(), kInitializersPage) +
           "\nOptions of `dtnnc slurm` of the same names come before these: "
           "[launching](../../launching.md#slurm).\n";
}

/// Those of every type; each type's own are in its section.
FieldTable dataset_fields() {
    FieldTable table = dataset_head_table();
    table.insert(table.end(), dataset_tail_table().begin(), dataset_tail_table().end());
    return table;
}

std::string job_sections() {
    return "\n## `kernels`\n\n" + fields_markdown(kernel_wish_table(), kInitializersPage) +
           "\nKernels by measurement: [tuning](../../tuning.md).\n\n## `generation`\n\n" +
           fields_markdown(generation_table(), kInitializersPage) +
           "\nText by `dtnn-run generate`: [running](../../running.md#generating-text).\n\n"
           "## `parallel`\n\n" +
           fields_markdown(parallel_table(), kInitializersPage) +
           "\nHow ranks share a training: [parallel](../../parallel.md).\n\n### `synchronise`\n\n" +
           fields_markdown(synchronise_table(), kInitializersPage) +
           "\nRanks that move weights of their own: [local "
           "steps](../../parallel.md#local-steps).\n";
}

std::string sections_of(SpecKind kind) {
    switch (kind) {
        case SpecKind::job:
            return job_sections();
        case SpecKind::model:
            return model_sections();
        case SpecKind::dataset:
            return links_to({&dataset_types(), &transforms(), &augmentations()});
        case SpecKind::training:
            return training_sections();
        case SpecKind::machine:
            return machine_sections();
        case SpecKind::operation:
        case SpecKind::loss:
            return "";
    }
    return "";
}

}  // namespace

std::vector<ReferencePage> kind_pages() {
    std::vector<ReferencePage> pages;
    for (const KindInfo& kind : all_kinds()) {
        ReferencePage page{fmt::format("kinds/{}.md", kind.name), "Kinds of specs",
                           std::string(kind.name), std::string(kind.doc), ""};
        page.text = fmt::format(
            "{}\n# kind: {}\n\n{}\n\n{}\nOne that is called NAME is looked for as `NAME.yaml` in "
            "the folder of the file that names it, in `../{}` beside it, and in every folder of "
            "the spec path and its `{}`.\n\n## Fields\n\n{}{}",
            kGeneratedLine, kind.name, kind.doc, yaml(kind.example), kind.folder, kind.folder,
            fields_markdown(kind.kind == SpecKind::dataset ? dataset_fields() : *kind.fields,
                            kInitializersPage),
            sections_of(kind.kind));
        pages.push_back(std::move(page));
    }
    return pages;
}

std::vector<ReferencePage> set_pages() {
    std::vector<ReferencePage> pages;
    for (const ComponentSet* set : component_sets()) {
        std::string title(set->plural);
        title[0] = char(title[0] - 'a' + 'A');
        ReferencePage page{set_path(*set), "Members of sets", std::string(set->plural), "", ""};
        page.text = fmt::format("{}\n# {}\n", kGeneratedLine, title);
        for (const ComponentInfo& member : set->members) {
            page.summary += fmt::format("{}`{}`", page.summary.empty() ? "" : ", ", member.name);
            page.text +=
                fmt::format("\n## `{}`\n\n{}\n\n{}", member.name, member.doc, yaml(member.example));
            if (!member.fields->empty())
                page.text +=
                    "\nIts fields:\n\n" + fields_markdown(*member.fields, kInitializersPage);
        }
        if (set == &optimizers())
            page.text += "\nTheir formulas: [operators of the graph](../../operators.md).\n";
        pages.push_back(std::move(page));
    }
    return pages;
}

std::vector<ReferencePage> block_pages() {
    std::vector<ReferencePage> pages;
    for (const LanguageWord& block : standard_block_words()) {
        ReferencePage page{fmt::format("blocks/{}.md", block.name), "Blocks that every model has",
                           std::string(block.name), first_sentence(block.doc), ""};
        page.text = fmt::format(
            "{}\n# {}\n\n{}\n\n{}\n## Fields\n\n{}\n## Its text\n\nIt is written in the language "
            "of models, as one of your own [blocks](../kinds/model.md#blocks) would be:\n\n{}",
            kGeneratedLine, block.name, block.doc, yaml(block.example),
            fields_markdown(*block.fields, kInitializersPage),
            yaml(standard_block_text(block.name)));
        pages.push_back(std::move(page));
    }
    return pages;
}

}  // namespace dtnn::compiler
