#pragma once
/// The reference pages: Markdown from the field tables, the operators and the diagnostics, so that
/// they say what the compiler does. `dtnnc reference` writes them; passes and kernels, which this
/// layer does not know, are pages of the program's own.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/explain/operator_example.hpp"

namespace dtnn::compiler {

struct ReferencePage {
    std::string path;     ///< below the reference's folder: "operators/conv2d.md"
    std::string group;    ///< under which the index has it: "Operators"
    std::string title;    ///< "conv2d"
    std::string summary;  ///< one line for the index, in Markdown
    std::string text;     ///< the whole file
};

/// The page that describes initializers, as operators' and kinds' pages link to it.
inline constexpr const char* kInitializersPage = "../initializers.md";

/// The first line of every generated file, which says so.
extern const std::string_view kGeneratedLine;

/// Describes, as sentences in Markdown, what training does with the example's layer; from somebody
/// who knows the passes.
using DescribeTraining = std::function<std::string(const OpDef&, const OperatorExample&)>;

/// Kinds, operators, standard blocks, initializers, diagnostics, in the order of the index. The
/// same texts for the same program, always.
std::vector<ReferencePage> reference_pages(const DescribeTraining& training);

/// The index, README.md, of those pages and of others.
ReferencePage reference_index(const std::vector<ReferencePage>& pages);

/// The first sentence of a text that may be long.
std::string first_sentence(std::string_view text);

}  // namespace dtnn::compiler
