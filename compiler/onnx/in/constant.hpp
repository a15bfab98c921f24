#pragma once
/// Tensors of a file as numbers: whatever they are stored as, real ones become f32, others i64.

#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor/tensor_type.hpp"
#include "compiler/onnx/messages.hpp"

namespace dtnn::compiler::onnx {

/// What of a file cannot be taken over, and what can be done.
class Refused : public std::runtime_error {
  public:
    explicit Refused(const std::string& text, std::string help = "")
        : std::runtime_error(text), help_(std::move(help)) {}
    const std::string& help() const { return help_; }

  private:
    std::string help_;
};

struct Constant {
    Dims dims;
    bool real = true;        ///< f32, else i64
    std::string_view bytes;  ///< row-major, little-endian, at any address

    std::int64_t elements() const { return element_count(dims); }
    double at(std::int64_t i) const;
};

/// Of numbers that are worked out, as constants are.
using Numbers = std::vector<double>;
/// The whole number, at most 2^62 from 0, whatever the number is.
std::int64_t whole(double number);
Numbers numbers_of(const Constant& constant);

/// The constants of a file, and the memory of those that are not views of it.
class Constants {
  public:
    /// `folder` is where files of weights may be, "." for that of the program. `bytes` are those of
    /// the model: what it works out is held against them.
    Constants(std::string folder, std::size_t bytes)
        : folder_(std::move(folder)), room_(std::int64_t(4 * bytes) + kSpare) {}

    /// Throws Refused: another type, too few bytes, a file that is not beside the model.
    Constant read(const TensorProto& tensor);
    Constant make(Dims dims, bool real, const Numbers& numbers);
    /// The same numbers with the axes in another order, as numpy.transpose.
    Constant transpose(const Constant& constant, const std::vector<std::int64_t>& order);
    /// The same numbers in as many rows of equal length: row i is row rows[i] of the constant.
    Constant reorder(const Constant& constant, const std::vector<std::int64_t>& rows);
    /// Books memory that is worked out elsewhere; throws Refused where a file asks for too much.
    void take(std::int64_t bytes);

  private:
    std::string_view read_beside(const TensorProto& tensor, std::int64_t bytes);
    std::string& keep(std::size_t bytes);

    std::string folder_;
    std::deque<std::string> storage_;
    static constexpr std::int64_t kSpare = std::int64_t{256} << 20;
    std::int64_t room_;                           ///< bytes that may still be worked out
    std::map<std::string, std::int64_t> beside_;  ///< bytes read of each file
};

/// 2^60 and more ends of slices are "to the end".
inline constexpr std::int64_t kFar = std::int64_t{1} << 52;
/// The most numbers of a constant that is worked out.
inline constexpr std::int64_t kMostFolded = std::int64_t{1} << 24;
/// Stands for the batch among the numbers of a shape; its multiples for axes joined with it.
inline constexpr double kBatch = -double(std::int64_t{1} << 51);
/// How many times the batch the number is; 0: it is another number.
std::int64_t batch_of(double number);
/// Stands for the place of a sample in its batch, among indices that are worked out of it: n times
/// the place and a number below this are the sum of both.
inline constexpr std::int64_t kSample = std::int64_t{1} << 32;

}  // namespace dtnn::compiler::onnx
