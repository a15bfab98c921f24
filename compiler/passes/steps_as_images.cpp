#include "compiler/ops/axis.hpp"
#include "compiler/ops/sequence/sequence.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {
namespace {

class StepImages {
  public:
    explicit StepImages(const Graph& graph)
        : graph_(graph), uses_(graph), r_(graph), images_(graph.values.size()) {}

    Graph run() {
        for (const Node& node : graph_.nodes) {
            const OpDef& def = op(node.op);
            if (def.over_images) {
                go_over_images(node, def.over_images(graph_, node));
            } else if (def.follows_images && reads_image(node)) {
                go_over_images(node, node);
            } else {
                for (const ValueId input : node.inputs)
                    need_steps(input, node);
                r_.copy(node);
            }
        }
        for (const Node& node : graph_.nodes)
            for (const ValueId output : node.outputs)
                if (uses_.leaves(output)) need_steps(output, node);
        return r_.take();
    }

  private:
    bool reads_image(const Node& node) const {
        bool reads = false;
        for (const ValueId input : node.inputs)
            reads = reads || images_[input.index()].valid();
        return reads;
    }

    void go_over_images(const Node& old, Node node) {
        for (ValueId& input : node.inputs)
            input = is_sequence(graph_.type(input)) ? image_of(input, old) : r_.map(input);
        node.outputs.clear();
        const ValueList results = emit(r_, std::move(node), graph_.value(old.outputs[0]).name);
        for (std::size_t i = 0; i < results.size(); ++i) {
            if (is_sequence(graph_.type(old.outputs[i])))
                images_[old.outputs[i].index()] = results[i];
            else
                r_.replace(old.outputs[i], results[i]);
        }
    }

    /// The same bytes as `type`, which has as many features.
    ValueId seen_as(const Type& type, ValueId value, const Node& near, const std::string& name) {
        Node rows;
        rows.phase = near.phase;
        rows.layer = near.layer;
        rows.place = near.place;
        Node seen = rows;
        rows.op = "pixels_to_rows";
        rows.inputs = {value};
        seen.op = "rows_to_pixels";
        seen.inputs = {emit(r_, std::move(rows), name + ".rows")[0]};
        seen.attributes = shape_attributes(type);
        return emit(r_, std::move(seen), name)[0];
    }

    ValueId image_of(ValueId old, const Node& near) {
        ValueId& image = images_[old.index()];
        if (image.valid()) return image;
        const Type& steps = graph_.type(old);
        const Type type{
            steps.dtype, {steps.dims[0], steps.dims[2], 1, steps.dims[1]}, {}, usual_axes(3)};
        return image = seen_as(type, r_.map(old), near, graph_.value(old).name + ".image");
    }

    /// A result that is an image there, for what reads it as the sequence it was.
    void need_steps(ValueId old, const Node& near) {
        const ValueId image = images_[old.index()];
        if (!image.valid() || r_.is_mapped(old)) return;
        r_.replace(old, seen_as(graph_.type(old), image, near, graph_.value(old).name + ".steps"));
    }

    const Graph& graph_;
    const Uses uses_;
    Rewriter r_;
    std::vector<ValueId> images_;  // of the new graph, by old value
};

}  // namespace

/// Lets windows over steps be those over images of one row, [features, 1, steps], for which there
/// are gradients, fusions and kernels:
///
///     %y = conv1d(%x: T[N,T,F], @w)   ->   %r = pixels_to_rows(%x)
///                                          %i = rows_to_pixels(%r) : T[N,F,1,T]
///                                          %y = conv2d(%i, @w)
///     %z = softmax(%y)                     %q = pixels_to_rows(%y)
///                                          %s = rows_to_pixels(%q) : T[N,T,F]
///                                          %z = softmax(%s)
///     %b = batch_norm(%y)             ->   of the image, as are activations and sums
///
/// Images are stored channels last, so these views move no bytes. What stands between two such
/// operators and means the same feature by feature stays over images, so that fusions see it. After
/// specialise_phase and continue_steps, which know steps; before differentiation. Must not fire on
/// what reads no image and is none.
std::optional<Graph> steps_as_images(const Graph& graph, PassContext&) {
    bool any = false;
    for (const Node& node : graph.nodes)
        any = any || op(node.op).over_images;
    if (!any) return std::nullopt;
    return StepImages(graph).run();
}

}  // namespace dtnn::compiler
