#pragma once
/// What the compiler says about a user's input. Every kind of diagnostic is a line in
/// diagnostics.def.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::compiler {

using plan::Place;

/// A stretch of source text: where it begins and how many columns the caret underlines (at least
/// 1).
struct Span {
    Place place;
    int width = 1;
};

enum class Severity { error, warning };

enum class Code {
#define DTNN_DIAGNOSTIC(name, exit_code, meaning, example, mend) name,
#include "compiler/support/diagnostics.def"
#undef DTNN_DIAGNOSTIC
};

struct CodeInfo {
    std::string_view name;     ///< "unknown_field"; shown with dashes
    int exit_code;             ///< what dtnnc returns when this is the worst: 2, 3, 4 or 5
    std::string_view meaning;  ///< one paragraph for `dtnnc explain`
    std::string_view example;
    std::string_view mend;
};
const CodeInfo& info(Code code);
std::vector<CodeInfo> all_codes();
std::string dashed(std::string_view name);

struct Note {
    Span span;
    std::string text;
};

struct Diagnostic {
    Code code;
    Severity severity = Severity::error;
    Span span;         ///< an empty file: about the command line or the job as a whole
    std::string text;  ///< lower case, the observed fact first, then the rule
    std::vector<Note> notes;
    std::string help;  ///< empty: none
};

/// Collects diagnostics and the text of the files they point into. One per command; nothing is
/// printed here.
class Diagnostics {
  public:
    Diagnostic& error(Code code, Span span, std::string text);
    Diagnostic& warning(Code code, Span span, std::string text);
    void add_file(const std::string& name, std::string text);  ///< so that lines can be shown
    const std::string* file_text(const std::string& name) const;

    bool has_errors() const { return errors_ > 0; }
    int error_count() const { return errors_; }
    int exit_code() const;  ///< 0 without errors, else the largest of the codes'
    const std::vector<Diagnostic>& all() const { return diagnostics_; }

    /// All of them, by file (in the order files were added), line and column, in the form of DESIGN
    /// section 8.
    std::string render(bool color) const;
    std::string render_json()
        const;  ///< {"version":1,"diagnostics":[{code,severity,file,line,column,width,text,notes,help}]}

  private:
    std::vector<Diagnostic> diagnostics_;
    std::vector<std::pair<std::string, std::string>> files_;
    int errors_ = 0;
};

/// The nearest of `candidates` to `word` by edit distance (transposition counts one), or nothing
/// when none is near.
std::optional<std::string> did_you_mean(std::string_view word,
                                        const std::vector<std::string>& candidates);

}  // namespace dtnn::compiler
