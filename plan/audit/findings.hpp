#pragma once
/// The list that the parts of the audit write into. Internal to the auditor.

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/name_index.hpp"
#include "plan/plan.hpp"

namespace dtnn::plan {

/// A broken plan has no end of them.
inline constexpr std::size_t kMostFindings = 64;

using Findings = std::vector<std::string>;

template <class... Args>
void find(Findings& findings, fmt::format_string<Args...> format, Args&&... args) {
    if (findings.size() < kMostFindings)
        findings.push_back(fmt::format(format, std::forward<Args>(args)...));
}

inline bool persistent(const Buffer& buffer) {
    return buffer.program < 0;
}

/// Every record has a name, and no two the same.
template <class Records>
void check_names(const Records& records, std::string_view what, Findings& findings) {
    NameIndex seen(records.size());
    for (std::uint32_t i = 0; i < records.size(); ++i) {
        const std::string& name = records[i].name;
        if (name.empty()) find(findings, "a {} has no name", what);
        if (seen.find_or_add(name, i, [&](std::uint32_t n) -> const std::string& {
                return records[n].name;
            }) != i)
            find(findings, "two {}s are named `{}`", what, name);
    }
}

}  // namespace dtnn::plan
