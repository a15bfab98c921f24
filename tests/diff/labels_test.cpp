// Every field that a spec may have, has a label of its own with a reason.

#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ops/op.hpp"
#include "plan/diff/meaning.hpp"
#include "tests/rewrite_goldens.hpp"

namespace labels_test {

using namespace dtnn;
using compiler::FieldTable;

namespace {

struct NamedTable {
    std::string kind;
    const FieldTable* fields;
};

std::vector<NamedTable> setting_tables() {
    std::vector<NamedTable> tables;
    for (const compiler::KindInfo& kind : compiler::all_kinds())
        tables.push_back({std::string(kind.name), kind.fields});
    tables.push_back({"job.kernels", &compiler::kernel_wish_table()});
    tables.push_back({"job.parallel", &compiler::parallel_table()});
    tables.push_back({"job.parallel.synchronise", &compiler::synchronise_table()});
    tables.push_back({"machine.network", &compiler::network_table()});
    tables.push_back({"machine.local", &compiler::network_table()});
    tables.push_back({"machine.kernels", &compiler::kernel_rate_table()});
    tables.push_back({"machine.gpus", &compiler::gpus_table()});
    tables.push_back({"machine.gpus.local", &compiler::network_table()});
    tables.push_back({"machine.slurm", &compiler::slurm_table()});
    tables.push_back({"model.input", &compiler::input_table()});
    tables.push_back({"model.blocks", &compiler::block_table()});
    tables.push_back({"model.blocks.parameters", &compiler::block_parameter_table()});
    tables.push_back({"model.operators.parameters", &compiler::operator_parameter_table()});
    tables.push_back({"repeat", &compiler::repeat_table()});
    tables.push_back({"if", &compiler::if_table()});
    tables.push_back({"layer", &compiler::layer_table()});
    tables.push_back({"layer", &compiler::branches_table()});
    tables.push_back({"training.groups", &compiler::group_table()});
    tables.push_back({"training.clip", &compiler::clip_table()});
    tables.push_back({"training.average", &compiler::average_table()});
    tables.push_back({"training.checkpoint", &compiler::checkpoint_table()});
    for (const compiler::ComponentSet* set : compiler::component_sets())
        for (const compiler::ComponentInfo& member : set->members)
            // Those of datasets are labelled as the kind's.
            if (set != &compiler::dataset_types())
                tables.push_back(
                    {std::string(set->name) + "." + std::string(member.name), member.fields});
    return tables;
}

bool has_reason(std::string_view reason) {
    return reason.size() >= 10 && !(reason[0] >= 'A' && reason[0] <= 'Z') && !reason.ends_with('.');
}

}  // namespace

TEST_CASE("every setting has a label of its own") {
    std::set<std::pair<std::string, std::string>> fields;
    for (const NamedTable& table : setting_tables())
        for (const compiler::Field& field : *table.fields) {
            fields.emplace(table.kind, std::string(field.name));
            CHECK_MESSAGE(plan::find_meaning(table.kind, field.name),
                          table.kind << "." << std::string(field.name)
                                     << " has no line in plan/diff/meaning_settings.cpp");
        }
    for (const char* option : {"device", "isa", "threads", "data_workers", "pin_threads", "ranks"})
        fields.emplace("target", option);
    fields.emplace("compiler", "generator");
    fields.emplace("compiler", "passes");
    std::set<std::pair<std::string, std::string>> known;
    for (const plan::MeaningEntry& entry : plan::setting_meanings()) {
        std::pair<std::string, std::string> field{entry.kind, entry.field};
        CHECK_MESSAGE(fields.contains(field),
                      field.first << "." << field.second << " is labelled and is no field");
        CHECK_MESSAGE(known.insert(field).second,
                      field.first << "." << field.second << " is labelled twice");
        CHECK_MESSAGE(has_reason(entry.reason), field.first << "." << field.second);
    }
}

TEST_CASE("every field of every operator has a label") {
    std::set<std::pair<std::string, std::string>> fields;
    for (const compiler::OpDef* op : compiler::all_ops()) {
        if (!op->layer) continue;
        for (const compiler::Field& field : op->fields) {
            fields.emplace(op->name, std::string(field.name));
            fields.emplace("*", std::string(field.name));
            CHECK_MESSAGE(plan::find_layer_meaning(op->name, field.name),
                          op->name << "." << std::string(field.name)
                                   << " has no line in plan/diff/meaning_layers.cpp");
        }
    }
    CHECK(fields.size() > 20);
    std::set<std::pair<std::string, std::string>> known;
    for (const plan::LayerMeaningEntry& entry : plan::layer_meanings()) {
        std::pair<std::string, std::string> field{entry.type, entry.field};
        CHECK_MESSAGE(fields.contains(field),
                      field.first << "." << field.second << " is labelled and is no field");
        CHECK_MESSAGE(known.insert(field).second,
                      field.first << "." << field.second << " is labelled twice");
        CHECK_MESSAGE(has_reason(entry.reason), field.first << "." << field.second);
    }
}

TEST_CASE("docs/diff.md shows the labels as they are") {
    constexpr const char* kPath = "docs/diff.md";
    const std::string begin = "<!-- labels: written by the test of the labels -->\n";
    const std::string end = "<!-- end of labels -->\n";
    std::ifstream stream(kPath, std::ios::binary);
    std::ostringstream read;
    read << stream.rdbuf();
    std::string text = read.str();
    const std::size_t first = text.find(begin), last = text.find(end);
    REQUIRE(first != std::string::npos);
    REQUIRE(last != std::string::npos);
    const std::size_t start = first + begin.size();
    if (dtnn::rewrites_goldens()) {
        text.replace(start, last - start, plan::meanings_markdown());
        std::ofstream(kPath, std::ios::binary) << text;
    } else {
        CHECK(text.substr(start, last - start) == plan::meanings_markdown());
    }
}

}  // namespace labels_test
