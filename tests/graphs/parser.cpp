#include "tests/graphs/parser.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "compiler/ir/axes.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

class Parser {
  public:
    Parser(std::string_view text, const InferTypes& infer) : text_(text), infer_(infer) {}

    Graph graph() {
        keyword("graph");
        expect('@');
        graph_.name = name();
        expect('(');
        while (!accept(')')) {
            operand_declaration();
            if (!accept(',') && !peek(')')) fail("expected `,` or `)`");
        }
        if (accept_word("training")) graph_.training = true;
        expect('{');
        while (!accept('}'))
            statement();
        skip_space();
        if (at_ < text_.size()) fail("text after the end of the graph");
        return std::move(graph_);
    }

    Type type() {
        skip_space();
        const std::string word = identifier();
        Type result;
        if (!plan::parse_name(word, result.dtype)) fail(fmt::format("`{}` is no dtype", word));
        extents(result);
        if (at_ < text_.size() && text_[at_] == '{') {
            ++at_;
            while (!accept('}')) {
                result.order.push_back(int(integer()));
                accept(',');
            }
        }
        return result;
    }

    void end() {
        skip_space();
        if (at_ < text_.size()) fail("text after the end");
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        int line = 1, column = 1;
        for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
            if (text_[i] == '\n') {
                ++line;
                column = 1;
            } else {
                ++column;
            }
        }
        throw GraphTextError(fmt::format("{}:{}: {}", line, column, what));
    }

    void skip_space() {
        while (at_ < text_.size()) {
            if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
                ++at_;
            } else if (text_[at_] == ';') {
                const std::size_t end_of_line = std::min(text_.find('\n', at_), text_.size());
                comment(text_.substr(at_ + 1, end_of_line - at_ - 1));
                at_ = end_of_line;
            } else {
                break;
            }
        }
    }

    /// A comment that begins with a phase's name sets the phase of the node before it.
    void comment(std::string_view text) {
        while (!text.empty() && text.front() == ' ')
            text.remove_prefix(1);
        const std::string_view word = text.substr(0, std::min(text.find(' '), text.size()));
        Phase phase{};
        if (!plan::parse_name(word, phase)) return;
        // Looking for a comma after the last type reads the comment while the node is still being
        // read.
        if (current_ != nullptr)
            current_->phase = phase;
        else if (!graph_.nodes.empty())
            graph_.nodes.back().phase = phase;
    }

    bool peek(char c) {
        skip_space();
        return at_ < text_.size() && text_[at_] == c;
    }
    bool accept(char c) {
        if (!peek(c)) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!accept(c)) fail(fmt::format("expected `{}`", c));
    }

    static bool word_char(char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    }
    static bool name_char(char c) { return word_char(c) || c == '.' || c == '-' || c == '/'; }

    bool accept_word(std::string_view word) {
        skip_space();
        if (text_.substr(at_, word.size()) != word) return false;
        const std::size_t after = at_ + word.size();
        if (after < text_.size() && name_char(text_[after])) return false;
        at_ = after;
        return true;
    }
    void keyword(std::string_view word) {
        if (!accept_word(word)) fail(fmt::format("expected `{}`", word));
    }

    std::string identifier() {
        skip_space();
        const std::size_t begin = at_;
        while (at_ < text_.size() && word_char(text_[at_]))
            ++at_;
        if (at_ == begin) fail("expected a word");
        return std::string(text_.substr(begin, at_ - begin));
    }

    std::string name() {
        if (at_ < text_.size() && text_[at_] == '"') return quoted();
        const std::size_t begin = at_;
        while (at_ < text_.size() && name_char(text_[at_]))
            ++at_;
        if (at_ == begin) fail("expected a name");
        return std::string(text_.substr(begin, at_ - begin));
    }

    std::string quoted() {
        ++at_;
        std::string result;
        while (at_ < text_.size() && text_[at_] != '"') {
            char c = text_[at_++];
            if (c == '\\' && at_ < text_.size()) {
                c = text_[at_++];
                if (c == 'n') c = '\n';
            }
            result += c;
        }
        if (at_ >= text_.size()) fail("a quoted text does not end");
        ++at_;
        return result;
    }

    std::int64_t integer() {
        skip_space();
        std::int64_t result = 0;
        const auto [end_of_number, failure] =
            std::from_chars(text_.data() + at_, text_.data() + text_.size(), result);
        if (failure != std::errc()) fail("expected an integer");
        at_ = std::size_t(end_of_number - text_.data());
        return result;
    }

    std::vector<std::int64_t> integers() {
        std::vector<std::int64_t> result;
        expect('[');
        while (!accept(']')) {
            result.push_back(integer());
            if (!accept(',') && !peek(']')) fail("expected `,` or `]`");
        }
        return result;
    }

    /// An axis without a kind among others with one is the batch.
    void extents(Type& type) {
        std::vector<std::pair<std::size_t, AxisKind>> kinds;
        expect('[');
        while (!accept(']')) {
            type.dims.push_back(integer());
            if (!peek(',') && !peek(']')) {
                const std::string word = identifier();
                AxisKind kind{};
                if (!parse_name(word, kind)) fail(fmt::format("`{}` is no kind of axis", word));
                kinds.emplace_back(type.dims.size() - 1, kind);
            }
            if (!accept(',') && !peek(']')) fail("expected `,` or `]`");
        }
        if (kinds.empty()) return;
        type.axes.assign(type.dims.size(), AxisKind::batch);
        for (const auto& [axis, kind] : kinds)
            type.axes[axis] = kind;
    }

    void operand_declaration() {
        const bool parameter = peek('@');
        if (!parameter && !peek('%')) fail("expected `%name` or `@name`");
        ++at_;
        const std::string declared = name();
        expect(':');
        Type declared_type = type();
        ValueId id;
        if (parameter) {
            Parameter p;
            p.name = declared;
            const std::size_t dot = declared.rfind('.');
            p.role = dot == std::string::npos ? declared : declared.substr(dot + 1);
            p.dims = accept_word("of") ? integers() : declared_type.dims;
            p.optimizer_state = accept_word("state");
            if (p.optimizer_state) p.kind = plan::ParameterKind::optimizer_state;
            p.trainable = !p.optimizer_state && !accept_word("frozen");
            p.single = accept_word("single");
            p.by_rank = accept_word("by_rank");
            if (element_count(p.dims) != declared_type.elements())
                fail("the two shapes of a parameter have different numbers of elements");
            id = graph_.add_parameter(std::move(p), std::move(declared_type));
        } else {
            id = graph_.add_input(declared, declared_type);
        }
        define(declared, id);
    }

    void define(const std::string& declared, ValueId id) {
        if (!values_.emplace(declared, id).second)
            fail(fmt::format("`{}` is defined twice", declared));
    }

    ValueId operand() {
        if (!accept('%') && !accept('@')) fail("expected `%name` or `@name`");
        const std::string wanted = name();
        const auto found = values_.find(wanted);
        if (found == values_.end())
            fail(fmt::format("`{}` is not defined before it is used", wanted));
        return found->second;
    }

    void statement() {
        if (accept_word("return")) {
            do {
                GraphOutput output;
                if (!peek('%') && !peek('@')) {
                    output.name = name();
                    expect('=');
                }
                output.value = operand();
                if (output.name.empty()) output.name = graph_.value(output.value).name;
                graph_.outputs.push_back(std::move(output));
            } while (accept(','));
        } else if (accept_word("update")) {
            Update update;
            update.state = operand();
            expect('=');
            update.value = operand();
            graph_.updates.push_back(update);
        } else if (accept_word("end")) {
            keyword("prologue");
            graph_.prologue = int(graph_.nodes.size());
        } else {
            node();
        }
    }

    void node() {
        std::vector<std::string> results;
        do {
            expect('%');
            results.push_back(name());
        } while (accept(','));
        expect('=');
        Node node;
        current_ = &node;
        node.op = identifier();
        expect('(');
        while (!accept(')')) {
            node.inputs.push_back(operand());
            if (!accept(',') && !peek(')')) fail("expected `,` or `)`");
        }
        if (accept('{')) node.attributes = attributes();
        std::vector<Type> types;
        if (accept(':')) {
            do
                types.push_back(type());
            while (accept(','));
            take_axes(node, types);
        } else {
            types = inferred(node);
        }
        if (types.size() != results.size())
            fail(fmt::format("`{}` has {} results but {} names", node.op, types.size(),
                             results.size()));
        current_ = nullptr;
        const NodeId id = graph_.add_node(std::move(node), types, "");
        for (std::size_t i = 0; i < results.size(); ++i) {
            const ValueId value = graph_.node(id).outputs[i];
            graph_.rename(value, results[i]);
            define(results[i], value);
        }
    }

    /// Axes that are not written are those that the operator gives to results of these extents.
    void take_axes(const Node& node, std::vector<Type>& types) {
        if (!infer_) return;
        std::vector<Type> results;
        Attributes attributes = node.attributes;
        if (infer_(node.op, operand_types(node), attributes, results)) return;
        for (std::size_t i = 0; i < std::min(types.size(), results.size()); ++i)
            if (types[i].axes.empty() && types[i].dims == results[i].dims)
                types[i].axes = results[i].axes;
    }

    std::vector<Type> operand_types(const Node& node) const {
        std::vector<Type> types;
        types.reserve(node.inputs.size());
        for (const ValueId id : node.inputs)
            types.push_back(graph_.type(id));
        return types;
    }

    std::vector<Type> inferred(Node& node) {
        if (!infer_) fail(fmt::format("the result types of `{}` are missing", node.op));
        std::vector<Type> results;
        if (const auto problem = infer_(node.op, operand_types(node), node.attributes, results))
            fail(*problem);
        return results;
    }

    Attributes attributes() {
        Attributes result;
        while (!accept('}')) {
            const std::string key = identifier();
            expect('=');
            if (!result.emplace(key, attribute()).second)
                fail(fmt::format("attribute `{}` is given twice", key));
            if (!accept(',') && !peek('}')) fail("expected `,` or `}`");
        }
        return result;
    }

    // The list is of integers or of reals, by the first.
    AttributeValue list() {
        std::vector<AttributeValue> values;
        expect('[');
        while (!accept(']')) {
            skip_space();
            values.push_back(attribute());
            if (!accept(',') && !peek(']')) fail("expected `,` or `]`");
        }
        std::vector<std::int64_t> integers;
        std::vector<double> reals;
        for (const AttributeValue& value : values) {
            if (const auto* whole = std::get_if<std::int64_t>(&value))
                integers.push_back(*whole);
            else if (const auto* real = std::get_if<double>(&value))
                reals.push_back(*real);
        }
        if (integers.size() == values.size()) return integers;
        if (reals.size() == values.size()) return reals;
        fail("a list has integers or reals");
    }

    AttributeValue attribute() {
        if (peek('[')) return list();
        if (peek('"')) return quoted();
        if (accept_word("true")) return true;
        if (accept_word("false")) return false;
        const char c = at_ < text_.size() ? text_[at_] : '\0';
        if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') return identifier();
        const char* begin = text_.data() + at_;
        const char* limit = text_.data() + text_.size();
        std::int64_t whole = 0;
        double real = 0;
        const auto as_integer = std::from_chars(begin, limit, whole);
        const auto as_real = std::from_chars(begin, limit, real);
        if (as_real.ec != std::errc()) fail("expected an attribute's value");
        at_ = std::size_t(as_real.ptr - text_.data());
        if (as_integer.ec == std::errc() && as_integer.ptr == as_real.ptr) return whole;
        return real;
    }

    std::string_view text_;
    const InferTypes& infer_;
    std::size_t at_ = 0;
    Graph graph_;
    std::unordered_map<std::string, ValueId> values_;
    Node* current_ = nullptr;  ///< the node being read, until it is in the graph
};

}  // namespace

Graph parse_graph(std::string_view text, const InferTypes& infer) {
    return Parser(text, infer).graph();
}

Type parse_type(std::string_view text) {
    const InferTypes none;
    Parser parser(text, none);
    Type result = parser.type();
    parser.end();
    if (result.axes.empty() && !result.dims.empty())
        result.axes = usual_axes(result.dims.size() - 1);
    return result;
}

}  // namespace dtnn::compiler
