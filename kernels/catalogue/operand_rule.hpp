#pragma once
/// What every kernel of an operator relies on: how many operands there are, their types, and how
/// their shapes and the attributes fit together (the table of docs/operators.md). A rule is a
/// function of operands_FAMILY.cpp, named in catalogue.def.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/layout.hpp"
#include "kernels/problem.hpp"

namespace dtnn::kernels::operands {

std::string text_of(const Dims& dims);  ///< "[2,3]"

/// Collects the first mistake; after one, further questions are answered from empty operands, so a
/// rule can be written without looking back after every line.
class Rule {
  public:
    explicit Rule(const Problem& problem) : problem_(problem) {}

    const Problem& problem() const { return problem_; }
    bool broken() const { return !mistake_.empty(); }
    std::optional<std::string> result() const {
        return broken() ? std::optional(mistake_) : std::nullopt;
    }

    void require(bool holds, const std::string& fact) {
        if (!holds && mistake_.empty()) mistake_ = fact;
    }
    /// Must come first: nothing else may be asked when it does not hold.
    bool counts(std::size_t sources, std::size_t destinations) {
        const auto check = [&](std::size_t found, std::size_t wanted, const char* what) {
            require(found == wanted, "it has " + std::to_string(found) + " " + what + ", not " +
                                         std::to_string(wanted));
        };
        check(problem_.sources.size(), sources, "sources");
        check(problem_.destinations.size(), destinations, "destinations");
        return !broken();
    }
    bool absent(const char* flag) {
        require(!problem_.flag(flag), "it cannot have `" + std::string(flag) + "`");
        return !broken();
    }
    void type(const TensorDesc& tensor, DType dtype) {
        require(tensor.dtype == dtype, "an operand " + text_of(tensor.dims) + " has another type");
    }
    /// The plan's floating type and these extents.
    void shape(const TensorDesc& tensor, const Dims& dims) { shape(tensor, dims, problem_.dtype); }
    void shape(const TensorDesc& tensor, const Dims& dims, DType dtype) {
        type(tensor, dtype);
        require(tensor.dims == dims,
                "an operand is " + text_of(tensor.dims) + ", not " + text_of(dims));
    }
    void elements(const TensorDesc& tensor, std::int64_t count) {
        elements(tensor, count, problem_.dtype);
    }
    void elements(const TensorDesc& tensor, std::int64_t count, DType dtype) {
        type(tensor, dtype);
        require(tensor.elements() == count, "an operand " + text_of(tensor.dims) + " has not " +
                                                std::to_string(count) + " elements");
    }
    /// Parameters, their gradients, statistics: never rounded to 16 bits.
    void wide(const TensorDesc& tensor, std::int64_t count) {
        elements(tensor, count, wide_of(problem_.dtype));
    }
    bool rank(const TensorDesc& tensor, std::size_t least, std::size_t most) {
        require(tensor.dims.size() >= least && tensor.dims.size() <= most,
                "an operand " + text_of(tensor.dims) + " has the wrong rank");
        return !broken();
    }
    /// The tensors have the axes, and orders in which lines along them can be walked together.
    bool lines(AxisRange axes, const std::vector<const TensorDesc*>& tensors) {
        const std::size_t rank = tensors[0]->dims.size();
        require(axes.first < rank && axes.count <= rank - axes.first,
                "an operand " + text_of(tensors[0]->dims) + " lacks the axis it is to have");
        if (!broken())
            require(axis_views(axes, tensors).has_value(),
                    "its operands do not go together along the axis");
        return !broken();
    }
    void same_place(const TensorDesc& a, const TensorDesc& b) {
        require(same_layout(a, b), "two operands are not stored alike");
    }
    /// The attribute's values, `fallback` when it is not there; refuses others than `count` from
    /// `least` on.
    template <std::size_t count>
    std::array<std::int64_t, count> values(const char* name, std::int64_t least,
                                           std::int64_t fallback) {
        constexpr std::int64_t kMost = 1 << 20;
        std::array<std::int64_t, count> result{};
        result.fill(fallback);
        const std::vector<std::int64_t> given = problem_.integers(name);
        if (given.empty()) return result;
        bool fine = given.size() == count;
        for (const std::int64_t value : given)
            fine = fine && value >= least && value <= kMost;
        require(fine, "its `" + std::string(name) + "` " + text_of(given) + " cannot be");
        if (fine) std::copy(given.begin(), given.end(), result.begin());
        return result;
    }

  private:
    const Problem& problem_;
    std::string mistake_;
};

/// image [N,C,H,W] and result [N,F,OH,OW] of a window of these extents.
void window(Rule& rule, const TensorDesc& image, const TensorDesc& result, std::int64_t height,
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
