#pragma once
/// A network as text in Graphviz's DOT language.
///
/// Nodes are layers, or the steps of a program after fusion; edges carry shapes (channels x height
/// x width, without the batch); blocks, as layers' names tell them, are nested boxes; colours are
/// families of operators, told by a legend beside the title: a block that is one node has those of
/// its layers as stripes. Long networks are set in columns (graph_columns.hpp).

#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "tools/dtnnc/draw/graph_families.hpp"

namespace dtnn::tools {

struct Drawing {
    std::string dot;
    std::size_t nodes = 0, edges = 0;
    std::string title, subtitle;
    std::vector<const FamilyStyle*> families;  ///< that it has colours of
};

struct DrawingOptions {
    int depth = 0;        ///< blocks nested deeper are one node each; 0: no limit
    std::string program;  ///< draw this program's steps; empty: the layers
    bool titled = true;   ///< title and legend are in the drawing
};

/// Throws nothing; an unknown program is the caller's to refuse.
Drawing draw(const plan::Plan& plan, const DrawingOptions& options);

}  // namespace dtnn::tools
