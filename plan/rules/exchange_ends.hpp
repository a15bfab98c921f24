#pragma once
/// The operators of steps that no kernel runs: the two ends of each kind of exchange between ranks.

#include <optional>
#include <string_view>

#include "plan/enums.hpp"

namespace dtnn::plan {

enum class End : std::uint8_t { start, wait };

struct ExchangeEnd {
    CollectiveKind kind = CollectiveKind::all_reduce;
    End end = End::start;
    bool operator==(const ExchangeEnd&) const = default;
};

inline constexpr ExchangeEnd kAllReduceStart{CollectiveKind::all_reduce, End::start};
inline constexpr ExchangeEnd kAllReduceWait{CollectiveKind::all_reduce, End::wait};
inline constexpr ExchangeEnd kReduceScatterStart{CollectiveKind::reduce_scatter, End::start};
inline constexpr ExchangeEnd kReduceScatterWait{CollectiveKind::reduce_scatter, End::wait};
inline constexpr ExchangeEnd kAllGatherStart{CollectiveKind::all_gather, End::start};
inline constexpr ExchangeEnd kAllGatherWait{CollectiveKind::all_gather, End::wait};

/// The one list of these operators, in the order of the ends above.
struct ExchangeOperator {
    const char* op;
    ExchangeEnd end;
};
inline constexpr ExchangeOperator kExchangeOperators[] = {
    {"all_reduce_start", kAllReduceStart},         {"all_reduce_wait", kAllReduceWait},
    {"reduce_scatter_start", kReduceScatterStart}, {"reduce_scatter_wait", kReduceScatterWait},
    {"all_gather_start", kAllGatherStart},         {"all_gather_wait", kAllGatherWait},
};

/// Which end of an exchange the operator of a step is; nothing: a kernel's.
constexpr std::optional<ExchangeEnd> exchange_end_of(std::string_view op) {
    for (const ExchangeOperator& one : kExchangeOperators)
        if (op == one.op) return one.end;
    return std::nullopt;
}

constexpr const char* operator_of(ExchangeEnd end) {
    for (const ExchangeOperator& one : kExchangeOperators)
        if (end == one.end) return one.op;
    return "";  // not reached: the list has all ends
}

/// Whether an operator of a step is an exchange between ranks rather than a kernel.
constexpr bool is_collective(std::string_view op) {
    return exchange_end_of(op).has_value();
}

}  // namespace dtnn::plan
