#pragma once
/// Whether a sanitizer is built in: every access is looked at then, and costs ten times as much.

namespace dtnn {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace dtnn
