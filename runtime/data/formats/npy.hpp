#pragma once
/// NumPy's array files: .npy (format versions 1 to 3, "numpy.lib.format" in NumPy's manual), and
/// .npz, a zip of them. Nothing in them is ever executed: arrays of Python objects, which NumPy
/// itself would unpickle, are refused.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "plan/plan.hpp"
#include "runtime/base/regular_file.hpp"

namespace dtnn::runtime {

struct NpyHeader {
    enum class Kind { real, integer, natural, boolean };
    Kind kind = Kind::real;
    int item_bytes = 4;    ///< reals have 4 or 8, integers and naturals 1 to 8, booleans 1
    bool fortran = false;  ///< the first axis is the innermost in memory
    Dims dims;
    std::int64_t begin = 0;  ///< where the elements begin in the file

    std::int64_t elements() const { return element_count(dims); }
    std::int64_t bytes() const { return elements() * item_bytes; }
    std::string type() const;  ///< as NumPy calls it: "float32"
};

/// More is never needed for a header.
inline constexpr std::int64_t kMostNpyHeader = 65536;

/// Reads the header at the beginning of a file of `file_bytes` bytes. `beginning` are its first
/// bytes (kMostNpyHeader, or all). Verifies that the elements fill the rest of it exactly. `name`
/// is for messages.
NpyHeader parse_npy_header(std::string_view beginning, std::int64_t file_bytes,
                           const std::string& name);

struct NpyArray {
    std::string name;  ///< as messages call it
    NpyHeader header;
    std::string bytes;  ///< the whole file

    /// All elements, row-major by `header.dims` whatever their order in memory; `to` has room for
    /// exactly as many. To whole numbers only from whole numbers that fit: an error otherwise.
    void copy(std::span<float> to) const;
    void copy(std::span<double> to) const;
    void copy(std::span<std::int64_t> to) const;
};

NpyArray parse_npy(std::string bytes, const std::string& name);

/// Elements `first` and following, in the order of memory, from their bytes; as NpyArray::copy.
void convert_elements(const NpyHeader& header, const char* from, const std::string& name,
                      std::span<float> to);
void convert_elements(const NpyHeader& header, const char* from, const std::string& name,
                      std::span<double> to);
void convert_elements(const NpyHeader& header, const char* from, const std::string& name,
                      std::span<std::int64_t> to);

/// All arrays of a .npz file by their names without ".npy"; checksums are verified. More than
/// `most_bytes` in all, a member that is no array, and a name that comes twice are errors.
std::map<std::string, NpyArray> read_npz(const std::string& path, std::int64_t most_bytes,
                                         Exit exit = Exit::failed);

/// The extents from axis `from` on, without those of one, which do not change where elements lie.
Dims squeezed(const Dims& dims, std::size_t from);

/// Whether the file begins as a zip file does.
bool is_zip(const RegularFile& file);

}  // namespace dtnn::runtime
