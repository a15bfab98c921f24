#pragma once
/// The words of a catalogue's column `dtypes`: the types that a kernel has versions for, and what
/// else its arithmetic is (kernels/catalogue.hpp, KernelInfo).

namespace dtnn::kernels {

struct Precisions {
    bool f32, f64, reduced, transforms, blis = false, rounds = false, terms = false;
};

namespace precisions {

inline constexpr Precisions both{true, true, false, false};
inline constexpr Precisions all{true, true, true, false};
inline constexpr Precisions both_by_blis{true, true, false, false, true};
inline constexpr Precisions both_by_terms{true, true, false, false, false, false, true};
inline constexpr Precisions all_by_terms{true, true, true, false, false, false, true};
inline constexpr Precisions f32_only{true, false, false, false};
inline constexpr Precisions f64_only{false, true, false, false};
inline constexpr Precisions f32_transformed{true, false, false, true};
inline constexpr Precisions f32_rounded{true, false, false, false, false, true};

}  // namespace precisions
}  // namespace dtnn::kernels
