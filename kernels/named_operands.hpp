#pragma once
/// The memory of a problem's operands by the names of its operator's signature.

#include <cassert>

#include "base/tensor/signature.hpp"
#include "kernels/arguments/arguments.hpp"
#include "kernels/problem.hpp"

namespace dtnn::kernels {

class NamedOperands {
  public:
    /// The operator has a signature, by which the problem's operands have been checked.
    NamedOperands(const Problem& problem, Sources sources, Destinations destinations)
        : problem_(problem),
          sources_(sources),
          destinations_(destinations),
          signature_(find_signature(problem.op)) {
        assert(signature_ != nullptr);
    }

    /// Null: the problem has none.
    template <class T>
    const T* source(const char* name) const {
        const auto place = place_of(signature_->sources, name, problem_.attributes);
        return place ? static_cast<const T*>(sources_[*place]) : nullptr;
    }
    template <class T>
    T* destination(const char* name) const {
        const auto place = place_of(signature_->destinations, name, problem_.attributes);
        return place ? static_cast<T*>(destinations_[*place]) : nullptr;
    }

  private:
    const Problem& problem_;
    Sources sources_;
    Destinations destinations_;
    const Signature* signature_;
};

}  // namespace dtnn::kernels
