#include "base/tensor/signature.hpp"

#include <algorithm>
#include <sstream>
#include <unordered_map>

namespace dtnn {
namespace {

using Condition = Operand::Condition;

/// The text behind the mark, which is cut off; none without a mark.
std::optional<std::string> cut_at(std::string& text, std::string_view mark) {
    const std::size_t at = text.find(mark);
    if (at == std::string::npos) return std::nullopt;
    std::string rest = text.substr(at + mark.size());
    text.erase(at);
    return rest;
}

std::vector<std::string> split(const std::string& text, char mark) {
    std::vector<std::string> parts;
    std::istringstream stream{text};
    for (std::string part; std::getline(stream, part, mark);)
        parts.push_back(part);
    return parts;
}

Condition read_condition(std::string text) {
    Condition condition;
    if (const auto other = cut_at(text, "!=")) {
        condition.test = Condition::Test::other_text;
        condition.texts = {*other};
    } else if (const auto texts = cut_at(text, "=")) {
        condition.test = Condition::Test::text;
        condition.texts = split(*texts, '|');
    } else if (cut_at(text, ">")) {
        condition.test = Condition::Test::above_zero;
    } else if (text.front() == '!') {
        condition.test = Condition::Test::not_set;
        text.erase(0, 1);
    }
    condition.attribute = text;
    return condition;
}

OperandList read_operands(const char* text) {
    OperandList operands;
    std::istringstream words{text};
    for (std::string word; words >> word;) {
        Operand operand;
        const auto conditions = cut_at(word, "?");
        if (const auto kind = cut_at(word, ":"))
            operand.kind = *kind == "count" ? Operand::Kind::count : Operand::Kind::number;
        operand.repeated = cut_at(word, "...").has_value();
        if (conditions)
            for (const std::string& one : split(conditions->empty() ? word : *conditions, '&'))
                operand.conditions.push_back(read_condition(one));
        operand.name = word;
        operands.push_back(std::move(operand));
    }
    return operands;
}

bool holds(const Condition& condition, const Attributes& attributes) {
    const auto found = attributes.find(condition.attribute);
    const AttributeValue* value = found == attributes.end() ? nullptr : &found->second;
    const auto is_text = [&] {
        const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
        return text != nullptr && std::find(condition.texts.begin(), condition.texts.end(),
                                            *text) != condition.texts.end();
    };
    const auto is_set = [&] {
        const auto* flag = value == nullptr ? nullptr : std::get_if<bool>(value);
        return flag != nullptr && *flag;
    };
    switch (condition.test) {
        case Condition::Test::set:
            return is_set();
        case Condition::Test::not_set:
            return !is_set();
        case Condition::Test::text:
            return is_text();
        case Condition::Test::other_text:
            return !is_text();
        case Condition::Test::above_zero:
            break;
    }
    if (value == nullptr) return false;
    if (const auto* whole = std::get_if<std::int64_t>(value)) return *whole > 0;
    const auto* real = std::get_if<double>(value);
    return real != nullptr && *real > 0;
}

}  // namespace

const Signature* find_signature(std::string_view op) {
    static const std::unordered_map<std::string_view, Signature> kSignatures{
#define DTNN_SIGNATURE(op, sources, destinations) \
    {#op, {read_operands(sources), read_operands(destinations)}},
#include "base/tensor/signatures.def"
#undef DTNN_SIGNATURE
    };
    const auto found = kSignatures.find(op);
    return found == kSignatures.end() ? nullptr : &found->second;
}

bool PresentOperands::is_there(const Operand& operand) const {
    return std::all_of(operand.conditions.begin(), operand.conditions.end(),
                       [&](const Condition& one) { return holds(one, *attributes_); });
}

std::vector<const Operand*> PresentOperands::list() const {
    std::vector<const Operand*> present;
    for (const Operand& operand : *operands_)
        if (is_there(operand)) present.push_back(&operand);
    return present;
}

std::size_t PresentOperands::count() const {
    return std::size_t(std::count_if(operands_->begin(), operands_->end(),
                                     [&](const Operand& operand) { return is_there(operand); }));
}

bool PresentOperands::fit(std::size_t count) const {
    const bool any_number =
        std::any_of(operands_->begin(), operands_->end(),
                    [&](const Operand& operand) { return operand.repeated && is_there(operand); });
    return any_number ? count + 1 >= this->count() : count == this->count();
}

std::optional<std::size_t> PresentOperands::place_of(std::string_view name,
                                                     std::size_t count) const {
    bool behind_repeated = false;
    std::size_t before = 0;
    for (const Operand& operand : *operands_) {
        if (!is_there(operand)) continue;
        if (operand.name == name) {
            const std::size_t place = behind_repeated ? count + before - this->count() : before;
            return place < count ? std::optional(place) : std::nullopt;
        }
        behind_repeated = behind_repeated || operand.repeated;
        ++before;
    }
    return std::nullopt;
}

}  // namespace dtnn
