#include <fmt/format.h>
#include <xxhash.h>

#include <iterator>
#include <memory>

#include "base/formats.hpp"
#include "base/json_text.hpp"
#include "plan/json/fields.hpp"
#include "plan/json/json.hpp"

namespace dtnn::plan {

namespace {

/// Text on its way out: what has been made is hashed and handed on when it is a piece.
class Pieces {
  public:
    explicit Pieces(const std::function<void(std::string_view)>& sink) : sink_(sink) {
        XXH3_128bits_reset(state_.get());
        text_.reserve(2 * kPiece);
    }

    std::string& text() { return text_; }
    void line_ended() {
        if (text_.size() >= kPiece) flush();
    }
    /// Hands on the rest; the digits of the checksum.
    std::string finish() {
        flush();
        XXH128_canonical_t digest;
        XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(state_.get()));
        std::string digits;
        for (const unsigned char byte : digest.digest)
            fmt::format_to(std::back_inserter(digits), "{:02x}", byte);
        return digits;
    }

  private:
    // Small enough to stay in the cache until it has been written.
    static constexpr std::size_t kPiece = std::size_t{1} << 18;

    void flush() {
        XXH3_128bits_update(state_.get(), text_.data(), text_.size());
        sink_(text_);
        text_.clear();
    }

    const std::function<void(std::string_view)>& sink_;
    std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_{XXH3_createState(),
                                                                           &XXH3_freeState};
    std::string text_;
};

class Writer {
  public:
    Writer(Pieces& pieces, int indent) : pieces_(pieces), out_(pieces.text()), indent_(indent) {}

    template <class T>
    void operator()(const char* key, const T& value) {
        if (!first_) out_ += ", ";
        open(key);
        write(value);
    }

    /// A mark that is true of few records is left away where it is false.
    void mark(const char* key, bool value) {
        if (value) (*this)(key, value);
    }

    /// A field that is there where the number is not 0.
    void known(const char* key, double value) {
        if (value != 0) (*this)(key, value);
    }

    /// A field on a line of its own.
    template <class T>
    void line(const char* key, const T& value) {
        if (!first_) {
            out_ += ",\n";
            out_.append(std::size_t(indent_), ' ');
        }
        open(key);
        write(value);
    }

    /// A list of records, a line each.
    template <class T>
    void lines(const char* key, const std::vector<T>& records) {
        line_break();
        open(key);
        out_ += '[';
        for (std::size_t i = 0; i < records.size(); ++i) {
            out_ += i ? ",\n" : "\n";
            out_.append(std::size_t(indent_) + 1, ' ');
            write_record(records[i], indent_ + 2);
            pieces_.line_ended();
        }
        out_ += ']';
    }

  private:
    void open(const char* key) {
        first_ = false;
        // Keys are names of our own: nothing in them wants an escape.
        out_ += '"';
        out_ += key;
        out_ += "\": ";
    }

    void line_break() {
        if (!first_) out_ += ',';
        out_ += '\n';
        out_.append(std::size_t(indent_), ' ');
    }

    template <class T>
    void write_record(const T& record, int indent) {
        out_ += '{';
        Writer fields(pieces_, indent);
        visit_fields(fields, record);
        out_ += '}';
    }

    template <class T>
    void write(const T& value) {
        if constexpr (std::is_enum_v<T>)
            append_json(out_, name_of(value));
        else if constexpr (requires { append_json(out_, value); })
            append_json(out_, value);
        else
            write_record(value, indent_);
    }

    // "file:line:column", or "" for nowhere.
    void write(const Place& place) {
        append_json(out_, place.file);
        if (place.file.empty()) return;
        out_.back() = ':';
        append_json(out_, place.line);
        out_ += ':';
        append_json(out_, place.column);
        out_ += '"';
    }

    template <class T>
    requires(!requires(std::string & s, std::vector<T> v) {
        append_json(s, v);
    }) void write(const std::vector<T>& records) {
        out_ += '[';
        for (std::size_t i = 0; i < records.size(); ++i) {
            if (i) out_ += ", ";
            write(records[i]);
        }
        out_ += ']';
    }

    Pieces& pieces_;
    std::string& out_;
    int indent_;
    bool first_ = true;
};

}  // namespace

JsonChecksum write_json(const Plan& plan, const std::function<void(std::string_view)>& sink) {
    std::string first_line = fmt::format(
        R"({{"format": "dtnn-plan", "version": {}, "checksum": "xxh3:)", formats::kPlan.number);
    JsonChecksum checksum;
    checksum.offset = first_line.size();
    first_line.append(2 * sizeof(XXH128_canonical_t), '0');
    first_line += "\",\n";
    sink(first_line);
    Pieces pieces(sink);
    pieces.text() += ' ';
    Writer writer(pieces, 1);
    visit_fields(writer, plan);
    pieces.text() += "}\n";
    checksum.digits = pieces.finish();
    return checksum;
}

std::string to_json(const Plan& plan) {
    std::string text;
    const JsonChecksum checksum =
        write_json(plan, [&](std::string_view piece) { text.append(piece); });
    text.replace(checksum.offset, checksum.digits.size(), checksum.digits);
    return text;
}

}  // namespace dtnn::plan
