#pragma once
/// How the arguments of kernels with optional operands are read.

#include "kernels/arguments/arguments.hpp"
#include "kernels/layout.hpp"
#include "kernels/problem.hpp"

namespace dtnn::kernels {

/// Takes the operands in order: the optional ones shift those after them.
class OperandReader {
  public:
    OperandReader(const Problem& problem, Sources sources) : problem_(problem), sources_(sources) {}
    template <class T>
    const T* next() {
        return static_cast<const T*>(sources_[at_++]);
    }
    ImageLayout layout() const { return image_layout(problem_.sources[at_]); }

  private:
    const Problem& problem_;
    Sources sources_;
    std::size_t at_ = 0;
};

}  // namespace dtnn::kernels
