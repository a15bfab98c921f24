#pragma once
/// What attention is read from: operands of products by their heads.

#include <optional>

#include "base/saturating.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {

inline std::int64_t count_of(const std::vector<Piece>& pieces) {
    std::int64_t count = 1;
    for (const Piece& piece : pieces)
        count = saturating_product({count, piece.extent});
    return count;
}

/// An operand of a product of heads, [batch, heads, steps, numbers] or with the heads beside the
/// batch, by the pieces that its axes are.
struct Side {
    ImportedValue value;
    std::vector<Piece> heads, steps, numbers;
    std::int64_t times = 1;  ///< how often each head stands, one behind the other
    double factor = 1;

    std::int64_t count() const { return saturating_product({count_of(heads), times}); }
};

/// softmax(scale * query key^T + mask), as far as the file has come.
struct Scores {
    Side query, key;
    std::size_t rank = 0;  ///< of the file's values
    double scale = 1, dropout = 0;
    bool causal = false;
    bool are_shares = false;  ///< behind the softmax
    bool are_asked = false;   ///< whether they are NaN
    const NodeProto *product = nullptr, *softmax = nullptr;
};

/// Nothing where the value's axes are others; `turned`: its numbers come before its steps.
std::optional<Side> side_of(Importer& importer, const ImportedValue& given, bool turned);
/// Whether the side is a sequence as it stands.
bool is_sequence_itself(const Side& side);
/// [steps, heads * numbers], by layers that move numbers where they lie otherwise.
ImportedValue sequence_of(const NodeReader& node, const Side& side);
/// The layer of the scores, behind their softmax, and values: the node's result, as [batch, heads,
/// steps, numbers] or as the file has it otherwise.
void weigh(const NodeReader& node, const Scores& scores, const Side& value);
double rounded(double number);

}  // namespace dtnn::compiler::onnx
