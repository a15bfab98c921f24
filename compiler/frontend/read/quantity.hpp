#pragma once
/// Numbers with a unit, as specs of machines have them: "64GiB", "1.5us", "12.5GB/s", "100Gbit/s",
/// "85Gflop/s", "20000samples/s". A space may stand before the unit. What they are measured in is
/// the field's `unit` (FieldType::quantity), and the value is in that: "bytes", "bytes/s",
/// "flop/s", "seconds" or "samples/s". Bytes alone may be written without a unit.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dtnn::compiler {

/// Fewer bytes are not taken without their unit: whoever writes 64 has 64 of something larger.
constexpr int kFewestPlainBytes = 1024;

struct ParsedQuantity {
    std::optional<double> value;  ///< in the field's unit; may be negative, so that ranges can say
    bool overflow = false;
    std::string help;  ///< when it is nearly a quantity: what to write
};
ParsedQuantity parse_quantity(std::string_view text, std::string_view unit);

/// The shortest text that parse_quantity reads as just this number: "64GiB", "1.5us".
std::string quantity_text(double value, std::string_view unit);

/// The names of the units that measure it, smallest first, each once: {"B", "KB", "KiB", ...}.
std::vector<std::string> units_of(std::string_view unit);

/// One of its kind: "64GiB".
std::string_view quantity_example(std::string_view unit);

}  // namespace dtnn::compiler
