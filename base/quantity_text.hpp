#pragma once
/// Sizes, work and times as people read them, each with its unit. Negative amounts do not occur.

#include <string>

namespace dtnn {

enum class BytesForm {
    usual,      ///< "512 bytes", "1.5 MiB"
    fine,       ///< "512 bytes", "1.50 MiB": where close sizes are compared
    in_tables,  ///< "512.0 B", "1.50 MiB", "15.0 MiB": short, three digits
    enough,     ///< "512 B", "1.6 MiB": rounded up, as a limit that allows it may be written
};
/// A size in bytes, KiB, MiB, GiB or TiB, of 1,024 each.
std::string bytes_text(double bytes, BytesForm form = BytesForm::usual);

/// Floating-point operations in FLOP to TFLOP, of 1,000 each: "512 FLOP", "1.5 MFLOP".
std::string flops_text(double flops);

/// A time with one decimal in s, ms or us: "1.5 ms"; at least a second stays in seconds.
std::string seconds_text(double seconds);

/// A time of any length with a decimal or two, from "1.5 us" to "2.1 days".
std::string estimated_time_text(double seconds);

/// A time that has passed: "12.3 s", "3 min 05 s", "2 h 05 min".
std::string elapsed_time_text(double seconds);

/// A time as clocks show it, rounded to seconds: "1:02:03", "2:03".
std::string clock_text(double seconds);

}  // namespace dtnn
