#pragma once
/// The lines of a text file, plain or gzip, one after another in bounded memory.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/regular_file.hpp"
#include "runtime/data/formats/gzip.hpp"

namespace dtnn::runtime {

class TextLines {
  public:
    explicit TextLines(const std::string& path);

    /// The next line without its end; false: there is none. Valid until the next call. A line that
    /// is too long or holds a zero byte is an error, as is text that is not UTF-8. Lines end in LF
    /// or CR LF, or, where the first one does, in CR alone, as Macintoshes had it.
    bool next(std::string_view& line);
    std::int64_t number() const { return number_; }  ///< the line's number, from 1

  private:
    bool more();
    /// The end of the lines, by the first of them.
    char end_of_first();

    RegularFile file_;
    std::unique_ptr<GzipReader> gzip_;
    std::int64_t offset_ = 0;
    std::int64_t number_ = 0;
    std::string buffer_;
    std::size_t begin_ = 0;
    char end_ = 0;  ///< the last character of every line's end; 0: not known yet
};

/// The columns of a line as RFC 4180 has it, without quotes and the spaces around; quoted ones with
/// doubled quotes are put into `room`. False: a quote does not end, or text follows it.
bool split_columns(std::string_view line, char separator, std::vector<std::string_view>& columns,
                   std::vector<std::string>& room);

}  // namespace dtnn::runtime
