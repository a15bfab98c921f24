#pragma once
/// Sizes, work and times as people read them, each with its unit. Negative amounts do not occur.
///
/// All that people read is written so. What programs read (JSON, CSV, options of Slurm) has plain
/// numbers, and so have counts of bytes that must be the same to the last: lengths of files,
/// offsets.

#include <string>
#include <utility>

namespace dtnn {

enum class BytesForm {
    usual,      ///< "512 bytes", "1.5 MiB"
    fine,       ///< "512 bytes", "1.50 MiB": where close sizes are compared
    in_tables,  ///< "512.0 B", "1.50 MiB", "15.0 MiB": short, three digits
    enough,     ///< "512 B", "1.6 MiB": rounded up, as a limit that allows it may be written
};
/// A size in bytes, KiB, MiB, GiB or TiB, of 1,024 each.
std::string bytes_text(double bytes, BytesForm form = BytesForm::usual);

/// Two sizes that are not the same, in the fine form; where that shows them alike, as counts:
/// "2,147,483,649 bytes".
std::pair<std::string, std::string> unlike_bytes_text(double one, double other);

/// Floating-point operations in FLOP to TFLOP, of 1,000 each: "512 FLOP", "1.5 MFLOP".
std::string flops_text(double flops);

enum class TimeForm {
    usual,  ///< "1.5 ms"
    fine,   ///< "1.376 ms": where close times are compared
};
/// A measured time in s, ms or us; at least a second stays in seconds.
std::string seconds_text(double seconds, TimeForm form = TimeForm::usual);

/// A time that someone has set, as it was set: "300 s", "0.2 s".
std::string limit_text(double seconds);

/// A time of any length with a decimal or two, from "1.5 us" to "2.1 days".
std::string estimated_time_text(double seconds);

/// A time that has passed: "12.3 ms", "0.12 s", "12.3 s", "3 min 05 s", "2 h 05 min".
std::string elapsed_time_text(double seconds);

/// A time as clocks show it, rounded to seconds: "1:02:03", "2:03".
std::string clock_text(double seconds);

}  // namespace dtnn
