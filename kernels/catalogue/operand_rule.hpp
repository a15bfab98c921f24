#pragma once
/// What every kernel of an operator relies on, beside the number of its operands, which its
/// signature says: their types, and how their shapes and the attributes fit together. A rule is a
/// function of operands_FAMILY.cpp, named in catalogue.def.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/operands.hpp"

namespace dtnn::kernels::operands {

std::string text_of(const Dims& dims);  ///< "[2,3]"

/// An operand that something is asked of.
class Asked {
  public:
    Asked(const TensorType& tensor) : tensor_(&tensor) {}  // NOLINT: any operand may be
    Asked(const TensorType* tensor) : tensor_(tensor) {}   // NOLINT: null, where it is not there
    bool there() const { return tensor_ != nullptr; }
    const TensorType* operator->() const { return tensor_; }

  private:
    const TensorType* tensor_;
};

/// Collects the first mistake; after one, further questions are answered from empty operands, so a
/// rule can be written without looking back after every line.
class Rule {
  public:
    explicit Rule(const Problem& problem) : operands_(problem) {
        if (const auto mistake = operands_.mistake()) mistake_ = *mistake;
    }

    const Problem& problem() const { return operands_.problem; }
    /// An operand by its name, the source where a result is called so, too; null where the problem
    /// does not have it: then nothing is asked of it.
    const TensorType* operand(std::string_view name) const {
        const auto source = operands_.source(name);
        return source ? source.type() : operands_.result(name).type();
    }
    /// They are there where the rule is not broken.
    const TensorType& first_source() const { return problem().sources[0]; }
    const TensorType& first_result() const { return problem().destinations[0]; }
    /// Of all operands.
    std::vector<const TensorType*> all() const {
        std::vector<const TensorType*> tensors;
        for (const auto* list : {&problem().sources, &problem().destinations})
            for (const TensorType& tensor : *list)
                tensors.push_back(&tensor);
        return tensors;
    }
    bool broken() const { return !mistake_.empty(); }
    std::optional<std::string> mistake() const {
        return broken() ? std::optional(mistake_) : std::nullopt;
    }

    void require(bool holds, const std::string& fact) {
        if (!holds && mistake_.empty()) mistake_ = fact;
    }
    bool absent(const char* flag) {
        require(!problem().flag(flag), "it cannot have `" + std::string(flag) + "`");
        return !broken();
    }
    void type(Asked tensor, DType dtype) {
        if (tensor.there())
            require(tensor->dtype == dtype,
                    "an operand " + text_of(tensor->dims) + " has another type");
    }
    /// The plan's floating type and these extents.
    void shape(Asked tensor, const Dims& dims) { shape(tensor, dims, problem().dtype); }
    void shape(Asked tensor, const Dims& dims, DType dtype) {
        type(tensor, dtype);
        if (tensor.there())
            require(tensor->dims == dims,
                    "an operand is " + text_of(tensor->dims) + ", not " + text_of(dims));
    }
    void elements(Asked tensor, std::int64_t count) { elements(tensor, count, problem().dtype); }
    void elements(Asked tensor, std::int64_t count, DType dtype) {
        type(tensor, dtype);
        if (tensor.there())
            require(tensor->elements() == count, "an operand " + text_of(tensor->dims) +
                                                     " has not " + std::to_string(count) +
                                                     " elements");
    }
    /// Parameters, their gradients, statistics: never rounded to 16 bits.
    void wide(Asked tensor, std::int64_t count) {
        elements(tensor, count, wide_of(problem().dtype));
    }
    /// Of the shape of another, and stored as it is.
    void alike(Asked tensor, const TensorType& other) {
        shape(tensor, other.dims);
        same_place(tensor, other);
    }
    /// What a window slides over: [N,C,H,W].
    bool image(const TensorType& tensor) { return rank(tensor, 1 + image_axes().size()); }
    bool rank(const TensorType& tensor, std::size_t wanted) {
        require(tensor.dims.size() == wanted,
                "an operand " + text_of(tensor.dims) + " has the wrong rank");
        return !broken();
    }
    /// The tensors have the axes, and orders in which lines along them can be walked together.
    bool lines(AxisRange axes, const std::vector<const TensorType*>& tensors) {
        const std::size_t rank = tensors[0]->dims.size();
        require(axes.first < rank && axes.count <= rank - axes.first,
                "an operand " + text_of(tensors[0]->dims) + " lacks the axis it is to have");
        if (!broken())
            require(axis_views(axes, tensors).has_value(),
                    "its operands do not go together along the axis");
        return !broken();
    }
    void same_place(Asked a, const TensorType& b) {
        if (a.there() && !broken())
            require(same_layout(*a.operator->(), b), "two operands are not stored alike");
    }
    /// The attribute's values, `fallback` when it is not there; refuses others than `count` from
    /// `least` on.
    template <std::size_t count>
    std::array<std::int64_t, count> values(const char* name, std::int64_t least,
                                           std::int64_t fallback) {
        constexpr std::int64_t kMost = 1 << 20;
        std::array<std::int64_t, count> result{};
        result.fill(fallback);
        const std::vector<std::int64_t> given = problem().integers(name);
        if (given.empty()) return result;
        bool fine = given.size() == count;
        for (const std::int64_t value : given)
            fine = fine && value >= least && value <= kMost;
        require(fine, "its `" + std::string(name) + "` " + text_of(given) + " cannot be");
        if (fine) std::copy(given.begin(), given.end(), result.begin());
        return result;
    }

  private:
    Operands operands_;
    std::string mistake_;
};

/// image [N,C,H,W] and result [N,F,OH,OW] of a window of these extents.
void window(Rule& rule, const TensorType& image, const TensorType& result, std::int64_t height,
            std::int64_t width);

/// An epilogue that is an expression over so many numbers, alone: nothing else stands between it
/// and the operator's result.
void written_epilogue(Rule& rule, int sources);

#define KERNEL(op, name, Arguments, dtypes, needs, refuses, slower, workspace)
#define REFERENCE(op, Arguments, operands) void operands(Rule& rule);
#include "kernels/catalogue.def"
#undef KERNEL
#undef REFERENCE

}  // namespace dtnn::kernels::operands
