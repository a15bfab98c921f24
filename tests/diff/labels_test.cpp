// Every field of a layer has a label, and every label a reason.

#include <doctest/doctest.h>

#include <set>

#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ops/op.hpp"
#include "plan/diff/layer_meanings.hpp"

namespace labels_test {

using namespace dtnn;
using compiler::FieldTable;

namespace {

bool has_reason(std::string_view reason) {
    return reason.size() >= 10 && !(reason[0] >= 'A' && reason[0] <= 'Z') && !reason.ends_with('.');
}

}  // namespace

void check_reasons(const FieldTable& table) {
    for (const compiler::Field& field : table) {
        // Those of layers have no reason of their own.
        CHECK_MESSAGE(
            (has_reason(field.change.reason) || find_field(compiler::layer_table(), field.name)),
            field.name);
        if (field.fields && field.fields != &table) check_reasons(*field.fields);
    }
}

// That there is a label is a property of the row's type.
TEST_CASE("the reason of every setting's label is a clause") {
    for (const compiler::KindInfo& kind : compiler::all_kinds())
        check_reasons(*kind.fields);
    for (const compiler::ComponentSet* set : compiler::component_sets())
        for (const compiler::ComponentInfo& member : set->members)
            check_reasons(*member.fields);
}

TEST_CASE("every field of every operator has a label") {
    std::set<std::pair<std::string, std::string>> fields;
    for (const compiler::Field& field : compiler::layer_table())
        fields.emplace("*", std::string(field.name));
    for (const compiler::OpDef* op : compiler::all_ops()) {
        if (!op->layer) continue;
        for (const compiler::Field& field : op->fields) {
            fields.emplace(op->name, std::string(field.name));
            fields.emplace("*", std::string(field.name));
            CHECK_MESSAGE(plan::find_layer_meaning(op->name, field.name),
                          op->name << "." << std::string(field.name)
                                   << " has no line in plan/diff/layer_meanings.cpp");
        }
    }
    CHECK(fields.size() > 20);
    std::set<std::pair<std::string, std::string>> known;
    for (const plan::LayerMeaning& entry : plan::layer_meanings()) {
        std::pair<std::string, std::string> field{entry.type, entry.field};
        CHECK_MESSAGE(fields.contains(field),
                      field.first << "." << field.second << " is labelled and is no field");
        CHECK_MESSAGE(known.insert(field).second,
                      field.first << "." << field.second << " is labelled twice");
        CHECK_MESSAGE(has_reason(entry.reason), field.first << "." << field.second);
    }
}

}  // namespace labels_test
