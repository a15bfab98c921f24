#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// With average_decay, keeps a moving average of every trainable parameter, which begins as the
/// parameter does:
///
///     update @w = %n   ->   %a = moving_average(@w.average, %n) {decay=0.999}
///                           update @w = %n
///                           update @w.average = %a
///
/// After attach_update. Must not fire where no parameter is updated (context.accumulate).
std::optional<Graph> average_weights(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
