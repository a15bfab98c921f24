#pragma once
/// The words of other tools: the lines of other_words.txt. Suggestions, the help of diagnostics and
/// `dtnnc explain` read them.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dtnn::compiler {

/// The kind of thing that a word stands for, there.
enum class WordKind {
    layer,
    field,
    optimizer,
    loss,
    metric,
    schedule,
    transform,
    augmentation,
    value,
};

struct OtherWord {
    std::string_view tools;  ///< "PyTorch, Keras"; empty: people at large
    std::string_view word;   ///< as it is written there
    WordKind kind = WordKind::field;
    std::string_view ours;    ///< empty: nothing is to be written here, and the remark says why
    std::string_view remark;  ///< may be empty
};

std::span<const OtherWord> other_words();

/// The lines about a word, whatever its capitals and separators, the module before it and the
/// arguments behind it: `nn.Conv2d(3, 8)` is Conv2d.
std::vector<const OtherWord*> find_other_words(std::string_view word);

/// "PyTorch's `kernel_size` is `kernel` here", with the remark.
std::string help_text(const OtherWord& word);

/// The help for a word that stands where one of the candidates is wanted: it is one of them by
/// another name. Empty: it is not.
std::string help_by_name(std::string_view word, const std::vector<std::string>& candidates);
/// Why there is nothing to be written for a word. Empty: it is none of these.
std::string help_by_remark(std::string_view word);
/// The help that says what a word is here at all, where it does not belong. Empty: nothing is
/// known.
std::string help_elsewhere(std::string_view word);

std::vector<std::string_view> tools_of(const OtherWord& word);
/// "PyTorch and Keras"
std::string tools_text(const OtherWord& word);

}  // namespace dtnn::compiler
