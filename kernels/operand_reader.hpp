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
    /// Of the next one, by channel.
    ImageLayout layout() const { return layout_of(problem_.sources[at_]); }
    ImageLayout layout_of(const TensorDesc& tensor) const {
        return channel_layout(tensor, axis_of(problem_)).value();
    }

  private:
    const Problem& problem_;
    Sources sources_;
    std::size_t at_ = 0;
};

}  // namespace dtnn::kernels
