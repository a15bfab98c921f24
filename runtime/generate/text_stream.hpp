#pragma once
/// Text that comes in pieces of bytes, which need not end with a character, and that other texts
/// end.

#include <string>
#include <string_view>
#include <vector>

namespace dtnn::runtime {

class TextStream {
  public:
    /// The texts that end it, none of them empty.
    explicit TextStream(std::vector<std::string> stops) : stops_(std::move(stops)) {}

    /// Adds the next bytes, up to the text that ends it, which is no part of it (of several the one
    /// that is whole first, of those the longest). Whether it has ended: then bytes are no longer
    /// added.
    bool add(std::string_view bytes);

    /// What has not been taken yet, as UTF-8: whole characters that cannot belong to a text that
    /// ends it, whatever comes. Bytes that are no part of a character are U+FFFD, as many together
    /// as begin one.
    std::string take() { return take_to(pending_.size() - held()); }
    /// All that is left, when no more comes.
    std::string take_rest() { return take_to(pending_.size(), true); }

  private:
    std::size_t held() const;
    std::string take_to(std::size_t end, bool last = false);

    std::vector<std::string> stops_;
    std::string pending_;
    bool ended_ = false;
};

}  // namespace dtnn::runtime
