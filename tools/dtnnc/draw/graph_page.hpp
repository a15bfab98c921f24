#pragma once
/// A drawing as a page of its own, to look at in a browser: search, zoom, a light and a dark set of
/// colours. Nothing is loaded from elsewhere.

#include <string>

#include "tools/dtnnc/draw/graph_dot.hpp"

namespace dtnn::tools {

/// `svg` is what Graphviz made of the drawing, which has no title of its own.
std::string graph_page(const Drawing& drawing, const std::string& svg);

/// The picture that Graphviz made of a drawing with a title, with a dark set of colours beside its
/// own.
std::string graph_picture(const std::string& svg);

}  // namespace dtnn::tools
