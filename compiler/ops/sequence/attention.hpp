#pragma once
/// What attention and its gradient share.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// Extents of a node of either.
struct AttentionShape {
    std::int64_t batch = 0, queries = 0, keys = 0, heads = 0, key_value_heads = 0, width = 0;

    Dims results() const { return {batch, queries, heads * width}; }
    /// One number for each query of each head.
    Dims statistics() const { return {batch * heads * queries}; }
};

/// Of operands that are sequences and whose heads go into them; fails where they do not. Sets
/// `key_value_heads` and `scale` where they are not there.
std::optional<AttentionShape> expect_attention(ShapeContext& c);

/// Operations of `products` products of queries and keys, or of what has their extents.
std::int64_t attention_flops(const std::vector<Type>& inputs, const Attributes& attributes,
                             std::int64_t products);

}  // namespace dtnn::compiler
