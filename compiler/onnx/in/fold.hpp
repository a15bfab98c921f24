#pragma once
/// What is worked out of numbers that are known.

#include <vector>

#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {

/// A node whose inputs are all known.
struct Folding {
    const NodeReader& node;
    std::vector<const Constant*> in;
    Constants& constants;
    bool& spans_batch;  ///< whether the result has an axis as long as the batch

    const Constant& x() const { return *in[0]; }
    const Constant& at(std::size_t i) const {
        if (i >= in.size() || !in[i]) throw Refused("it has too few inputs");
        return *in[i];
    }
    Constant make(Dims dims, const Numbers& numbers) const {
        return constants.make(std::move(dims), x().real, numbers);
    }
    std::vector<std::int64_t> list(std::size_t i) const {
        return i < in.size() && in[i] ? integers_of(*in[i]) : std::vector<std::int64_t>{};
    }
    std::vector<std::int64_t> axes(std::int64_t since) const {
        return node.opset() < since ? node.integers("axes") : list(1);
    }
    /// Extents, of which the batch is 1.
    Dims extents(std::size_t i) const {
        Dims dims = list(i);
        for (std::int64_t& extent : dims) {
            if (batch_of(double(extent)) == 1) {
                spans_batch = true;
                extent = 1;
            }
            if (extent < 0 || extent > kFar)
                throw Refused("it makes a constant without a sound shape");
        }
        return dims;
    }
};

// Numbers in other places, or several times.
Constant fold_reshape(const Folding& f);
Constant fold_squeeze(const Folding& f);
Constant fold_unsqueeze(const Folding& f);
Constant fold_transpose(const Folding& f);
Constant fold_gather(const Folding& f);
Constant fold_slice(const Folding& f);
Constant fold_concat(const Folding& f);
Constant fold_constant_of_shape(const Folding& f);
Constant fold_expand(const Folding& f);
Constant fold_tile(const Folding& f);
Constant fold_trilu(const Folding& f);
Constant fold_pad(const Folding& f);
/// The results of a Split, which are several.
void fold_split(const Folding& f);

}  // namespace dtnn::compiler::onnx
