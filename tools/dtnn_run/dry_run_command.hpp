#pragma once
/// `dtnn-run --dry-run --ranks N PLAN`.

namespace CLI {
class App;
}

namespace dtnn {

struct Options;

/// Its options, of the word that trains.
void add_dry_run(CLI::App& train, Options& options);

}  // namespace dtnn
