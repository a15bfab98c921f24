#pragma once
/// The columns of the layer table. Private to the summary.

#include <string>
#include <vector>

#include "plan/summary/rows.hpp"
#include "plan/summary/summary.hpp"

namespace dtnn::plan {

struct Cell {
    std::string text;  ///< for people
    std::string raw;   ///< for programs, in CSV: plain digits, whole names
};

/// How a column gives way when the table is wider than the terminal.
struct ColumnLayout {
    bool right = false;          ///< numbers stand on the right
    std::size_t least = 0;       ///< texts are shortened to this; 0: never shortened
    char separator = ' ';        ///< texts are shortened at one of these
    bool indispensable = false;  ///< never left out
    /// How a text is shortened that has no separator within its room.
    enum class Alone { cut, loses_middle } alone = Alone::cut;
    bool has_names = false;  ///< of the rows, headings among them; shortened last, in the middle
};

ColumnLayout layout_of(const std::string& column);
Cell cell_of(const Plan& plan, const std::vector<LayerFacts>& facts, const SummaryRow& row,
             const std::string& column);
/// `"bytes": 12, ...` of the column in a layer's JSON record; empty for columns that each record
/// has.
std::string json_of(const Plan& plan, const std::vector<LayerFacts>& facts, const SummaryRow& row,
                    const std::string& column);

/// Sums over the layers of a row.
struct RowTotals {
    std::int64_t parameters = 0, trainable = 0, frozen = 0, flops = 0, bytes = 0, memory = 0;
};
RowTotals totals_of(const Plan& plan, const std::vector<LayerFacts>& facts, const SummaryRow& row);
/// The layers that a row reads from outside of it.
std::vector<std::string> sources_of(const Plan& plan, const SummaryRow& row);
/// The shapes of the same, in the same order.
std::vector<Dims> inputs_of(const Plan& plan, const std::vector<LayerFacts>& facts,
                            const SummaryRow& row);

}  // namespace dtnn::plan
