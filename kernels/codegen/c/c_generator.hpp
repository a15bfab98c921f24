#pragma once
/// C as a generator, for debugging: the loop as a text that people read, made into machine code by
/// the system's compiler (the environment's CC, else cc). Slow to make, and the same bits as every
/// other form.

#include "kernels/codegen/generator.hpp"

namespace dtnn::kernels {

/// The loop in C with GCC's vectors, which Clang knows too.
std::string c_source(const Loop& loop);

class CGenerator final : public Generator {
  public:
    std::string name() const override;
    std::string generate(const Loop& loop, CodeForm form) const override;
};

}  // namespace dtnn::kernels
