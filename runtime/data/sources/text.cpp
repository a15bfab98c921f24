/// Text whose tokens are its bytes or its characters.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/utf8.hpp"
#include "plan/dataset_choices.hpp"
#include "runtime/data/sources/class_folders.hpp"
#include "runtime/data/sources/hashed_file.hpp"
#include "runtime/data/sources/token_windows.hpp"

namespace dtnn::runtime {
namespace {

/// A file that stays open, or is opened whenever it is read: systems open about a thousand.
class TextFile {
  public:
    TextFile(const std::string& path, bool stays_open) : path_(path), file_(path) {
        size_ = file_->size();
        if (!stays_open) file_.reset();
    }
    const std::string& path() const { return path_; }
    std::int64_t size() const { return size_; }
    bool add_to(ContentHash& hash) const {
        if (file_) return add_file(*file_, hash);
        return add_file(RegularFile(path_), hash);
    }
    void read(std::int64_t offset, std::span<char> bytes) const {
        if (file_) return file_->read(offset, bytes);
        RegularFile(path_).read(offset, bytes);
    }

  private:
    std::string path_;
    std::optional<RegularFile> file_;
    std::int64_t size_ = 0;
};

class ByteTokens final : public TokenFile {
  public:
    ByteTokens(const std::string& path, bool stays_open) : file_(path, stays_open) {}

    const std::string& path() const override { return file_.path(); }
    std::int64_t tokens() const override { return file_.size(); }
    bool add_to(ContentHash& hash) const override { return file_.add_to(hash); }
    void read(std::int64_t first, std::span<std::int32_t> to) const override {
        std::array<char, 4096> bytes;
        while (!to.empty()) {
            const std::span<char> piece = std::span(bytes).first(std::min(bytes.size(), to.size()));
            file_.read(first, piece);
            std::transform(piece.begin(), piece.end(), to.begin(),
                           [](char byte) { return std::int32_t(std::uint8_t(byte)); });
            first += std::int64_t(piece.size());
            to = to.subspan(piece.size());
        }
    }

  private:
    TextFile file_;
};

constexpr std::size_t kCodePoints = 0x110000;
using Characters = std::bitset<kCodePoints>;

/// The numbers of characters.
class Alphabet {
  public:
    explicit Alphabet(const Characters& characters) {
        for (unsigned point = 0; point < kCodePoints; ++point)
            if (characters[point]) {
                numbers_.emplace_back(point, std::int32_t(names_.size()));
                names_.push_back(utf8_of(point));
            }
    }
    explicit Alphabet(std::vector<std::string> names) : names_(std::move(names)) {
        for (const std::string& name : names_) {
            if (name.empty() || utf8_length(name) != name.size())
                throw RunError(Exit::mismatch,
                               fmt::format("`{}` among the dataset's class_names is no character",
                                           printable(name)),
                               "with `unit: character` each of them is one");
            numbers_.emplace_back(code_point(name, name.size()), std::int32_t(numbers_.size()));
        }
        std::sort(numbers_.begin(), numbers_.end());
    }
    const std::vector<std::string>& names() const { return names_; }
    /// -1: it has none.
    std::int32_t number(unsigned point) const {
        const auto found =
            std::lower_bound(numbers_.begin(), numbers_.end(), std::pair(point, std::int32_t{0}));
        return found != numbers_.end() && found->first == point ? found->second : -1;
    }

  private:
    std::vector<std::string> names_;
    std::vector<std::pair<unsigned, std::int32_t>> numbers_;
};

class CharacterTokens final : public TokenFile {
  public:
    /// Reads all of the text, and adds its characters to `seen`.
    CharacterTokens(const std::string& path, bool stays_open, Characters& seen)
        : file_(path, stays_open) {
        ContentHash hash;
        walk(0, file_.size(), [&](unsigned point, std::int64_t at) {
            if (tokens_++ % kApart == 0) places_.push_back(at);
            seen.set(point);
            hash.add(std::uint64_t(point));
            return true;
        });
        places_.shrink_to_fit();
        hash_ = hash.value();
    }
    void use(std::shared_ptr<const Alphabet> alphabet) { alphabet_ = std::move(alphabet); }

    const std::string& path() const override { return file_.path(); }
    std::int64_t tokens() const override { return tokens_; }
    bool add_to(ContentHash& hash) const override {
        hash.add(hash_);
        return true;
    }
    std::int64_t resident_bytes() const override {
        return std::int64_t(places_.capacity() * sizeof(std::int64_t));
    }
    void read(std::int64_t first, std::span<std::int32_t> to) const override {
        std::int64_t before = first % kApart;
        std::size_t read = 0;
        walk(places_[std::size_t(first / kApart)], file_.size(), [&](unsigned point, std::int64_t) {
            if (before-- > 0) return true;
            to[read] = alphabet_->number(point);
            if (to[read] < 0) changed();
            return ++read < to.size();
        });
        if (read < to.size()) changed();
    }

  private:
    static constexpr std::int64_t kApart = 4096;  ///< characters between places that are known

    [[noreturn]] void changed() const {
        throw bad_file(path(), "it is not the text that it was when it was opened",
                       "leave files alone while they are trained on");
    }

    /// visit(code point, place) of the characters from `begin` on, until it returns false.
    template <class Visit>
    void walk(std::int64_t begin, std::int64_t end, Visit&& visit) const {
        std::array<char, 16384> room;
        while (begin < end) {
            const auto size = std::size_t(std::min(end - begin, std::int64_t(room.size())));
            file_.read(begin, std::span(room).first(size));
            const std::string_view text(room.data(), size);
            std::size_t at = 0;
            while (at < size) {
                const std::size_t length = utf8_length(text.substr(at));
                // The room may end within a character, which no file does.
                if (length == 0 && begin + std::int64_t(size) < end && size - at < 4) break;
                if (length == 0)
                    throw bad_file(fmt::format("{}: byte {}", path(), begin + std::int64_t(at)),
                                   "no character of UTF-8 begins there",
                                   "`unit: byte` takes any file; iconv -t UTF-8 makes UTF-8 of "
                                   "other texts");
                if (!visit(code_point(text.substr(at), length), begin + std::int64_t(at))) return;
                at += length;
            }
            begin += std::int64_t(at);
        }
    }

    TextFile file_;
    std::shared_ptr<const Alphabet> alphabet_;
    std::vector<std::int64_t> places_;  ///< of characters 0, kApart, 2 * kApart ...
    std::int64_t tokens_ = 0;
    std::uint64_t hash_ = 0;
};

std::vector<std::string> files_of(const std::string& path) {
    return path.empty() ? std::vector<std::string>() : files_below(path);
}

/// Characters of a text that the network knows no number for.
void check_known(const Characters& seen, const Alphabet& alphabet, const std::string& path,
                 bool of_plan) {
    for (unsigned point = 0; point < kCodePoints; ++point)
        if (seen[point] && alphabet.number(point) < 0)
            throw bad_file(
                path,
                fmt::format("it has the character `{}` (U+{:04X}), which {}", shown(utf8_of(point)),
                            point,
                            of_plan ? "the plan's dataset has not" : "the training text has not"),
                of_plan ? "compile the job again, so that the text says its characters; "
                          "or `unit: byte` takes any text"
                        : "take it out, or use `unit: byte`, which takes any text");
}

Source open_text(const plan::Dataset& dataset, const Asked& asked) {
    constexpr std::size_t kMostOpen = 64;
    const std::string path = path_of(dataset), test_path = test_path_of(dataset);
    const std::array<std::vector<std::string>, 2> paths = {files_of(path), files_of(test_path)};
    const bool stay_open = paths[0].size() + paths[1].size() <= kMostOpen;
    std::array<TokenFiles, 2> files;
    std::vector<std::string> names;
    std::int64_t classes = 256;
    if (says(dataset.attributes, "unit", plan::TextUnit::byte)) {
        for (std::size_t i = 0; i < files.size(); ++i)
            for (const std::string& file : paths[i])
                files[i].push_back(std::make_unique<ByteTokens>(file, stay_open));
    } else {
        const auto seen = std::make_unique<std::array<Characters, 2>>();
        std::vector<CharacterTokens*> texts;
        for (std::size_t i = 0; i < files.size(); ++i)
            for (const std::string& file : paths[i]) {
                auto text = std::make_unique<CharacterTokens>(file, stay_open, (*seen)[i]);
                texts.push_back(text.get());
                files[i].push_back(std::move(text));
            }
        const bool told = !dataset.target().names.empty();
        const auto alphabet = told ? std::make_shared<const Alphabet>(dataset.target().names)
                                   : std::make_shared<const Alphabet>((*seen)[0]);
        if (told) check_known((*seen)[0], *alphabet, path, true);
        check_known((*seen)[1], *alphabet, test_path, told);
        for (CharacterTokens* text : texts)
            text->use(alphabet);
        names = alphabet->names();
        classes = std::int64_t(names.size());
    }
    auto source = std::make_unique<TokenWindows>(dataset, asked, std::move(files[0]),
                                                 std::move(files[1]), classes, std::move(names));
    if (const std::int64_t needed = source->resident_bytes(); needed > cache_of(dataset))
        throw bad_file(path,
                       fmt::format("the names of its {} files and places in them take {} bytes, "
                                   "and dataset.cache is {}",
                                   paths[0].size() + paths[1].size(), needed, cache_of(dataset)),
                       fmt::format("set dataset.cache to {} or more", needed));
    return source;
}

}  // namespace

SourceType text_source() {
    return {.open = open_text, .shares = true};
}

}  // namespace dtnn::runtime
