#pragma once
/// Texts that are dates.

#include <string_view>

namespace dtnn::runtime {

/// Whether the text is a date as tables have them, with or without a time of the day: 2024-03-31,
/// 2024/3/31, 31.03.2024, 3/31/2024, 31-Mar-24, 2024-03-31T12:30:00Z, 20 Mar 2024.
bool is_date(std::string_view text);

}  // namespace dtnn::runtime
