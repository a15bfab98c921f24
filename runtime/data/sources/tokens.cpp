/// Tokens as others have stored them: an .npy of integers, or 16 or 32 bits each without a header.

#include <algorithm>
#include <array>

#include "plan/dataset_choices.hpp"
#include "runtime/data/formats/npy.hpp"
#include "runtime/data/sources/hashed_file.hpp"
#include "runtime/data/sources/token_windows.hpp"

namespace dtnn::runtime {
namespace {

class StoredTokens final : public TokenFile {
  public:
    StoredTokens(const std::string& path, int item_bytes, std::int64_t classes)
        : file_(path), classes_(classes) {
        if (path.ends_with(".npy")) {
            std::string beginning(std::size_t(std::min(file_.size(), kMostNpyHeader)), '\0');
            file_.read(0, std::span<char>(beginning));
            header_ = parse_npy_header(beginning, file_.size(), path);
            if (header_.dims.size() != 1 || header_.kind == NpyHeader::Kind::real ||
                header_.kind == NpyHeader::Kind::boolean)
                throw bad_file(path,
                               fmt::format("it is {} of the shape ({})", header_.type(),
                                           fmt::join(header_.dims, ",")),
                               "tokens are integers, and an array of them has one axis");
            return;
        }
        if (file_.size() % item_bytes != 0)
            throw bad_file(path,
                           fmt::format("its {} bytes are no whole number of tokens of {} bytes",
                                       file_.size(), item_bytes),
                           "dataset.item says how long a token is");
        header_.kind = NpyHeader::Kind::natural;
        header_.item_bytes = item_bytes;
        header_.dims = {file_.size() / item_bytes};
    }

    const std::string& path() const override { return file_.path(); }
    std::int64_t tokens() const override { return header_.elements(); }
    bool add_to(ContentHash& hash) const override { return add_file(file_, hash); }

    void read(std::int64_t first, std::span<std::int32_t> to) const override {
        constexpr std::size_t kPiece = 512;
        std::array<char, kPiece * sizeof(std::int64_t)> bytes;
        std::array<std::int64_t, kPiece> numbers;
        while (!to.empty()) {
            const std::size_t count = std::min(kPiece, to.size());
            const std::span<char> piece =
                std::span(bytes).first(count * std::size_t(header_.item_bytes));
            file_.read(header_.begin + first * header_.item_bytes, piece);
            convert_elements(header_, piece.data(), path(), std::span(numbers).first(count));
            for (std::size_t i = 0; i < count; ++i) {
                if (numbers[i] < 0 || numbers[i] >= classes_)
                    throw bad_file(fmt::format("{}: token {}", path(), first + std::int64_t(i)),
                                   fmt::format("it is {}, and there are {} tokens, from 0",
                                               numbers[i], classes_),
                                   "dataset.classes is the vocabulary's size; dataset.item says "
                                   "how long a token is");
                to[i] = std::int32_t(numbers[i]);
            }
            first += std::int64_t(count);
            to = to.subspan(count);
        }
    }

  private:
    RegularFile file_;
    NpyHeader header_;
    std::int64_t classes_;
};

Source open_tokens(const plan::Dataset& dataset, const Asked& asked) {
    const int item_bytes = says(dataset.attributes, "item", plan::TokenItem::u16) ? 2 : 4;
    const auto files = [&](const std::string& path) {
        TokenFiles list;
        if (!path.empty())
            list.push_back(
                std::make_unique<StoredTokens>(path, item_bytes, dataset.target().classes));
        return list;
    };
    return std::make_unique<TokenWindows>(dataset, asked, files(path_of(dataset)),
                                          files(test_path_of(dataset)), dataset.target().classes);
}

}  // namespace

SourceType tokens_source() {
    return {.open = open_tokens, .shares = true};
}

}  // namespace dtnn::runtime
