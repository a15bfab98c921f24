#pragma once
/// The folders in which specs, and what ships beside them, are looked for.

#include <string>
#include <vector>

namespace dtnn {

/// The folders of $DTNN_SPEC_PATH (with colons between them), then those that came with the
/// program, wherever it was installed, or those of the source when it runs from a build folder.
std::vector<std::string> spec_folders();

}  // namespace dtnn
