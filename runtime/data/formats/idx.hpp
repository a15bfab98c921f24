#pragma once
/// The IDX format of the MNIST files: two zero bytes, a type (8: unsigned byte), the number of
/// dimensions, each dimension as a big-endian 32-bit number, then the data. (Y. LeCun, "The MNIST
/// database of handwritten digits".)

#include <cstdint>
#include <string>
#include <vector>

namespace dtnn::runtime {

struct IdxFile {
    std::string path;
    std::vector<std::int64_t> dims;
    std::string bytes;      ///< the whole file, unpacked
    std::size_t begin = 0;  ///< where the data begins

    const unsigned char* data() const {
        return reinterpret_cast<const unsigned char*>(bytes.data()) + begin;
    }
};

/// Reads `folder/name` or, when that is not there, `folder/name.gz`, and verifies that it holds
/// exactly unsigned bytes of these dimensions; with `at_most`, of no more along the first. What is
/// wrong is a RunError (failed) that names file, fact and remedy.
IdxFile read_idx(const std::string& folder, const std::string& name,
                 const std::vector<std::int64_t>& dims, bool at_most = false);

/// Verifies an IDX file's content against `dims`; `path` is for messages.
IdxFile parse_idx(std::string bytes, const std::string& path, std::vector<std::int64_t> dims,
                  bool at_most = false);

/// Unpacks gzip text; of more than `limit` bytes these and one more. `path` is for messages.
std::string gunzip(const std::string& packed, std::size_t limit, const std::string& path);

}  // namespace dtnn::runtime
