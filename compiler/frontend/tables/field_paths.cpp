#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {
namespace {

/// The field that a path of fields, indices and members of sets leads to:
/// "schedules[0].cosine.epochs".
const Field* field_below(const FieldTable& table, std::string_view path) {
    const Field* field = find_field(table, path.substr(0, path.find_first_of(".[")));
    std::size_t dot = path.find('.');
    if (!field || dot == std::string_view::npos) return field;
    const std::string_view rest = path.substr(dot + 1);
    if (field->fields) return field_below(*field->fields, rest);
    if (!field->components) return nullptr;
    dot = rest.find('.');
    const ComponentInfo* member = field->components->find(rest.substr(0, dot));
    if (!member || dot == std::string_view::npos) return nullptr;
    return field_below(*member->fields, rest.substr(dot + 1));
}

}  // namespace

const Field* field_of_path(std::string_view path) {
    if (path.starts_with("model.input.") || path.starts_with("model.inputs."))
        return find_field(named_input_table(), path.substr(path.rfind('.') + 1));
    if (path.starts_with("model.parameters.")) return find_field(model_table(), "parameters");
    const std::size_t dot = path.find('.');
    if (const KindInfo* kind = find_kind(path.substr(0, dot));
        kind && dot != std::string_view::npos && kind->kind != SpecKind::job)
        return field_below(*kind->fields, path.substr(dot + 1));
    return field_below(job_table(), path);
}

}  // namespace dtnn::compiler
