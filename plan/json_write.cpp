#include <fmt/format.h>
#include <xxhash.h>

#include "plan/fields.hpp"
#include "plan/json.hpp"
#include "plan/json_text.hpp"

namespace dtnn::plan {

namespace {

class Writer {
  public:
    Writer(std::string& out, int indent) : out_(out), indent_(indent) {}

    template <class T>
    void operator()(const char* key, const T& value) {
        if (!first_) out_ += ", ";
        open(key);
        write(value);
    }

    /// A field on a line of its own.
    template <class T>
    void line(const char* key, const T& value) {
        if (!first_) {
            out_ += ",\n";
            out_.append(static_cast<std::size_t>(indent_), ' ');
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
            out_.append(static_cast<std::size_t>(indent_) + 1, ' ');
            write_record(records[i], indent_ + 2);
        }
        out_ += ']';
    }

  private:
    void open(const char* key) {
        first_ = false;
        append_json(out_, key);
        out_ += ": ";
    }

    void line_break() {
        if (!first_) out_ += ',';
        out_ += '\n';
        out_.append(static_cast<std::size_t>(indent_), ' ');
    }

    template <class T>
    void write_record(const T& record, int indent) {
        out_ += '{';
        Writer fields(out_, indent);
        visit_fields(fields, record);
        out_ += '}';
    }

    template <class T>
    void write(const T& value) {
        if constexpr (std::is_enum_v<T>)
            append_json(out_, EnumNames<T>::names[static_cast<int>(value)]);
        else if constexpr (requires { append_json(out_, value); })
            append_json(out_, value);
        else
            write_record(value, indent_);
    }

    // "file:line:column", or "" for nowhere.
    void write(const Place& place) {
        append_json(out_, place.file.empty()
                              ? std::string()
                              : fmt::format("{}:{}:{}", place.file, place.line, place.column));
    }

    template <class T>
    requires(!requires(std::string & s, std::vector<T> v) {
        append_json(s, v);
    }) void write(const std::vector<T>& records) {
        out_ += '[';
        for (std::size_t i = 0; i < records.size(); ++i) {
            if (i) out_ += ", ";
            write_record(records[i], indent_);
        }
        out_ += ']';
    }

    std::string& out_;
    int indent_;
    bool first_ = true;
};

}  // namespace

std::string to_json(const Plan& plan) {
    // The first line has the same length in every plan but for the version, so that the text, which
    // may have gigabytes, is written in place and never copied.
    std::string text =
        fmt::format(R"({{"format": "dtnn-plan", "version": {}, "checksum": "xxh3:)", kVersion);
    const std::size_t digits = text.size();
    text.append(2 * sizeof(XXH128_canonical_t), '0');
    text += "\",\n";
    const std::size_t first_line = text.size();
    std::size_t steps = 0;
    for (const Program& program : plan.programs)
        steps += program.steps.size() + program.prologue.size();
    text.reserve(first_line + 900 * (steps + plan.layers.size() + plan.parameters.size()));
    text += ' ';
    Writer writer(text, 1);
    visit_fields(writer, plan);
    text += "}\n";
    XXH128_canonical_t digest;
    XXH128_canonicalFromHash(&digest,
                             XXH3_128bits(text.data() + first_line, text.size() - first_line));
    for (std::size_t i = 0; i < sizeof digest.digest; ++i)
        fmt::format_to(text.data() + digits + 2 * i, "{:02x}", digest.digest[i]);
    return text;
}

}  // namespace dtnn::plan
