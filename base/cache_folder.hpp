#pragma once
/// The folder in which the programs keep what can be made again.

#include <string>

namespace dtnn {

/// $DTNN_CACHE_DIR, else $XDG_CACHE_HOME/dtnn, else $HOME/.cache/dtnn; empty: nowhere, because
/// DTNN_CACHE_DIR is empty or the others are no whole paths.
std::string cache_folder();

}  // namespace dtnn
