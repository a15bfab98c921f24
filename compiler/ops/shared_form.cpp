#include "compiler/ops/shared_form.hpp"

#include <algorithm>

namespace dtnn::compiler {

std::optional<SharedForm> shared_form(const OpDef& reader, const Dims& wanted, const OpDef& owner,
                                      const Dims& there) {
    if (reader.name == owner.name && wanted == there) return SharedForm::as_it_is;
    const auto& owners = reader.reads_transposed;
    const bool may = std::find(owners.begin(), owners.end(), owner.name) != owners.end();
    if (may && std::equal(wanted.begin(), wanted.end(), there.rbegin(), there.rend()))
        return wanted.size() == 2 ? std::optional(SharedForm::transposed) : std::nullopt;
    return std::nullopt;
}

}  // namespace dtnn::compiler
