#pragma once
/// Texts that are kept once for all who name them. A graph of a large network names its operators,
/// files and values millions of times over its passes; a copy of such a name is a pointer.

#include <fmt/core.h>

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "plan/plan.hpp"

namespace dtnn::compiler {

/// A text that somebody keeps; used like a constant std::string.
class KeptText {
  public:
    const std::string& str() const {
        static const std::string none;
        return text_ ? *text_ : none;
    }
    operator const std::string&() const { return str(); }
    operator std::string_view() const { return str(); }
    const char* c_str() const { return str().c_str(); }
    bool empty() const { return !text_ || text_->empty(); }
    std::size_t size() const { return str().size(); }

    friend bool operator==(const KeptText& a, std::string_view b) { return a.str() == b; }
    template <std::derived_from<KeptText> A, std::derived_from<KeptText> B>
    friend bool operator==(const A& a, const B& b) {
        return a.text_ == b.text_ || a.str() == b.str();
    }
    friend std::string operator+(const KeptText& a, std::string_view b) {
        return std::string(a.str()).append(b);
    }
    friend std::string operator+(std::string a, const KeptText& b) {
        return std::move(a.append(b.str()));
    }
    friend std::ostream& operator<<(std::ostream& out, const KeptText& text);

  protected:
    KeptText() = default;
    explicit KeptText(const std::string* text) : text_(text) {}
    const std::string* text_ = nullptr;  ///< null: empty
};

/// One of few texts, kept for the life of the program: operators' names, files' names. Making one
/// of a text is a lookup; copies and comparisons of symbols are free. May be made by any thread.
class Symbol : public KeptText {
  public:
    Symbol() = default;
    Symbol(std::string_view text);
    Symbol(const std::string& text) : Symbol(std::string_view(text)) {}
    Symbol(const char* text) : Symbol(std::string_view(text)) {}

    template <std::same_as<Symbol> S>
    friend bool operator==(const S& a, const S& b) {
        return a.text_ == b.text_;
    }
    std::size_t hash() const { return std::hash<const void*>{}(text_); }
};

/// A line of a spec, as plan::Place, which it becomes where one is asked for.
struct Origin {
    Symbol file;
    int line = 0;
    int column = 0;

    Origin() = default;
    Origin(const plan::Place& place) : file(place.file), line(place.line), column(place.column) {}
    operator plan::Place() const { return {file.str(), line, column}; }
};

/// The name of a value, kept by the graph (graph.hpp): names of one graph, and of the graphs that
/// passes make of it, are equal when their numbers are.
class Name : public KeptText {
  public:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    Name() = default;
    std::uint32_t number() const { return number_; }  ///< counted from 0; kNone: no name

  private:
    friend class Pool;
    Name(const std::string& text, std::uint32_t number) : KeptText(&text), number_(number) {}
    std::uint32_t number_ = kNone;
};

}  // namespace dtnn::compiler

template <>
struct std::hash<dtnn::compiler::Symbol> {
    std::size_t operator()(dtnn::compiler::Symbol symbol) const noexcept { return symbol.hash(); }
};

template <std::derived_from<dtnn::compiler::KeptText> T>
struct fmt::formatter<T> : fmt::formatter<std::string_view> {
    template <class Context>
    auto format(const T& text, Context& context) const {
        return fmt::formatter<std::string_view>::format(text.str(), context);
    }
};
