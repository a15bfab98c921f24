#include "base/tensor/signature.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace dtnn {
namespace {

/// The text behind the mark, which is cut off; empty without a mark.
std::string cut_at(std::string& text, std::string_view mark) {
    const std::size_t at = text.find(mark);
    if (at == std::string::npos) return "";
    std::string rest = text.substr(at + mark.size());
    text.erase(at);
    return rest;
}

OperandList read_operands(const char* text) {
    OperandList operands;
    std::istringstream words{text};
    for (std::string word; words >> word;) {
        Operand operand;
        operand.attribute = cut_at(word, "?");
        operand.unless = cut_at(operand.attribute, "!=");
        operand.above_zero = !cut_at(operand.attribute, ">").empty();
        if (const std::string kind = cut_at(word, ":"); !kind.empty())
            operand.kind = kind == "count" ? Operand::Kind::count : Operand::Kind::number;
        operand.name = word;
        operands.push_back(std::move(operand));
    }
    return operands;
}

}  // namespace

const Signature* find_signature(std::string_view op) {
    static const Signature kSignatures[] = {
#define DTNN_SIGNATURE(op, sources, destinations) \
    {#op, read_operands(sources), read_operands(destinations)},
#include "base/tensor/signatures.def"
#undef DTNN_SIGNATURE
    };
    const auto* found = std::find_if(std::begin(kSignatures), std::end(kSignatures),
                                     [&](const Signature& one) { return one.op == op; });
    return found == std::end(kSignatures) ? nullptr : found;
}

bool is_there(const Operand& operand, const Attributes& attributes) {
    if (operand.attribute.empty()) return true;
    const auto found = attributes.find(operand.attribute);
    if (found == attributes.end()) return !operand.unless.empty();
    const AttributeValue& value = found->second;
    if (const auto* text = std::get_if<std::string>(&value)) return *text != operand.unless;
    if (const auto* flag = std::get_if<bool>(&value)) return *flag;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole > 0;
    const auto* real = std::get_if<double>(&value);
    return real != nullptr && *real > 0;
}

OperandList present(const OperandList& operands, const Attributes& attributes) {
    OperandList there;
    std::copy_if(operands.begin(), operands.end(), std::back_inserter(there),
                 [&](const Operand& operand) { return is_there(operand, attributes); });
    return there;
}

std::optional<std::size_t> place_of(const OperandList& operands, std::string_view name,
                                    const Attributes& attributes) {
    std::size_t place = 0;
    for (const Operand& operand : operands) {
        if (!is_there(operand, attributes)) continue;
        if (operand.name == name) return place;
        ++place;
    }
    return std::nullopt;
}

}  // namespace dtnn
