#include "compiler/ir/taken_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/graph.hpp"

namespace dtnn::compiler {
namespace {

// A sound graph has no name twice; of one that is being broken or mended, counts this far hold.
constexpr std::uint8_t kMany = 255;

}  // namespace

void TakenNames::add(Name name) {
    if (name.number() == Name::kNone) return;
    if (name.number() >= taken_.size())
        taken_.resize(std::max<std::size_t>(2 * taken_.size(), name.number() + 64));
    if (taken_[name.number()] < kMany) ++taken_[name.number()];
}

void TakenNames::update(const std::vector<Value>& values) {
    for (; known_ < values.size(); ++known_)
        add(values[known_].name);
}

bool TakenNames::add_last(const std::vector<Value>& values) {
    const std::size_t last = values.size() - 1;
    for (; known_ < last; ++known_)
        add(values[known_].name);
    if (has(values[last].name)) return false;
    add(values[last].name);
    ++known_;
    return true;
}

void TakenNames::renamed(const std::vector<Value>& values, std::size_t index, Name before) {
    if (index >= known_) return;
    if (before.number() != Name::kNone && taken_[before.number()] < kMany)
        --taken_[before.number()];
    add(values[index].name);
}

Name TakenNames::unique(Pool& pool, const std::vector<Value>& values, const std::string& wanted,
                        bool taken) {
    update(values);
    const Name name = pool.name(wanted);
    if (!has(name)) return name;
    int& next = next_.try_emplace(name.number(), 1).first->second;
    for (;; ++next) {
        const Name numbered = pool.name(fmt::format("{}.{}", wanted, next));
        if (has(numbered)) continue;
        next += taken ? 1 : 0;
        return numbered;
    }
}

}  // namespace dtnn::compiler
