#include "runtime/data/formats/hdf5.hpp"

#include <fmt/format.h>

#include <set>
#include <span>
#include <vector>

#include "base/file_limits.hpp"
#include "base/utf8.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {

constexpr const char* kInTwoPlaces = "a part of it stands in two places, or within itself";
constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
constexpr int kDeepestGroup = 64, kDeepestNode = 16;
constexpr std::size_t kMostHeaderBlocks = 64;
/// All paths together: a short entry within long names makes a long one.
constexpr std::size_t kMostPathBytes = std::size_t{64} << 20;
/// Stands for no address.
constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

enum MessageType : std::uint64_t {
    kDataspace = 0x1,
    kLinkInfo = 0x2,
    kDatatype = 0x3,
    kLink = 0x6,
    kExternalFiles = 0x7,
    kLayout = 0x8,
    kFilters = 0xB,
    kContinuation = 0x10,
    kSymbolTable = 0x11,
};

/// What ends the reading of the file.
struct NoHdf5 {
    std::string fact;
    const char* help = "save the model again, whole, with Keras' own model.save()";
};
/// What leaves one array unread.
struct NoArray {
    std::string why;
};

/// A stretch of the file, taken from its beginning.
class Stretch {
  public:
    explicit Stretch(std::string_view bytes) : bytes_(bytes) {}

    std::uint64_t number(std::size_t width) {
        const std::string_view taken = text(width);
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < width; ++i)
            value |= std::uint64_t(std::uint8_t(taken[i])) << (8 * i);
        return value;
    }
    std::string_view text(std::size_t size) {
        if (size > bytes_.size()) throw NoHdf5{"it is cut off, or an extent in it is not sound"};
        const std::string_view taken = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return taken;
    }
    void skip(std::size_t size) { text(size); }
    std::size_t left() const { return bytes_.size(); }

  private:
    std::string_view bytes_;
};

struct HeaderMessage {
    std::uint64_t type;
    bool shared;  ///< its content is elsewhere
    std::string_view content;
};

class Hdf5Reader {
  public:
    explicit Hdf5Reader(std::string_view bytes) : bytes_(bytes) {}

    Hdf5Arrays run() {
        Stretch block(bytes_);
        if (!bytes_.starts_with(kSignature)) throw NoHdf5{"it is no HDF5 file"};
        block.skip(kSignature.size());
        const std::uint64_t version = block.number(1);
        if (version > 1) throw later_form("file");
        block.skip(4);
        if (block.number(1) != kWord || block.number(1) != kWord)
            throw NoHdf5{"its addresses have not 8 bytes"};
        block.skip(1 + 2 + 2 + 4 + (version == 1 ? 4 : 0));
        if (block.number(kWord) != 0) throw NoHdf5{"its addresses do not count from its beginning"};
        block.skip(3 * kWord);
        block.skip(kWord);  // the root's name
        read_object(block.number(kWord), "", 0);
        return std::move(made_);
    }

  private:
    static constexpr std::size_t kWord = 8;

    static NoHdf5 later_form(const std::string& what) {
        return {
            fmt::format("the {} is in a form of HDF5 that later libraries write when they are "
                        "asked to, as links into other files and some tools do",
                        what)};
    }

    /// From here to the end of the file.
    Stretch from(std::uint64_t address) const {
        if (address > bytes_.size()) throw NoHdf5{"an address in it is behind its end"};
        return Stretch(bytes_.substr(std::size_t(address)));
    }
    /// Nothing may stand in two places, or within itself.
    void enter(std::uint64_t address) {
        if (!entered_.insert(address).second) throw NoHdf5{kInTwoPlaces};
    }

    std::vector<HeaderMessage> messages_of(std::uint64_t address, const std::string& path) {
        Stretch header = from(address);
        const std::uint64_t version = header.number(1);
        if (version != 1) throw later_form(fmt::format("entry `/{}`", printable(path)));
        header.skip(1 + 2 + 4);  // the messages are counted by their blocks' ends
        const std::uint64_t size = header.number(4);
        header.skip(4);
        std::vector<std::string_view> blocks{header.text(std::size_t(size))};
        std::vector<HeaderMessage> messages;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            constexpr std::size_t kMessageHead = 8;
            for (Stretch block(blocks[i]); block.left() >= kMessageHead;) {
                const std::uint64_t type = block.number(2), bytes = block.number(2);
                const std::uint64_t flags = block.number(1);
                block.skip(3);
                // Those of an honest file do not overlap.
                if (++messages_ * kMessageHead > bytes_.size()) throw NoHdf5{kInTwoPlaces};
                const std::string_view content = block.text(std::size_t(bytes));
                messages.push_back({type, (flags & 2) != 0, content});
                if (type != kContinuation) continue;
                if (blocks.size() == kMostHeaderBlocks) throw NoHdf5{"an entry has too many parts"};
                Stretch place(content);
                const std::uint64_t at = place.number(kWord), length = place.number(kWord);
                enter(at);
                blocks.push_back(from(at).text(std::size_t(length)));
            }
        }
        return messages;
    }

    void read_object(std::uint64_t address, const std::string& path, int depth) {
        enter(address);
        if (depth > kDeepestGroup || path.size() > kMostTensorName)
            throw NoHdf5{"its groups stand too deep in each other"};
        const std::vector<HeaderMessage> messages = messages_of(address, path);
        const auto find = [&](MessageType type) -> const HeaderMessage* {
            for (const HeaderMessage& message : messages)
                if (message.type == type) return &message;
            return nullptr;
        };
        if (const HeaderMessage* table = find(kSymbolTable)) {
            Stretch place(table->content);
            const std::uint64_t tree = place.number(kWord), names = place.number(kWord);
            return read_group(tree, names_at(names), path, depth, 0);
        }
        if (find(kLinkInfo) || find(kLink))
            throw later_form(fmt::format("group `/{}`", printable(path)));
        if (!find(kLayout)) return;  // a type with a name
        try {
            made_.tensors[path] = array_of(messages, path);
        } catch (const NoArray& reason) {
            made_.others[path] = reason.why;
        }
    }

    /// The names of a group's entries.
    std::string_view names_at(std::uint64_t address) const {
        Stretch heap = from(address);
        if (heap.text(4) != "HEAP") throw NoHdf5{"the names of a group are not where they should"};
        heap.skip(4);
        const std::uint64_t size = heap.number(kWord);
        heap.skip(kWord);
        return from(heap.number(kWord)).text(std::size_t(size));
    }

    void read_group(std::uint64_t address, std::string_view names, const std::string& path,
                    int depth, int node_depth) {
        enter(address);
        if (node_depth > kDeepestNode) throw NoHdf5{"a group's entries stand too deep"};
        Stretch node = from(address);
        const std::string_view kind = node.text(4);
        if (kind == "TREE") {
            if (node.number(1) != 0) throw NoHdf5{"a group's entries are none"};
            node.skip(1);
            const std::uint64_t count = node.number(2);
            node.skip(2 * kWord);
            for (std::uint64_t i = 0; i < count; ++i) {
                node.skip(kWord);  // the first name below
                read_group(node.number(kWord), names, path, depth, node_depth + 1);
            }
        } else if (kind == "SNOD") {
            node.skip(2);
            const std::uint64_t count = node.number(2);
            for (std::uint64_t i = 0; i < count; ++i) {
                const std::uint64_t name = node.number(kWord), entry = node.number(kWord);
                const std::uint64_t cached = node.number(4);
                node.skip(4 + 16);
                read_entry(name, entry, cached, names, path, depth);
            }
        } else {
            throw NoHdf5{"the entries of a group are not where they should be"};
        }
    }

    void read_entry(std::uint64_t name_at, std::uint64_t entry, std::uint64_t cached,
                    std::string_view names, const std::string& path, int depth) {
        const std::string_view rest = name_at < names.size()
                                          ? names.substr(std::size_t(name_at), kMostTensorName)
                                          : std::string_view();
        const std::string_view name = rest.substr(0, rest.find('\0'));
        if (name.empty() || name.size() == rest.size() || name.find('/') != std::string_view::npos)
            throw NoHdf5{"an entry of a group has no name"};
        const std::string own = (path.empty() ? "" : path + "/") + std::string(name);
        path_bytes_ += own.size();
        if (path_bytes_ > kMostPathBytes) throw NoHdf5{"its entries have far too long paths"};
        constexpr std::uint64_t kSoftLink = 2;
        if (cached == kSoftLink)
            throw NoHdf5{fmt::format("`{}` is a link to another place", printable(own))};
        read_object(entry, own, depth + 1);
    }

    // ---- Arrays

    static Dims dims_of(Stretch space) {
        const std::uint64_t version = space.number(1), rank = space.number(1);
        space.skip(1);
        const std::uint64_t kind = space.number(1);
        constexpr std::uint64_t kNothing = 2, kMostRank = 32;
        if (version != 1 && version != 2) throw NoArray{"its shape is of a later form of HDF5"};
        if ((version == 2 && kind == kNothing) || rank > kMostRank)
            throw NoArray{"it has no numbers, or more than 32 axes"};
        if (version == 1) space.skip(4);
        Dims dims;
        for (std::uint64_t i = 0; i < rank; ++i) {
            const std::uint64_t extent = space.number(kWord);
            if (extent > std::uint64_t(kMostTensorBytes)) throw NoArray{"it is too large"};
            dims.push_back(std::int64_t(extent));
        }
        return dims;
    }

    static DType dtype_of(Stretch type) {
        const std::uint64_t head = type.number(1), bits = type.number(1);
        type.skip(2);
        const std::uint64_t size = type.number(4);
        constexpr std::uint64_t kReal = 1, kOtherOrder = 0x41;
        if ((head & 15) != kReal) throw NoArray{"it is not of real numbers"};
        if ((bits & kOtherOrder) != 0)
            throw NoArray{"its numbers have their highest byte first, and are to have it last"};
        // Where exponent and fraction lie: bits, from the lowest.
        struct Form {
            DType dtype;
            std::uint64_t size, exponent_at, exponent, fraction, bias;
        };
        constexpr Form kForms[] = {{DType::f32, 4, 23, 8, 23, 127},
                                   {DType::f64, 8, 52, 11, 52, 1023},
                                   {DType::fp16, 2, 10, 5, 10, 15},
                                   {DType::bf16, 2, 7, 8, 7, 127}};
        type.skip(2 + 2);
        const std::uint64_t exponent_at = type.number(1), exponent = type.number(1);
        const std::uint64_t fraction_at = type.number(1), fraction = type.number(1);
        const std::uint64_t bias = type.number(4);
        for (const Form& form : kForms)
            if (form.size == size && form.exponent_at == exponent_at && fraction_at == 0 &&
                form.exponent == exponent && form.fraction == fraction && form.bias == bias)
                return form.dtype;
        throw NoArray{"its numbers are no float16, bfloat16, float32 or float64"};
    }

    /// Where `bytes` bytes of numbers lie.
    std::string_view content_of(Stretch layout, std::int64_t bytes) const {
        const std::uint64_t version = layout.number(1), kind = layout.number(1);
        constexpr std::uint64_t kKnownVersion = 3, kWithin = 0, kInOnePiece = 1;
        if (version != kKnownVersion || (kind != kWithin && kind != kInOnePiece))
            throw NoArray{"its numbers lie in pieces (chunks), as packed ones do"};
        if (bytes == 0) return {};
        if (kind == kWithin) {
            const std::uint64_t size = layout.number(2);
            if (size < std::uint64_t(bytes)) throw NoArray{"it has fewer numbers than its shape"};
            return layout.text(std::size_t(bytes));
        }
        const std::uint64_t address = layout.number(kWord), size = layout.number(kWord);
        if (address == kNowhere) throw NoArray{"its numbers were never written"};
        if (size < std::uint64_t(bytes)) throw NoArray{"it has fewer numbers than its shape"};
        return from(address).text(std::size_t(bytes));
    }

    StoredTensor array_of(const std::vector<HeaderMessage>& messages,
                          const std::string& path) const {
        const auto content = [&](MessageType type) {
            for (const HeaderMessage& message : messages) {
                if (message.type != type) continue;
                if (message.shared) throw NoArray{"its type is that of another entry"};
                return Stretch(message.content);
            }
            throw NoArray{"it has no type, no shape or no place"};
        };
        for (const HeaderMessage& message : messages) {
            if (message.type == kExternalFiles)
                throw NoArray{"its numbers are in another file, and none is opened"};
            if (message.type == kFilters) throw NoArray{"its numbers are packed"};
        }
        StoredTensor tensor;
        tensor.name = path;
        tensor.dtype = dtype_of(content(kDatatype));
        tensor.dims = dims_of(content(kDataspace));
        bool none = false;
        for (const std::int64_t extent : tensor.dims)
            none = none || extent == 0;
        const std::int64_t count = none ? 0 : element_count(tensor.dims);
        if (count > kMostTensorBytes) throw NoArray{"it is too large"};
        const std::string_view bytes =
            content_of(content(kLayout), count * std::int64_t(size_of(tensor.dtype)));
        tensor.bytes = std::as_bytes(std::span(bytes.data(), bytes.size()));
        return tensor;
    }

    std::string_view bytes_;
    std::set<std::uint64_t> entered_;
    std::size_t messages_ = 0, path_bytes_ = 0;
    Hdf5Arrays made_;
};

}  // namespace

Hdf5Arrays read_hdf5(std::string_view bytes, const std::string& label) {
    try {
        return Hdf5Reader(bytes).run();
    } catch (const NoHdf5& no) {
        throw RunError(Exit::mismatch, fmt::format("{}: {}", label, no.fact), no.help);
    }
}

}  // namespace dtnn::runtime
