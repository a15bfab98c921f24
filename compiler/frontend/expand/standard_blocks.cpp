#include "compiler/frontend/expand/standard_blocks.hpp"

#include "compiler/frontend/yaml/yaml_reader.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {

std::string_view standard_blocks_text() {
    // Chollet, "Xception" (2017), and Hu et al., "Squeeze-and-Excitation Networks" (2018).
    static constexpr std::string_view text = R"(separable_conv2d:
  description: >-
    A convolution in two steps: each channel with its own kernel, then a 1x1 convolution across
    channels. The first step has no bias; nothing stands between the steps.
  parameters:
    filters: {type: integer, minimum: 1, doc: number of output channels}
    kernel: {type: integer_pair, minimum: 1, doc: extent of the kernel of each channel}
    stride: {type: integer_pair, default: 1, minimum: 1, doc: step of the kernel of each channel}
    padding: {type: padding, default: valid, minimum: 0, doc: zeros around the image}
    bias: {type: boolean, default: true, doc: whether the 1x1 convolution adds a bias}
    weights_initializer:
      type: initializer
      default: glorot_uniform
      doc: the initializer of both steps
  layers:
    - depthwise_conv2d:
        kernel: "${kernel}"
        stride: "${stride}"
        padding: "${padding}"
        bias: false
        weights_initializer: "${weights_initializer}"
    - conv2d:
        filters: "${filters}"
        kernel: 1
        bias: "${bias}"
        weights_initializer: "${weights_initializer}"
squeeze_excite:
  description: >-
    Scales every channel by a factor between 0 and 1 that is made from the mean of all channels:
    global_avg_pool2d, a 1x1 convolution to fewer channels, one back, and a gate.
  parameters:
    ratio: {type: integer, default: 16, minimum: 1, doc: channels per channel in the middle}
    channels: {type: integer, default: "${in.channels}", minimum: 1, doc: channels of the input}
    reduced:
      type: integer
      default: "${max(1, channels // ratio)}"
      minimum: 1
      doc: channels in the middle
    activation: {type: text, default: relu, doc: what follows the first convolution}
    gate: {type: text, default: sigmoid, doc: what makes the factors}
  layers:
    - multiply:
        - []
        - - global_avg_pool2d
          - conv2d: {filters: "${reduced}", kernel: 1, bias: true}
          - ${activation}
          - conv2d: {filters: "${channels}", kernel: 1, bias: true}
          - ${gate}
)";
    return text;
}

const SourceNode& standard_blocks() {
    static const SourceNode blocks = [] {
        Diagnostics diagnostics;
        auto tree = read_yaml(std::string(kStandardBlocksFile), std::string(standard_blocks_text()),
                              diagnostics);
        DTNN_CHECK(tree.has_value(), "the standard blocks are no YAML: {}",
                   diagnostics.render(false));
        return std::move(*tree);
    }();
    return blocks;
}

}  // namespace dtnn::compiler
