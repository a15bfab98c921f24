/// Numbers that change places: slices that are joined elsewhere.

#include <algorithm>

#include "base/saturating.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;
using Pieces = std::vector<Piece>;

/// The most slices that one move is said by.
constexpr std::int64_t kMostSlices = 64;

std::int64_t numbers_of_pieces(Pieces::const_iterator begin, Pieces::const_iterator end) {
    std::int64_t product = 1;
    for (; begin != end; ++begin)
        product = saturating_product({product, begin->extent});
    return product;
}

class Mover {
  public:
    Mover(const NodeReader& node, ImportedValue value) : node_(node), value_(std::move(value)) {}

    /// From [before, a, b, behind] to [before, b, a, behind], in the order of rows; false where it
    /// takes too many slices.
    bool swap(std::int64_t before, std::int64_t a, std::int64_t b, std::int64_t behind) {
        const std::int64_t slices = std::min(a, b);
        if (slices > kMostSlices) return false;
        // Slices of a are [before, b, behind] each, those of b [before, a, behind].
        const bool of_a = a <= b;
        const std::int64_t each = of_a ? b * behind : behind;
        const Integers wanted = of_a ? Integers{before * b, behind} : Integers{before, a * behind};
        const bool of_channels =
            of_a && before == 1 && is_image(value_.type) && value_.type.dims[1] % a == 0;
        if (!of_channels) shape({of_a ? before : before * a, slices * each});
        const std::int64_t step = of_channels ? value_.type.dims[1] / a : each;
        const ImportedValue whole = value_;
        std::vector<ImportedValue> parts;
        for (std::int64_t i = 0; i < slices; ++i) {
            Attributes fields{{"begin", i * step}, {"end", (i + 1) * step}};
            value_ = layer("slice", std::move(fields), {&whole});
            shape(wanted);
            parts.push_back(value_);
        }
        std::vector<const ImportedValue*> sources;
        for (const ImportedValue& part : parts)
            sources.push_back(&part);
        if (sources.size() > 1) value_ = layer("concat", {}, sources);
        return true;
    }

    const ImportedValue& value() const { return value_; }

  private:
    ImportedValue layer(const char* type, Attributes fields,
                        const std::vector<const ImportedValue*>& sources) const {
        const int made =
            node_.importer().add_layer(node_.node(), type, std::move(fields), sources, {});
        return node_.importer().layer(made).value;
    }

    void shape(const Integers& wanted) {
        const Dims& dims = value_.type.dims;
        if (dims.size() != 3 || !std::equal(wanted.begin(), wanted.end(), dims.begin() + 1))
            value_ = layer("reshape", {{"shape", wanted}}, {&value_});
    }

    const NodeReader& node_;
    ImportedValue value_;
};

}  // namespace

std::optional<ImportedValue> moved(const NodeReader& node, const ImportedValue& src,
                                   std::vector<Piece> wanted) {
    std::erase_if(wanted, [](const Piece& piece) { return piece.extent == 1; });
    const std::int64_t all = element_count(src.type.dims);
    if (numbers_of_pieces(wanted.begin(), wanted.end()) != all) return std::nullopt;
    for (const Piece& piece : wanted)
        if (piece.axis < 1) return std::nullopt;
    Pieces now = wanted;
    std::sort(now.begin(), now.end(), [](const Piece& a, const Piece& b) {
        return a.axis != b.axis ? a.axis < b.axis : a.step > b.step;
    });
    Mover mover(node, src);
    for (std::size_t at = 0; at < now.size(); ++at) {
        const auto here = now.begin() + std::ptrdiff_t(at);
        const auto from = std::find(here, now.end(), wanted[at]);
        // What follows it there as here comes along.
        auto end = from;
        for (std::size_t i = at; end != now.end() && i < wanted.size() && *end == wanted[i]; ++i)
            ++end;
        if (from == here) continue;
        if (!mover.swap(numbers_of_pieces(now.begin(), here), numbers_of_pieces(here, from),
                        numbers_of_pieces(from, end), numbers_of_pieces(end, now.end())))
            return std::nullopt;
        std::rotate(here, from, end);
    }
    return mover.value();
}

void read_depth_to_space(const NodeReader& node) {
    const ImportedValue src = node.image();
    const std::int64_t size = node.integer("blocksize", 0), channels = src.extent(1);
    const std::int64_t cells = std::max<std::int64_t>(saturating_product({size, size}), 1);
    if (src.rank() != 4 || size < 1 || channels % cells != 0)
        throw Refused("its blocks do not divide its channels");
    const std::int64_t each = channels / cells;
    const bool columns_last = node.text("mode", "DCR") == "CRD";
    const std::int64_t of_channel = columns_last ? size * size : 1;
    const std::int64_t of_column = columns_last ? 1 : each;
    View view(4);
    view[0] = {{0, 1, 1}};
    view[1] = {{1, of_channel, each}};
    view[2] = {{src.order[2], 1, src.extent(2)}, {1, size * of_column, size}};
    view[3] = {{src.order[3], 1, src.extent(3)}, {1, of_column, size}};
    node.result(settled(node, src, std::move(view)));
}

void read_space_to_depth(const NodeReader& node) {
    const ImportedValue src = node.image();
    const std::int64_t size = node.integer("blocksize", 0);
    if (src.rank() != 4 || size < 1 || src.extent(2) % size != 0 || src.extent(3) % size != 0)
        throw Refused("its blocks do not divide its height and width");
    View view(4);
    view[0] = {{0, 1, 1}};
    view[1] = {{src.order[2], 1, size}, {src.order[3], 1, size}, {1, 1, src.extent(1)}};
    if (node.text("mode", "DCR") == "CRD")
        std::rotate(view[1].begin(), view[1].end() - 1, view[1].end());
    view[2] = {{src.order[2], size, src.extent(2) / size}};
    view[3] = {{src.order[3], size, src.extent(3) / size}};
    node.result(settled(node, src, std::move(view)));
}

}  // namespace dtnn::compiler::onnx
