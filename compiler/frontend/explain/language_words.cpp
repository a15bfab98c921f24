#include "compiler/frontend/explain/language_words.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <string>

#include "compiler/frontend/expand/blocks.hpp"
#include "compiler/frontend/expand/standard_blocks.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kWord = "a word of the language";

constexpr std::string_view kParametersExample = R"(kind: model
input: {shape: [1, 28, 28]}
parameters: {width: 16, activation: relu, classes: 10}
layers:
  - conv2d: {filters: "${width}", kernel: 3}
  - "${activation}"
  - conv2d: {filters: "${2 * width}", kernel: 3}
  - global_avg_pool2d
  - flatten
  - dense: {units: "${classes}"}
  - softmax
)";

constexpr std::string_view kInputsExample = R"(kind: model
inputs:
  image: {shape: [1, 28, 28]}
  table: {shape: [7]}
  word: {shape: [2], dtype: i32, values: 1000}
layers:
  - conv2d: {filters: 8, kernel: 3}
  - flatten: {name: seen}
  - dense: {name: read, from: table, units: 16}
  - one_hot: {name: known, from: word, classes: 1000}
  - concat: {from: [seen, read, known]}
  - dense: {units: 10}
  - softmax
)";

constexpr std::string_view kDefaultsExample = R"(kind: model
input: {shape: [1, 28, 28]}
defaults:
  conv2d: {kernel: 3, bias: false, weights_initializer: he_uniform}
layers:
  - conv2d: {filters: 16}
  - batch_norm
  - relu
  - conv2d: {filters: 32, bias: true}       # what a layer says counts
  - global_avg_pool2d
  - flatten
  - dense: {units: 10}
  - softmax
)";

constexpr std::string_view kOperatorsExample = R"yaml(kind: model
input: {shape: [1, 28, 28]}
operators:
  swish: {parameters: {beta: {type: real, default: 1}}, forward: "x * sigmoid(beta * x)"}
layers:
  - flatten
  - dense: {units: 32}
  - swish: {beta: 1.5}
  - dense: {units: 10}
  - softmax
)yaml";
constexpr std::string_view kBlocksExample = R"(kind: model
input: {shape: [3, 32, 32]}
blocks:
  conv:
    description: convolution, batch norm, relu
    parameters:
      filters: integer
      stride: {type: integer, default: 1, minimum: 1, doc: step of the kernel}
    layers:
      - conv2d: {filters: "${filters}", kernel: 3, stride: "${stride}", padding: 1, bias: false}
      - batch_norm
      - relu
layers:
  - conv: {filters: 16}
  - conv: {filters: 32, stride: 2, name: wide}      # its layers: wide/conv2d_1, ...
  - global_avg_pool2d
  - flatten
  - dense: {units: 10}
  - softmax
)";

constexpr std::string_view kRepeatExample = R"(kind: model
input: {shape: [3, 32, 32]}
layers:
  - repeat:
      times: 3
      index: i
      name: stage                                   # stage_1/conv2d_1, stage_2/conv2d_1, ...
      layers:
        - conv2d: {filters: "${16 * (i + 1)}", kernel: 3, padding: same}
        - relu
        - max_pool2d: {kernel: 2}
  - flatten
  - dense: {units: 10}
  - softmax
)";

constexpr std::string_view kIfExample = R"(kind: model
input: {shape: [3, 32, 32]}
blocks:
  residual:
    parameters: {filters: integer}
    layers:
      - add:
          - - conv2d: {filters: "${filters}", kernel: 3, padding: same}
          - - if:
                condition: "${in.channels != filters}"
                then:
                  - conv2d: {filters: "${filters}", kernel: 1}
layers:
  - residual: {filters: 16}                         # 3 channels become 16
  - residual: {filters: 16}                         # identity
  - global_avg_pool2d
  - flatten
  - dense: {units: 10}
  - softmax
)";

constexpr std::string_view kAllowExample = R"(kind: model
allow: [bias-before-norm]
input: {shape: [3, 32, 32]}
layers:
  - conv2d: {filters: 16, kernel: 3}
  - batch_norm
  - relu
  - flatten
  - dense: {units: 10}
  - softmax
)";

constexpr std::string_view kBranchesExample = R"(kind: model
input: {shape: [3, 32, 32]}
layers:
  - conv2d: {filters: 16, kernel: 3, padding: same}
  - relu
  - add:
      - [conv2d: {filters: 16, kernel: 3, padding: same}, relu]
      - []                                          # identity
  - concat:
      name: joined
      branches:
        - - conv2d: {filters: 8, kernel: 1}
        - - max_pool2d: {kernel: 3, stride: 1, padding: same}
  - global_avg_pool2d
  - flatten
  - dense: {units: 10}
  - softmax
)";

constexpr std::string_view kFromExample = R"(kind: model
input: {shape: [3, 32, 32]}
layers:
  - conv2d: {name: left, filters: 16, kernel: 3, padding: same}
  - conv2d: {name: right, from: input, filters: 16, kernel: 1}
  - add: {from: [left, right]}
  - global_avg_pool2d
  - flatten
  - dense: {units: 10}
  - softmax
)";

constexpr std::string_view kShareExample = R"(kind: model
inputs: {tokens: {shape: [64], axes: [step], dtype: i32, values: 256}}
blocks:
  perceptron: {layers: [dense: {units: 32}, gelu]}
layers:
  - embedding: {name: words, entries: 256, units: 32}
  - perceptron: {name: first}
  - perceptron: {name: second, share: first}
  - repeat: {name: round, times: 4, shared: true, layers: [perceptron]}
  - dense: {units: 256, bias: false, share: words}
  - softmax: {axis: features}
)";

constexpr std::string_view kInExample = R"(kind: model
input: {shape: [3, 32, 32]}
blocks:
  widen:
    parameters: {filters: {type: integer, default: "${2 * in.channels}"}}
    layers:
      - conv2d: {filters: "${filters}", kernel: 3, stride: 2, padding: 1}
      - relu
layers:
  - conv2d: {filters: 16, kernel: 3}
  - relu
  - widen                                           # 32 channels
  - widen                                           # 64
  - avg_pool2d: {kernel: ["${in.height}", "${in.width}"]}
  - flatten
  - dense: {units: "${min(in.features, 10)}"}
  - softmax
)";

constexpr std::string_view kExpressionsExample = R"(kind: model
input: {shape: [3, 64, 64]}
parameters: {depth: 3, width: 1.5, activation: relu}
layers:
  - repeat:
      times: "${depth}"
      index: i
      layers:
        - conv2d:
            name: "stage${i}"                       # stage0, stage1, ...
            filters: "${floor(16 * width) * (1 if i == 0 else 2)}"
            kernel: 3
            padding: same
        - "${activation}"
        - max_pool2d: {kernel: "${2 if in.height % 2 == 0 else 3}"}
  - flatten
  - dense: {units: 10}
  - softmax
)";

constexpr std::string_view kExtendsExample = R"(kind: model
extends: resnet18
parameters: {classes: 10}                           # the others stay as they are
input: {shape: [3, 64, 64]}
)";

constexpr std::string_view kSeparableExample = R"(kind: model
input: {shape: [3, 32, 32]}
layers:
  - conv2d: {filters: 16, kernel: 3}
  - separable_conv2d: {filters: 32, kernel: 3, stride: 2, padding: 1}
  - relu
  - global_avg_pool2d
  - flatten
  - dense: {units: 10}
  - softmax
)";

constexpr std::string_view kSqueezeExample = R"(kind: model
input: {shape: [3, 32, 32]}
layers:
  - conv2d: {filters: 16, kernel: 3}
  - relu
  - squeeze_excite: {ratio: 4}
  - global_avg_pool2d
  - flatten
  - dense: {units: 10}
  - softmax
)";

std::vector<LanguageWord> make_words() {
    return {
        {"extends", kWord,
         "Takes another spec of the same kind and merges this one over it, field by field: maps by "
         "key, everything else, lists too, as a whole. The other one is a name on the spec path or "
         "a path, and may extend a third.",
         kExtendsExample},
        {"parameters", kWord,
         "Of a model: constants by name (integers, numbers, true or false, texts) that every "
         "${...} of the model may read. Those that extend the model, and --set "
         "model.parameters.NAME=VALUE, may give them other values of the same type. Of a block: "
         "what its uses give it, see `blocks`.",
         kParametersExample},
        {"allow", kWord,
         "Lints that are meant, by their codes: no warning is given of them. In a job they hold "
         "for "
         "all its parts. `dtnnc explain CODE` says what a lint is about.",
         kAllowExample},
        {"defaults", kWord,
         "Values for fields that layers do not give, by type of layer; they hold for the whole "
         "model, blocks included.",
         kDefaultsExample},
        {"inputs", kWord,
         "What a model of several inputs reads, by names that layers say in `from`; `input` is the "
         "first of them. Each is of real numbers, or of integers that are below `values`.",
         kInputsExample, &named_input_table()},
        {"blocks", kWord,
         "Lists of layers with a name and parameters, which layers then use like operators. A "
         "block reads one value, `input`, and gives its last layer's. It sees its own parameters "
         "and the model's, may use other blocks, declared in any order, and never itself.",
         kBlocksExample, &block_table(), &block_parameter_table()},
        {"operators", kWord,
         "Elementwise operators with a name, a formula and numbers as parameters, which layers "
         "then use like any other. The formula is arithmetic over x and the parameters: + - * / "
         "**, comparisons, min, max, where, abs, floor, sqrt, exp, log, tanh, sigmoid and others "
         "(`dtnnc explain elementwise`); the gradient follows from it. With `kind: loss` it is a "
         "loss "
         "over every prediction p and its target t, which a training takes up by its name: "
         "[loss](loss.md).",
         kOperatorsExample, &operator_table(), &operator_parameter_table()},
        {"repeat", kWord, "Layers several times over, each round behind the one before.",
         kRepeatExample, &repeat_table()},
        {"if", kWord,
         "Layers that are there only when a condition holds. Without `else`, nothing is there "
         "otherwise: identity.",
         kIfExample, &if_table()},
        {"branches", kWord,
         "Lists of layers that all read what comes before, joined by add, concat, multiply or "
         "elementwise: the operator's value is the list of branches, or has it as a field. An "
         "empty branch is identity.",
         kBranchesExample, &branches_table()},
        {"from", kWord,
         "What a layer reads instead of the layer before: a layer above by its name, or a list of "
         "them for operators that join several. `input` is the model's input, inside a block the "
         "block's. Names are looked for in the own scope first, then, inside repeats but not "
         "across a block's border, outwards; `block_1/conv2d_2` is a layer inside a block.",
         kFromExample},
        {"share", kWord,
         "The layer above whose parameters a layer uses in place of its own: one of the same "
         "operator and extents; for dense also another one's weights, or an embedding's table, the "
         "other way round. What that layer does not have stays the layer's own, as do moving "
         "statistics. A use of a block names an earlier use, whose layers share theirs; the rounds "
         "of a repeat with `shared: true` have the parameters of the first.",
         kShareExample},
        {"in", kWord,
         "What arrives at the layer where an expression stands: in.channels, in.height and "
         "in.width of an image, in.features of a row of numbers. In the default of a block's "
         "parameter it is what the block reads.",
         kInExample},
        {"expressions", kWord,
         "${...} is arithmetic over the names in reach where it stands: the parameters of the "
         "block and of the model, the indices of repeats, and `in`. There are integers, reals, "
         "texts in '...', true and false; + - * / // % **, comparisons, `a if c else b`, min, max, "
         "round, floor and ceil, and list[i], from 0 or, by -1, from the end. / gives a real "
         "number, // and % round down; round, floor and ceil "
         "give integers. An expression that is the whole value keeps its type; inside a text, "
         "integers and texts are inserted.",
         kExpressionsExample},
    };
}

std::vector<LanguageWord> make_choices() {
    std::vector<LanguageWord> words;
    for (const ComponentSet* set : component_sets())
        for (const ComponentInfo& member : set->members)
            words.push_back({member.name, set->group, member.doc, member.example, member.fields});
    return words;
}

/// The standard blocks, which the words point into, and what each of them is.
struct StandardBlocks {
    Diagnostics diagnostics;
    Blocks blocks{nullptr, nullptr, diagnostics};
    std::deque<FieldTable> tables;  // a deque, because words point at its tables
    std::vector<LanguageWord> words;

    StandardBlocks() {
        const std::map<std::string_view, std::string_view> examples = {
            {"separable_conv2d", kSeparableExample}, {"squeeze_excite", kSqueezeExample}};
        for (const SourceEntry& entry : standard_blocks().entries) {
            const Block* block = blocks.find(entry.key);
            const auto example = examples.find(entry.key);
            const SourceEntry* description = entry.value.find("description");
            DTNN_CHECK(block && description && example != examples.end(),
                       "the standard block {} has no description or no example", entry.key);
            words.push_back({entry.key, "a block that every model has", description->value.text,
                             example->second, &with_defaults(*block)});
        }
    }

    /// The fields of a use; defaults, which may be expressions, as they are written.
    const FieldTable& with_defaults(const Block& block) {
        FieldTable& table = tables.emplace_back(block.fields);
        for (const BlockParameter& parameter : block.parameters)
            for (Field& field : table)
                if (field.name == parameter.name && parameter.fallback &&
                    parameter.fallback->is_scalar())
                    field.fallback = parameter.fallback->text;
        return table;
    }
};

}  // namespace

const std::vector<LanguageWord>& language_words() {
    static const std::vector<LanguageWord> words = make_words();
    return words;
}

const std::vector<LanguageWord>& choice_words() {
    static const std::vector<LanguageWord> words = make_choices();
    return words;
}

const std::vector<LanguageWord>& standard_block_words() {
    static const StandardBlocks standard;
    return standard.words;
}

std::string_view standard_block_text(std::string_view name) {
    const std::string_view all = standard_blocks_text();
    const std::string head = std::string(name) + ":\n";
    std::size_t begin = all.find(head);
    while (begin != std::string_view::npos && begin > 0 && all[begin - 1] != '\n')
        begin = all.find(head, begin + 1);
    DTNN_CHECK(begin != std::string_view::npos, "no standard block is named {}", name);
    // It ends where a line begins in the first column again.
    std::size_t end = begin + head.size();
    while (end < all.size() && (all[end] == ' ' || all[end] == '\n'))
        end = std::min(all.find('\n', end), all.size() - 1) + 1;
    return all.substr(begin, end - begin);
}

}  // namespace dtnn::compiler
