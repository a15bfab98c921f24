#pragma once
/// The layer table of a plan, with totals, memory and work, in four forms.

#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

struct Work {
    std::int64_t forward_flops_per_sample = 0;  ///< of the layers, before fusion
    std::int64_t train_step_flops = 0;          ///< one full batch: forward, backward, update
    std::int64_t train_step_bytes = 0;          ///< the least memory traffic of the same steps
    std::int64_t evaluate_step_flops = 0;       ///< one full batch, without the prologue
    std::int64_t evaluate_step_bytes = 0;
    int train_steps = 0;  ///< kernels run for one full batch
    int evaluate_steps = 0;
};
Work work_of(const Plan& plan);

/// When a column is shown to people who ask for none; programs get all that are not on request.
enum class ColumnShown { usually, where_layers_branch, where_something_is_frozen, on_request };

/// A column of the table. `columns.cpp` says how each is computed.
struct SummaryColumn {
    std::string_view name;   ///< as in --columns, CSV and JSON
    std::string_view title;  ///< as in the table
    std::string_view doc;
    ColumnShown shown;
};
const std::vector<SummaryColumn>& summary_columns();
bool is_summary_column(std::string_view name);

/// A plan in a few words: "11 layers, 5,338 parameters, 3 epochs of 23 steps, 12.3 MiB a rank", or,
/// of a model that is looked at alone, "11 layers, 5,338 parameters, 1x28x28 to 10".
std::string plan_words(const Plan& plan, bool training);

enum class SummaryForm { table, markdown, csv, json };

struct SummaryOptions {
    SummaryForm form = SummaryForm::table;
    int width = 120;  ///< of the table, in characters
    /// Names of columns, in the order wanted; empty: the usual ones, for people without those that
    /// would say the same of every layer. JSON always has the usual ones.
    std::vector<std::string> columns;
    std::vector<std::string> more;  ///< behind these
    /// The columns that were asked for by name: left out last when there is no room.
    std::vector<std::string> chosen;
    /// Blocks (parts of layers' names before a `/`) nested deeper than this are one row each, with
    /// totals; 0: no limit, every layer has its row.
    int depth = 0;
};

/// table: fitted to the width: texts are shortened, then columns left out (which is said), numbers
/// never; the layers of a block stand indented under its name. markdown: a table and a list of
/// totals. csv: RFC 4180 with LF, a line of column names, then one line a row, numbers as plain
/// digits; no totals. json: {"version": 1, "name", "model", "layers": [{"index", "name", "type",
/// "parameters", "trainable", "frozen", "input_shapes", "output_shape", "weights_shape", "from",
/// "forward_flops", "attributes", ...}], "parameters": {"total", "trainable", "other", "frozen",
/// "bytes"}, "memory": {...}, "work": {...},
/// "parallel": {...}}, the last where ranks share a training (communication.hpp); a collapsed block
/// has the type "block" and "layers", the number of its layers.
std::string summary(const Plan& plan, const SummaryOptions& options);

/// The table, and the JSON form, with the usual columns.
std::string summary_text(const Plan& plan, int width);
std::string summary_json(const Plan& plan);

}  // namespace dtnn::plan
