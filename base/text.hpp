#pragma once
/// Text and numbers as people read them. Pure functions; nothing here depends on the locale.

#include <cstdint>
#include <string>
#include <string_view>

namespace dtnn {

/// 1234567 as "1,234,567".
std::string grouped(std::int64_t number);

/// ASCII letters in lower case; other bytes as they are.
std::string lower(std::string_view text);

/// How many characters UTF-8 text has: its bytes without continuation bytes.
int characters(std::string_view text);

}  // namespace dtnn
