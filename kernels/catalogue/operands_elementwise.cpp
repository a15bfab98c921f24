/// Operators that work element by element.

#include "kernels/arguments/elementwise.hpp"
#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {

void dropout_apply(Rule& rule) {
    const Problem& p = rule.problem();
    const TensorType& src = rule.first_source();
    rule.require(!src.dims.empty() && merged_layout(src),
                 "an operand " + text_of(src.dims) + " is stored in too many pieces");
    rule.elements(rule.operand("position"), 2, DType::i64);
    rule.type(src, p.dtype);
    rule.alike(rule.first_result(), src);
    const double rate = p.real("rate");
    rule.require(rate >= 0 && rate <= 1, "its rate is not from 0 to 1");
}

void spatial_dropout2d_apply(Rule& rule) {
    if (rule.image(rule.first_source())) dropout_apply(rule);
}

namespace {

/// [N,C] or [N,C,1,1] of the image [N,C,H,W], in either case stored sample by sample.
void gate(Rule& rule, const TensorType& tensor, const TensorType& image) {
    const std::size_t axis = axis_of(rule.problem()).first;
    rule.type(image, rule.problem().dtype);
    rule.require(sample_layout(image, axis_of(rule.problem())).has_value(),
                 "an operand " + text_of(image.dims) + " has no samples with channels");
    if (rule.broken()) return;
    Dims wanted = {image.dims[0], image.dims[axis]};
    if (tensor.dims.size() == image.dims.size()) {  // or a row of the channels
        wanted = Dims(image.dims.size(), 1);
        wanted[0] = image.dims[0], wanted[axis] = image.dims[axis];
    }
    rule.shape(tensor, wanted);
    if (rule.broken()) return;
    rule.require(strides_of(tensor)[0] == image.dims[axis] || image.dims[0] == 1,
                 "its gates are not stored sample by sample");
}

}  // namespace

void channel_scale(Rule& rule) {
    gate(rule, *rule.operand("gate"), rule.first_source());
    rule.alike(rule.first_result(), rule.first_source());
}

void channel_scale_backward_gate(Rule& rule) {
    gate(rule, rule.first_result(), rule.first_source());
    rule.shape(rule.operand("diff_dst"), rule.first_source().dims);
}

namespace {

Postfix expression(Rule& rule) {
    const Problem& p = rule.problem();
    Postfix expression;
    const auto mistake = parse_postfix(p.text("expression"), expression);
    rule.require(!mistake, "its expression cannot be read: " + (mistake ? mistake->reason : ""));
    rule.require(expression.inputs <= int(p.sources.size()),
                 "its expression names more sources than there are");
    return expression;
}

bool reads_both_ways(const Postfix& expression, int source) {
    bool by_channel = false, by_element = false;
    for (const Instruction& instruction : expression.instructions)
        if (instruction.term == Term::input && instruction.index == source)
            (instruction.by_channel ? by_channel : by_element) = true;
    return by_channel && by_element;
}

bool has_channels(const Problem& p) {
    return axis_of(p).first < p.sources[0].dims.size();
}
std::int64_t channels_of(const Problem& p) {
    return p.sources[0].dims[axis_of(p).first];
}

/// Every source has as many elements as there are terms, or, where it is read by channel, as many
/// numbers as x0 has channels, or one.
void terms(Rule& rule, std::int64_t count) {
    const Problem& p = rule.problem();
    const Postfix read = expression(rule);
    if (rule.broken()) return;
    const std::vector<std::int64_t> numbers = numbers_by_channel(read, p);
    for (std::size_t i = 0; i < p.sources.size(); ++i) {
        const TensorType& source = p.sources[i];
        if (numbers[i] == 0) {
            rule.elements(source, count);
            continue;
        }
        rule.require(i > 0 && has_channels(p), "a source is read by channel, and x0 has none");
        if (rule.broken()) return;
        rule.wide(source, source.elements() == 1 ? 1 : channels_of(p));
        rule.require(!reads_both_ways(read, int(i)), "a source is read in two ways");
    }
}

}  // namespace

void elementwise(Rule& rule) {
    const Problem& p = rule.problem();
    rule.type(p.destinations[0], p.dtype);
    terms(rule, p.destinations[0].elements());
}

void elementwise_sums(Rule& rule) {
    const Problem& p = rule.problem();
    rule.require(!p.sources.empty(), "it has no sources");
    if (rule.broken()) return;
    rule.require(has_channels(p), "x0 has no channels");
    terms(rule, p.sources[0].elements());
    if (rule.broken()) return;
    rule.wide(p.destinations[0], p.flag("by_channel") ? channels_of(p) : 1);
}

void elementwise_mean(Rule& rule) {
    const Problem& p = rule.problem();
    rule.require(!p.sources.empty(), "it has no sources");
    if (rule.broken()) return;
    terms(rule, p.sources[0].elements());
    for (const TensorType& source : p.sources) {
        if (source.dims.size() == 1 && p.sources[0].dims.size() > 1) continue;  // by channel
        rule.alike(source, p.sources[0]);
    }
    rule.elements(p.destinations[0], 1, p.flag("sum") ? DType::f64 : p.dtype);
}

}  // namespace dtnn::kernels::operands
