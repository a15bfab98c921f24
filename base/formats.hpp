#pragma once
/// The formats of files that our programs write and read again, and their numbers: the one home of
/// these. A number goes up with every change after which an older program would misread a file, or
/// this program an older file. docs/formats.md says of each who writes and reads it; tests/formats
/// holds what each number stands for.

#include <string>
#include <string_view>

namespace dtnn {

struct Format {
    const char* what;  ///< "plan", in messages
    int number;        ///< what is written, and what is read
};

namespace formats {
inline constexpr Format kPlan{"plan", 16};
inline constexpr Format kCheckpoint{"checkpoint", 1};
inline constexpr Format kWeights{"file of weights", 1};
inline constexpr Format kHistory{"history", 1};
inline constexpr Format kSweep{"index of a sweep", 1};
inline constexpr Format kTuning{"history of tuning", 1};
inline constexpr Format kCode{"kept code", 1};
}  // namespace formats

/// "plan of format 17 is of dtnnc 0.3.0; this program reads 16". The number is the file's own text,
/// and `writer` who the file says has written it, empty where it does not: both are made harmless,
/// and cut where they are long.
std::string other_format(const Format& format, std::string_view found,
                         std::string_view writer = "");

}  // namespace dtnn
