#pragma once
/// `dtnn-run --dry-run --ranks N PLAN`.

namespace CLI {
class App;
}

namespace dtnn {

struct Options;

/// Its option, of the word that trains, which has --ranks and --resume already.
void add_dry_run(CLI::App& train, Options& options);

}  // namespace dtnn
