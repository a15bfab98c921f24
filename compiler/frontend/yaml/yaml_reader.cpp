#include "compiler/frontend/yaml/yaml_reader.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "compiler/frontend/yaml/source_text.hpp"
#include "compiler/frontend/yaml/syntax_slip.hpp"

namespace dtnn::compiler {
namespace {

/// Thrown out of the event handler when reading on would be pointless; the diagnostic has been
/// made.
struct StopReading {};

bool is_plain(const SourceNode& node) {
    return node.is_scalar() && !node.quoted;
}

/// `SGD(lr=0.1`: what closes it stands behind a comma.
bool is_open(const std::string& text) {
    return std::count(text.begin(), text.end(), '(') > std::count(text.begin(), text.end(), ')');
}

/// Whether a value goes on behind the comma: `SGD(lr=0.1, momentum=0.9)`, `(3, 3)`, `0.9, 0.999`.
bool goes_on(const SourceNode& value, const SourceNode& behind) {
    if (!is_plain(value) || !is_plain(behind) || value.text.empty()) return false;
    if (is_open(value.text)) return true;
    constexpr std::string_view kOfNumbers = "0123456789.-+eE_ ";
    return value.text.find_first_of("0123456789") != std::string::npos &&
           value.text.find_first_not_of("0123456789.-+eE_ ,") == std::string::npos &&
           behind.text.find_first_of("0123456789") == 0 &&
           behind.text.find_first_not_of(kOfNumbers) == std::string::npos;
}

/// Puts what stands behind the comma back to the value.
void join(SourceNode& value, const SourceNode& behind) {
    const Place& begin = value.span.place;
    const Place& next = behind.span.place;
    const bool same_line = begin.line == next.line && next.column > begin.column;
    const bool tight = same_line && next.column == begin.column + value.span.width + 1;
    value.text += (tight ? "," : ", ") + behind.text;
    value.parted = true;
    if (same_line) value.span.width = next.column - begin.column + behind.span.width;
}

/// Joins the items of a list in brackets that are one call to its author; what no item closes stays
/// as it is.
void join_calls(std::vector<SourceNode>& items) {
    std::vector<SourceNode> joined;
    for (std::size_t i = 0; i < items.size(); ++i) {
        SourceNode whole = items[i];
        std::size_t last = i;
        while (is_plain(whole) && is_open(whole.text) && last + 1 < items.size() &&
               is_plain(items[last + 1]))
            join(whole, items[++last]);
        const bool closed = last > i && !is_open(whole.text);
        joined.push_back(closed ? std::move(whole) : std::move(items[i]));
        if (closed) i = last;
    }
    items = std::move(joined);
}

class TreeBuilder : public YAML::EventHandler {
  public:
    TreeBuilder(const SourceText& text, int most_nodes, Diagnostics& diagnostics)
        : text_(text), most_nodes_(most_nodes), diagnostics_(diagnostics) {}

    bool failed() const { return failed_; }
    bool empty() const { return documents_ == 0; }
    SourceNode take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ == 1) return;
        if (!begins_document(text_, mark.line)) {
            report(Code::yaml_syntax, text_.mark(mark.line, mark.column),
                   "the spec has ended before this, and something follows it")
                .help =
                "a spec is one map of fields, a `name: value` on each line; sections, "
                "assignments and lists at its beginning are no part of it";
            throw StopReading{};
        }
        Diagnostic& error = report(Code::several_documents, text_.mark(mark.line, mark.column),
                                   "a second YAML document begins here; a spec file holds one");
        error.help = "put each spec in its own file";
        throw StopReading{};
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        SourceNode node;
        node.span = text_.literal_null(mark.line, mark.column);
        if (node.span.place.line == 0 && !frames_.empty() && frames_.back().node.is_list())
            node.span = text_.dash_before(mark.line, mark.column);
        finish(std::move(node), anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const Span span = text_.token(mark.line, mark.column, "");
        if (++aliases_ > kMaximumAliases) {
            report(Code::too_many_aliases, span,
                   fmt::format("more than {} aliases in one file", kMaximumAliases))
                .help = "share parts with `extends` and references";
            throw StopReading{};
        }
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) {
            report(Code::yaml_syntax, span, "the alias stands inside the value that it refers to");
            throw StopReading{};
        }
        count(size_of(found->second), span);
        finish(SourceNode(found->second), 0);
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        SourceNode node = make_scalar(value, text_.token(mark.line, mark.column, value));
        node.quoted = tag == "!";
        if (node.quoted && !text_.quotes_close(mark.line, mark.column)) {
            // yaml-cpp takes the end of the file for the closing quote.
            report(Code::yaml_syntax, node.span, "the quote is never closed").help =
                "close it on the same line";
            throw StopReading{};
        }
        check_tag(mark, tag, tag == "!");
        finish(std::move(node), anchor);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value style) override {
        open(SourceNode::Kind::list, mark, tag, anchor, style);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value style) override {
        open(SourceNode::Kind::map, mark, tag, anchor, style);
    }
    void OnMapEnd() override { close(); }

  private:
    struct Frame {
        SourceNode node;
        YAML::anchor_t anchor = 0;
        bool has_key = false;
        bool drop = false;                 ///< the key was refused: read its value and forget it
        bool flow = false;                 ///< in braces or brackets, where commas end values
        std::optional<SourceNode> behind;  ///< in place of a key: it may go on with the last value
        std::string key;
        Span key_span;
        std::unordered_map<std::string, Span> keys;  ///< those so far
    };

    Diagnostic& report(Code code, Span span, std::string text) {
        failed_ = true;
        return diagnostics_.error(code, std::move(span), std::move(text));
    }

    static int size_of(const SourceNode& node) {
        int size = 1;
        for (const SourceNode& item : node.items)
            size += size_of(item);
        for (const SourceEntry& entry : node.entries)
            size += 1 + size_of(entry.value);
        return size;
    }

    void count(int nodes, const Span& span) {
        nodes_ += nodes;
        if (nodes_ <= most_nodes_) return;
        const bool expanded = aliases_ > 0;
        report(expanded ? Code::too_many_aliases : Code::too_large, span,
               fmt::format("the file holds more than {} values{}", kMaximumNodes,
                           expanded ? " when its aliases are expanded" : ""));
        throw StopReading{};
    }

    /// For aliases. Anchors inside anchored values keep copies of copies, so those are bounded.
    void keep(YAML::anchor_t anchor, const SourceNode& node) {
        anchored_ += size_of(node);
        if (anchored_ > kMaximumNodes) {
            report(Code::too_many_aliases, node.span,
                   fmt::format("the values with anchors hold more than {} values", kMaximumNodes))
                .help = "share parts with `extends` and references";
            throw StopReading{};
        }
        anchors_[anchor] = node;
    }

    void check_tag(const YAML::Mark& mark, const std::string& tag, bool quoted) {
        if (tag.empty() || tag == "?" || quoted) return;
        report(Code::unknown_tag, text_.word(mark.line, mark.column),
               "a tag on a value; specs are plain data and have none")
            .help = "remove the tag";
    }

    void open(SourceNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
              YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
        Frame frame;
        frame.flow = style == YAML::EmitterStyle::Flow;
        frame.node.kind = kind;
        frame.node.span = text_.token(mark.line, mark.column, "");
        frame.anchor = anchor;
        check_tag(mark, tag, false);
        if (int(frames_.size()) >= kMaximumDepth) {
            report(Code::too_deep, frame.node.span,
                   fmt::format("values are nested more than {} deep", kMaximumDepth));
            throw StopReading{};
        }
        frames_.push_back(std::move(frame));
    }

    void close() {
        Frame frame = std::move(frames_.back());
        frames_.pop_back();
        if (frame.flow && frame.node.is_list()) join_calls(frame.node.items);
        finish(std::move(frame.node), frame.anchor);
    }

    void finish(SourceNode node, YAML::anchor_t anchor) {
        count(1, node.span);
        if (anchor) keep(anchor, node);
        if (frames_.empty()) {
            root_ = std::move(node);
            return;
        }
        Frame& frame = frames_.back();
        if (frame.node.is_list()) {
            if (node.is_null() && node.span.place.line == 0) node.span = frame.node.span;
            frame.node.items.push_back(std::move(node));
        } else if (!frame.has_key) {
            frame.has_key = true;
            if (frame.flow && !frame.node.entries.empty() &&
                goes_on(frame.node.entries.back().value, node))
                frame.behind = std::move(node);
            else
                take_key(frame, node);
        } else {
            if (const std::optional<SourceNode> behind = std::exchange(frame.behind, {})) {
                if (node.is_null()) {
                    join(frame.node.entries.back().value, *behind);
                    frame.has_key = false;
                    return;
                }
                take_key(frame, *behind);
            }
            if (node.is_null() && node.span.place.line == 0) node.span = frame.key_span;
            if (!frame.drop)
                frame.node.entries.push_back({frame.key, frame.key_span, std::move(node)});
            frame.has_key = false;
        }
    }

    void take_key(Frame& frame, const SourceNode& node) {
        frame.drop = false;
        frame.key = node.text;
        frame.key_span = node.span;
        if (frame.key_span.place.line == 0) frame.key_span = frame.node.span;
        if (!node.is_scalar()) {
            frame.drop = true;
            report(Code::bad_key, frame.key_span,
                   fmt::format("the key of a map is {}; it must be a name", describe(node)));
        } else if (node.text == "<<" && !node.quoted) {
            frame.drop = true;
            report(Code::merge_key, node.span, "a merge key `<<`; specs do not have it").help =
                "use `extends`, which merges field by field";
        } else if (const auto [first, fresh] = frame.keys.emplace(node.text, node.span); !fresh) {
            frame.drop = true;
            Diagnostic& error = report(Code::duplicate_key, node.span,
                                       fmt::format("the key `{}` is given twice", node.text));
            error.notes.push_back({first->second, "the first is here"});
            error.help = "remove one of them";
        }
    }

    const SourceText& text_;
    int most_nodes_;
    Diagnostics& diagnostics_;
    SourceNode root_;
    std::vector<Frame> frames_;
    std::map<YAML::anchor_t, SourceNode> anchors_;
    int documents_ = 0;
    int nodes_ = 0;
    int anchored_ = 0;
    int aliases_ = 0;
    bool failed_ = false;
};

std::string explain_syntax(const std::string& message) {
    if (message.find("flow") != std::string::npos)
        return "close every `[` and `{`, and put commas between their values";
    if (message.find("map value") != std::string::npos ||
        message.find("end of map") != std::string::npos ||
        message.find("end of sequence") != std::string::npos)
        return "siblings need the same indentation, and a value with `: ` or ` #` in it needs "
               "quotes";
    if (message.find("anchor") != std::string::npos)
        return "an alias `*name` needs an `&name` above it";
    if (message == "unknown token") return "put values that begin with this character in quotes";
    return "";
}

/// Whether an expression stands without quotes among the lines around one: the braces of `${...}`
/// are YAML's own inside `{}` and `[]`.
bool bare_expression_near(const std::string& text, int line) {
    std::istringstream lines(text);
    std::string one;
    for (int number = 0; number <= line + 1 && std::getline(lines, one); ++number) {
        if (number + 1 < line) continue;
        for (const char* const before : {": ${", "[${", "[ ${", ", ${"})
            if (one.find(before) != std::string::npos) return true;
    }
    return false;
}

/// Reads every event of the text; `prepared` is what the parser sees, with the same byte columns as
/// the shown text.
std::optional<SourceNode> read(const SourceText& text, const std::string& prepared,
                               bool null_when_empty, std::size_t offset, int most_nodes,
                               Diagnostics& diagnostics) {
    TreeBuilder builder(text, most_nodes, diagnostics);
    try {
        std::istringstream stream(prepared);
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const YAML::Exception& error) {
        const bool expression = bare_expression_near(prepared, error.mark.line);
        const auto slip =
            expression ? std::nullopt
                       : find_syntax_slip(text, error.mark.line, error.mark.column, error.msg);
        if (slip) {
            diagnostics.error(Code::yaml_syntax, slip->span,
                              fmt::format("the YAML is not well formed: {}", slip->fact),
                              slip->help);
            return std::nullopt;
        }
        diagnostics.error(Code::yaml_syntax,
                          text.mark(error.mark.line, std::max(error.mark.column, int(offset))),
                          fmt::format("the YAML is not well formed: {}", error.msg),
                          expression ? "put expressions inside `{}` and `[]` in quotes: \"${...}\""
                                     : explain_syntax(error.msg));
        return std::nullopt;
    } catch (const StopReading&) {
        return std::nullopt;
    }
    if (builder.empty() && null_when_empty) return SourceNode{};
    if (builder.empty()) {
        diagnostics.error(Code::empty_file, Span{{text.name(), 1, 1}, 1},
                          "the file is empty; a spec is a map of fields",
                          "begin with `kind: job`, or another kind");
        return std::nullopt;
    }
    if (builder.failed()) return std::nullopt;
    return builder.take();
}

}  // namespace

std::optional<SourceNode> read_yaml(const std::string& name, const std::string& text,
                                    Diagnostics& diagnostics) {
    if (text.size() > kMaximumFileBytes) {
        diagnostics.error(Code::too_large, Span{{name, 1, 1}, 1},
                          fmt::format("the file is larger than {} bytes, the most that a spec has",
                                      kMaximumFileBytes));
        return std::nullopt;
    }
    const std::string body = text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
    diagnostics.add_file(name, body);
    const SourceText source(name, body);
    if (!source.check_encoding(diagnostics) || !source.check_tabs(diagnostics)) return std::nullopt;
    return read(source, body, false, 0, kMaximumNodes, diagnostics);
}

std::optional<SourceNode> read_own_yaml(const std::string& text) {
    Diagnostics unheard;
    const SourceText source("", text);
    return read(source, text, false, 0, std::numeric_limits<int>::max(), unheard);
}

std::optional<SourceNode> read_yaml_value(const std::string& name, const std::string& text,
                                          std::size_t offset, Diagnostics& diagnostics) {
    const SourceText source(name, text);
    if (!source.check_encoding(diagnostics)) return std::nullopt;
    // Blanks in place of what precedes the value keep the parser's columns those of the whole text.
    std::optional<SourceNode> node = read(source, std::string(offset, ' ') + text.substr(offset),
                                          true, offset, kMaximumNodes, diagnostics);
    if (node && node->span.place.line == 0) node->span = source.mark(0, int(offset));
    return node;
}

}  // namespace dtnn::compiler
