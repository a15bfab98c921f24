#pragma once
/// A network as text in Graphviz's DOT language.
///
/// Nodes are layers, or the steps of a program after fusion; edges carry shapes (channels x height
/// x width, without the batch); blocks, as layers' names tell them, are nested boxes; colours are
/// families of operators, told by a legend beside the title.

#include <string>

#include "plan/plan.hpp"

namespace dtnn::tools {

struct Drawing {
    std::string dot;
    std::size_t nodes = 0, edges = 0;
};

struct DrawingOptions {
    int depth = 0;        ///< blocks nested deeper are one node each; 0: no limit
    std::string program;  ///< draw this program's steps; empty: the layers
};

/// Throws nothing; an unknown program is the caller's to refuse.
Drawing draw(const plan::Plan& plan, const DrawingOptions& options);

}  // namespace dtnn::tools
