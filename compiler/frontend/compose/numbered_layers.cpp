#include "compiler/frontend/compose/numbered_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "compiler/frontend/expand/layers.hpp"
#include "compiler/frontend/formula/formula.hpp"
#include "compiler/frontend/read/scalars.hpp"

namespace dtnn::compiler {
namespace {

/// The lists of layers of an entry, in the order in which they are expanded.
std::vector<SourceNode*> lists_of(SourceNode& item) {
    std::vector<SourceNode*> lists;
    // The entry is the caller's to change, and its lists are parts of it.
    for (const SourceNode* list : nested_lists(raw_entry(item)))
        lists.push_back(const_cast<SourceNode*>(list));
    return lists;
}

class Numbering {
  public:
    Numbering(std::string type, std::int64_t number) : type_(std::move(type)), wanted_(number) {}

    std::int64_t count() const { return count_; }
    bool uncertain() const { return uncertain_; }
    SourceNode* found() const { return found_; }

    void walk(SourceNode& list) {
        for (SourceNode& item : list.items) {
            if (found_ || uncertain_) return;
            const std::string type(raw_entry(item).type);
            if (const auto control = control_word(type)) {
                const bool scope = item.entries[0].value.find("name") != nullptr;
                uncertain_ = !(scope && control == ControlWord::repeat) && makes(item);
                continue;
            }
            for (SourceNode* inner : lists_of(item))
                walk(*inner);
            if (found_ || uncertain_) return;
            uncertain_ = has_formula(type);
            if (type == type_ && ++count_ == wanted_) found_ = &item;
        }
    }

  private:
    /// Whether a layer of the type may come from the lists inside the entry.
    bool makes(SourceNode& item) const {
        for (SourceNode* list : lists_of(item))
            for (SourceNode& inner : list->items) {
                const std::string_view type = raw_entry(inner).type;
                if (type == type_ || has_formula(type) || makes(inner)) return true;
            }
        return false;
    }

    std::string type_;
    std::int64_t wanted_;
    std::int64_t count_ = 0;
    bool uncertain_ = false;
    SourceNode* found_ = nullptr;
};

}  // namespace

NumberedLayer find_numbered_layer(SourceNode& list, const std::string& name) {
    NumberedLayer made;
    if (name.find('/') != std::string::npos) {
        made.reason = fmt::format(
            "the layer `{}` is made when blocks and repeats are expanded; settings change the "
            "model as it is written",
            name);
        made.help =
            "set the layer in its block, such as model.blocks.BLOCK.layers.0.FIELD=VALUE, which "
            "holds for every use, or a parameter that it reads";
        return made;
    }
    const std::size_t end = name.find_last_of('_');
    if (end == std::string::npos) return made;
    const auto number = parse_integer(std::string_view(name).substr(end + 1)).value;
    if (!number || *number < 1) return made;
    const std::string type = name.substr(0, end);
    Numbering numbering(type, *number);
    numbering.walk(list);
    if (SourceNode* item = numbering.found()) {
        const SourceEntry* given = item->is_map() ? item->entries[0].value.find("name") : nullptr;
        if (!given) {
            made.item = item;
            return made;
        }
        made.reason = fmt::format("no layer is named `{}`: number {} of {} is named {}", name,
                                  *number, type, describe(given->value));
        made.help = "set it by that name";
    } else if (numbering.uncertain()) {
        made.reason = fmt::format(
            "which layer is `{}` is only known when repeats, conditions and expressions before it "
            "are worked out; settings change the model as it is written",
            name);
        made.help = "give the layer a `name`, or say where it stands by its index";
    } else if (numbering.count() > 0) {
        made.reason = fmt::format("no layer is named `{}`: the list has {} {}", name,
                                  numbering.count(), type);
        made.help = fmt::format("the last one is `{}_{}`", type, numbering.count());
    }
    return made;
}

}  // namespace dtnn::compiler
