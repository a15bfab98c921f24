#pragma once
/// Whether a sanitizer is built in: every access is looked at then, and costs ten times as much.

namespace dtnn {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Whether it is the one that looks at threads: what runs in one thread tells it nothing.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitized = true;
#else
inline constexpr bool kThreadSanitized = false;
#endif

}  // namespace dtnn
