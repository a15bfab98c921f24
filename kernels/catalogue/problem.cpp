#include "kernels/problem.hpp"

#include <cassert>
#include <utility>

#include "base/tensor/epilogue.hpp"
#include "kernels/operands.hpp"

namespace dtnn::kernels {
namespace {

template <class Value>
const Value* find(const Attributes& attributes, const char* name) {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : std::get_if<Value>(&found->second);
}

const Signature& signature_of(const Problem& problem) {
    const Signature* signature = find_signature(problem.op);
    assert(signature != nullptr);
    return *signature;
}

}  // namespace

void Problem::set_dtype(DType floating) {
    dtype = floating;
    for (const auto* operands : {&sources, &destinations})
        for (const TensorType& operand : *operands)
            if (is_reduced(operand.dtype)) dtype = operand.dtype;
}

Problem problem_of(std::string op, Attributes attributes, std::vector<TensorType> sources,
                   std::vector<TensorType> destinations, const ProblemTarget& target) {
    Problem problem;
    problem.op = std::move(op);
    problem.sources = std::move(sources);
    problem.destinations = std::move(destinations);
    problem.attributes = std::move(attributes);
    problem.threads = target.threads;
    problem.isa = target.isa;
    problem.strict = target.strict;
    problem.set_dtype(target.dtype);
    return problem;
}

bool has_written_epilogue(const Problem& problem) {
    return epilogue_of(problem.attributes) == EpilogueForm::expression;
}

bool ends_in_relu(const Problem& problem) {
    return epilogue_of(problem.attributes) == EpilogueForm::relu;
}

bool Problem::flag(const char* name) const {
    const bool* value = find<bool>(attributes, name);
    return value != nullptr && *value;
}

std::int64_t Problem::integer(const char* name) const {
    if (!attributes.contains(name)) throw MissingAttribute(op, name);
    return integer(name, 0);
}

double Problem::real(const char* name) const {
    if (!attributes.contains(name)) throw MissingAttribute(op, name);
    return real(name, 0);
}

std::string Problem::text(const char* name) const {
    if (!attributes.contains(name)) throw MissingAttribute(op, name);
    return text(name, "");
}

std::int64_t Problem::integer(const char* name, std::int64_t absent) const {
    const auto* value = find<std::int64_t>(attributes, name);
    return value != nullptr ? *value : absent;
}

double Problem::real(const char* name, double absent) const {
    if (const auto* value = find<double>(attributes, name)) return *value;
    // A real that happens to be whole may come back from a plan's text as an integer.
    if (const auto* value = find<std::int64_t>(attributes, name)) return double(*value);
    return absent;
}

std::string Problem::text(const char* name, const char* absent) const {
    const auto* value = find<std::string>(attributes, name);
    return value != nullptr ? *value : absent;
}

std::vector<std::int64_t> Problem::integers(const char* name) const {
    const auto* value = find<std::vector<std::int64_t>>(attributes, name);
    return value != nullptr ? *value : std::vector<std::int64_t>{};
}

std::vector<double> Problem::reals(const char* name) const {
    const auto* value = find<std::vector<double>>(attributes, name);
    return value != nullptr ? *value : std::vector<double>{};
}

Operands::Operands(const Problem& of, Sources sources, Destinations destinations, Workspace scratch)
    : problem(of),
      workspace(scratch),
      sources_(sources),
      destinations_(destinations),
      present_sources_(signature_of(of).sources, of.attributes),
      present_results_(signature_of(of).destinations, of.attributes) {}

Operands::Source Operands::source_at(std::size_t place) const {
    return {problem, problem.sources[place], sources_.empty() ? nullptr : sources_[place]};
}

Operands::Result Operands::result_at(std::size_t place) const {
    return {problem, problem.destinations[place],
            destinations_.empty() ? nullptr : destinations_[place]};
}

Operands::Source Operands::source(std::string_view name, std::string_view or_name) const {
    const std::size_t count = problem.sources.size();
    if (const auto place = present_sources_.place_of(name, count)) return source_at(*place);
    return or_name.empty() ? Source() : source(or_name);
}

Operands::Result Operands::result(std::string_view name, std::string_view or_name) const {
    const std::size_t count = problem.destinations.size();
    if (const auto place = present_results_.place_of(name, count)) return result_at(*place);
    return or_name.empty() ? Result() : result(or_name);
}

Sources Operands::repeated() const {
    return sources_.first(sources_.size() + 1 - present_sources_.count());
}

std::optional<std::string> Operands::mistake() const {
    const auto check = [](const PresentOperands& wanted, std::size_t found,
                          const char* what) -> std::optional<std::string> {
        if (wanted.fit(found)) return std::nullopt;
        return "it has " + std::to_string(found) + " " + what + ", not " +
               std::to_string(wanted.count());
    };
    if (auto few = check(present_sources_, problem.sources.size(), "sources")) return few;
    return check(present_results_, problem.destinations.size(), "destinations");
}

}  // namespace dtnn::kernels
