// --set a.b=c: a path of field names and list indices, and a YAML value, applied to the composed
// tree.

#include <fmt/format.h>

#include "compiler/frontend/composition.hpp"
#include "compiler/frontend/scalars.hpp"
#include "compiler/frontend/value_reader.hpp"
#include "compiler/frontend/yaml_reader.hpp"
#include "compiler/ops/op.hpp"

namespace dtnn::compiler {
namespace {

int characters(std::string_view bytes) {
    int count = 0;
    for (const char c : bytes)
        count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
    return count;
}

/// The variant field of a training spec; in it, another name replaces the one that is there.
bool is_variant(const std::vector<std::string>& path, std::size_t depth) {
    return depth == 2 && path[0] == "training" && path[1] == "optimizer";
}

}  // namespace

std::vector<Composer::Setting> Composer::parse_settings() {
    std::vector<Setting> settings;
    for (const std::string& text : options_.settings) {
        Setting setting;
        setting.argument = "--set " + text;
        const std::string& argument = setting.argument;
        constexpr std::size_t kBegin = 6;
        const std::size_t equals = argument.find('=', kBegin);
        const auto span = [&](std::size_t begin, std::size_t end) {
            return Span{{argument, 1, characters(argument.substr(0, begin)) + 1},
                        std::max(1, characters(argument.substr(begin, end - begin)))};
        };
        diagnostics_.add_file(argument, argument);
        if (equals == std::string::npos) {
            diagnostics_
                .error(Code::bad_setting, span(kBegin, argument.size()),
                       "a setting without `=`; it must be path=value")
                .help = "such as --set training.batch_size=128";
            continue;
        }
        bool sound = true;
        for (std::size_t begin = kBegin; begin <= equals;) {
            const std::size_t end = std::min(argument.find('.', begin), equals);
            if (begin == end) {
                diagnostics_
                    .error(
                        Code::bad_setting, span(begin, begin + 1),
                        "a setting with an empty name in its path; it must be names joined by dots")
                    .help = "such as --set training.batch_size=128";
                sound = false;
                break;
            }
            setting.path.push_back(argument.substr(begin, end - begin));
            setting.spans.push_back(span(begin, end));
            begin = end + 1;
        }
        if (!sound) continue;
        auto value = read_yaml_value(argument, equals + 1, diagnostics_);
        if (!value) continue;
        setting.value = std::move(*value);
        settings.push_back(std::move(setting));
    }
    return settings;
}

void Composer::apply(Setting& setting, SourceNode& job) {
    setting.applied = true;
    if (setting.path.back() == "extends" && setting.path.size() <= 2) {
        diagnostics_
            .error(Code::bad_setting, setting.spans.back(),
                   "a setting of `extends`; what a spec extends is merged before settings apply")
            .help = "such as --set training='{extends: adam}'";
        return;
    }
    SourceNode* node = &job;
    for (std::size_t depth = 0; depth < setting.path.size(); ++depth) {
        const std::string& key = setting.path[depth];
        const Span& span = setting.spans[depth];
        if (node->is_list()) {
            // `add: [[...], []]` is short for `add: {branches: [[...], []]}`, and settings may say
            // either.
            if (key == "branches" && depth + 1 < setting.path.size()) continue;
            const ParsedInteger index = parse_integer(key);
            if (!index.value) {
                diagnostics_
                    .error(Code::bad_setting, span,
                           fmt::format("`{}` leads into a list; here an index is wanted", key))
                    .help =
                    fmt::format("the list has {} values; the first is 0", node->items.size());
                return;
            }
            if (*index.value < 0 || *index.value >= static_cast<std::int64_t>(node->items.size())) {
                diagnostics_.error(
                    Code::out_of_range, span,
                    fmt::format("the index is {}; the list has {} values and the first is 0", key,
                                node->items.size()));
                return;
            }
            node = &node->items[static_cast<std::size_t>(*index.value)];
            continue;
        }
        if (node->is_scalar() && (find_op(node->text) || is_variant(setting.path, depth))) {
            // `relu` is short for `relu: {}`.
            SourceNode map = make_map(node->span);
            SourceNode none;
            none.span = node->span;
            map.entries.push_back({node->text, node->span, std::move(none)});
            *node = std::move(map);
        }
        const bool is_layer = node->is_map() && node->entries.size() == 1 && depth > 0 &&
                              parse_integer(setting.path[depth - 1]).value &&
                              find_op(node->entries[0].key);
        if (is_layer && node->entries[0].key != key) {
            Diagnostic& error = diagnostics_.error(
                Code::bad_setting, span,
                fmt::format("the layer is `{}`, not `{}`", node->entries[0].key, key));
            error.notes.push_back({node->entries[0].key_span, "the layer is here"});
            return;
        }
        if (!node->is_map()) {
            if (!node->is_null()) {
                Diagnostic& error =
                    diagnostics_.error(Code::bad_setting, span,
                                       fmt::format("`{}` is no field of {}, which is a plain value",
                                                   key, describe(*node)));
                if (!node->span.place.file.empty())
                    error.notes.push_back({node->span, "the value is given here"});
                return;
            }
            *node = make_map(span);
        }
        if (is_variant(setting.path, depth) && !node->find(key)) node->entries.clear();
        SourceEntry* entry = node->find(key);
        if (!entry) {
            SourceNode none;
            none.span = span;
            node->entries.push_back({key, span, std::move(none)});
            entry = &node->entries.back();
        }
        if (depth + 1 == setting.path.size()) entry->key_span = span;
        node = &entry->value;
    }
    *node = setting.value;
}

}  // namespace dtnn::compiler
