#pragma once
/// Diagnostics: the messages of the compiler about a user's input. Every kind of them is a line in
/// diagnostics.def.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
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
#define DTNN_LINT(name, meaning, example, mend) name,
#include "compiler/support/diagnostics.def"
#undef DTNN_LINT
#undef DTNN_DIAGNOSTIC
};

struct CodeInfo {
    std::string_view name;     ///< "unknown_field"; shown with dashes
    int exit_code;             ///< what dtnnc returns when this is the worst: 2, 3, 4 or 5
    std::string_view meaning;  ///< one paragraph for `dtnnc explain`
    std::string_view example;
    std::string_view mend;
    bool lint = false;  ///< a warning that specs and --allow can silence
};
const CodeInfo& info(Code code);
std::vector<CodeInfo> all_codes();
/// The names of lints, as users write them, with dashes.
const std::vector<std::string_view>& lint_names();
/// The lint of this name; nothing when there is none.
std::optional<Code> find_lint(std::string_view dashed_name);
std::string dashed(std::string_view name);
/// "Exit code 3.", or that it is a lint.
std::string severity_text(const CodeInfo& code);

struct Note {
    Span span;
    std::string text;
};

struct Diagnostic {
    Code code;
    Severity severity = Severity::error;
    Span span;         ///< an empty file: about the command line or the job as a whole
    std::string text;  ///< lower case, the observed fact first, then the rule; of words longer
                       ///< than 300 bytes the beginning
    std::vector<Note> notes;
    std::string help;  ///< empty: none
    /// How the place was reached (uses of blocks, repetitions), innermost first; shown as notes
    /// behind `notes`. Filled in from the living contexts.
    std::vector<Note> chain;
};

/// Collects diagnostics and the text of the files they point into. One per command; nothing is
/// printed here.
///
/// A mistake is said once: a diagnostic of the same code at the same place (file, line, column,
/// width) as an earlier one is dropped. Without a file every one is kept.
class Diagnostics {
  public:
    /// The reference is good until the next diagnostic; of a dropped one it leads to an object that
    /// nobody reads.
    Diagnostic& error(Code code, Span span, std::string text, std::string help = {});
    Diagnostic& warning(Code code, Span span, std::string text, std::string help = {});
    /// Whether a diagnostic of this code stands at the place, so that another one is dropped: what
    /// is expensive to say need not be made.
    bool was_said(Code code, const Span& span) const;
    /// Warnings of this code are dropped from now on.
    void allow(Code code) { allowed_.insert(int(code)); }
    /// Makes every warning an error.
    void raise_warnings();
    void add_file(const std::string& name, std::string text);  ///< so that lines can be shown
    const std::string* file_text(const std::string& name) const;

    /// Takes over what another one collected, with the texts it points into; what is here already,
    /// by code, place and text, is dropped.
    void merge(const Diagnostics& other);

    /// While it lives, every diagnostic gets the note that `describe` makes:
    ///
    ///     Diagnostics::Context context(diagnostics, [&] { return Note{span, "in block ..."}; });
    ///
    /// `describe` is called only when there is a diagnostic, so a context costs two pointers. They
    /// are left in the opposite order of their making, as scopes are.
    class ContextBase {
      public:
        virtual Note describe() const = 0;
        ContextBase(const ContextBase&) = delete;
        ContextBase& operator=(const ContextBase&) = delete;

      protected:
        explicit ContextBase(Diagnostics& diagnostics) : diagnostics_(diagnostics) {
            diagnostics_.contexts_.push_back(this);
        }
        ~ContextBase() { diagnostics_.contexts_.pop_back(); }

      private:
        Diagnostics& diagnostics_;
    };
    template <class Describe>
    class Context final : public ContextBase {
      public:
        Context(Diagnostics& diagnostics, Describe describe)
            : ContextBase(diagnostics), describe_(std::move(describe)) {}
        Note describe() const override { return describe_(); }

      private:
        Describe describe_;
    };

    bool has_errors() const { return errors_ > 0; }
    /// Errors so far, dropped ones included: it has grown when something was wrong, said again or
    /// not.
    int error_count() const { return errors_; }
    int exit_code() const;  ///< 0 without errors, else the largest of the codes'
    const std::vector<Diagnostic>& all() const { return diagnostics_; }

    /// By file (in the order files were added), line and column, in the form of DESIGN section 8:
    /// at most `limit` errors and as many warnings (0: all), then how many more there are.
    std::string render(bool color, int limit = 0) const;
    /// All of them: {"version":1,"errors":N,"warnings":N,"diagnostics":[{code,severity,file,line,
    /// column,width,text,notes,chain,help}]}.
    std::string render_json() const;

  private:
    Diagnostic& add(Code code, Severity severity, Span span, std::string text, std::string help);

    std::vector<Diagnostic> diagnostics_;
    std::vector<std::pair<std::string, std::string>> files_;
    std::vector<const ContextBase*> contexts_;  ///< outermost first
    std::unordered_set<std::string> said_;      ///< code and place of those with a file
    std::unordered_set<int> allowed_;           ///< codes whose warnings are dropped
    Diagnostic dropped_{};
    int errors_ = 0;
};

/// The nearest of `candidates` to `word` by edit distance (transposition counts one), or nothing
/// when none is near.
std::optional<std::string> did_you_mean(std::string_view word,
                                        const std::vector<std::string>& candidates);

}  // namespace dtnn::compiler
