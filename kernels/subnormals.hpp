#pragma once
/// Subnormal numbers (below 1.2e-38 in float, 2.2e-308 in double), on which processors work for a
/// hundred cycles or more each: where they are read and made as 0. The mode belongs to a thread.

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace dtnn::kernels {

/// How the calling thread computes: flags of its control register.
inline unsigned number_mode() {
#if defined(__x86_64__)
    return _mm_getcsr() & ~unsigned(_MM_EXCEPT_MASK);
#else
    return 0;
#endif
}

inline void set_number_mode([[maybe_unused]] unsigned mode) {
#if defined(__x86_64__)
    _mm_setcsr(mode);
#endif
}

/// The calling thread flushes them while this lives. On processors other than x86-64 they stay
/// what they are.
class SubnormalsFlushed {
  public:
    explicit SubnormalsFlushed(bool flush) : before_(number_mode()) {
        constexpr unsigned kResults = 0x8000, kOperands = 0x0040;
        if (flush) set_number_mode(before_ | kResults | kOperands);
    }
    ~SubnormalsFlushed() { set_number_mode(before_); }
    SubnormalsFlushed(const SubnormalsFlushed&) = delete;
    SubnormalsFlushed& operator=(const SubnormalsFlushed&) = delete;

  private:
    unsigned before_;
};

}  // namespace dtnn::kernels
