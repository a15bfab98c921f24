#pragma once
/// `dtnn-run --dry-run --ranks N PLAN`.

namespace CLI {
class App;
}

namespace dtnn {

struct Options;

/// Adds the option to the command that trains, which has --ranks and --resume already.
void add_dry_run(CLI::App& train, Options& options);

}  // namespace dtnn
