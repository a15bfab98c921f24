// The scripts that shells read: they ask the program itself what may stand where, and look for
// files where it says so.

#include <algorithm>
#include <string>

#include "tools/command_line/completion.hpp"

namespace dtnn::tools {

namespace {

// Bash takes `--name=value` for three words and completes the last of them.
constexpr const char* kBash =
    R"script(# Completion of PROGRAM in bash, written by `PROGRAM completion bash`.
FUNCTION() {
    local current=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]/#\~/$HOME}
    local -a words=()
    local i word line ending joins=0
    for ((i = 1; i <= COMP_CWORD; ++i)); do
        word=${COMP_WORDS[i]}
        if ((${#words[@]} > 0)) && { ((joins)) || [[ $word == "=" && ${words[-1]} == --* ]]; }; then
            words[-1]+=$word
            [[ $word == "=" ]] && joins=1 || joins=0
        else
            words+=("$word")
        fi
    done
    [[ $current == "=" ]] && current=
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        ":files")
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
            ;;
        ":files "*)
            compopt -o filenames 2>/dev/null
            for ending in ${line#:files }; do
                while IFS= read -r word; do
                    [[ -d $word ]] || COMPREPLY+=("$word")
                done < <(compgen -f -X "!*.$ending" -- "$current")
            done
            while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$current")
            ;;
        ":folders")
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$current")
            ;;
        *)
            word=${line%%$'\t'*}
            [[ ${words[-1]} == --*=* ]] && word=${word#*=}
            COMPREPLY+=("$word")
            ;;
        esac
    done < <("$program" completion words -- "${words[@]}" 2>/dev/null)
}
complete -F FUNCTION PROGRAM
)script";

constexpr const char* kZsh = R"script(#compdef PROGRAM
# Completion of PROGRAM in zsh, written by `PROGRAM completion zsh`: a file FUNCTION in a folder of $fpath.
FUNCTION() {
    local line value files= folders=
    local -a found given
    given=("${(@)words[2,CURRENT]}")
    for line in "${(@f)$("${words[1]/#\~/$HOME}" completion words -- "${given[@]}" 2>/dev/null)}"; do
        case $line in
        (:files) files='*' ;;
        (:files*) files="*.(${(j:|:)${=line#:files }})" ;;
        (:folders) folders=1 ;;
        (?*)
            value=${line%%$'\t'*}
            found+=("${value//:/\\:}:${line#*$'\t'}")
            ;;
        esac
    done
    # Words before files: where these are looked for, no others are taken any more.
    (( ${#found} )) && _describe 'PROGRAM' found
    [[ $PREFIX == --*=* ]] && compset -P '*='
    [[ -n $files ]] && _files -g "$files"
    [[ -n $folders ]] && _files -/
    return 0
}
if [[ ${funcstack[1]} == FUNCTION ]]; then
    FUNCTION "$@"
else
    compdef FUNCTION PROGRAM
fi
)script";

constexpr const char* kFish =
    R"script(# Completion of PROGRAM in fish, written by `PROGRAM completion fish`.
function _FUNCTION
    set -l given (commandline -opc) (commandline -ct)
    set -l program $given[1]
    set -e given[1]
    set -l last (commandline -ct)
    set -l before ""
    if string match -qr -- '^--[^=]*=' "$last"
        set before (string replace -r -- '=.*' '=' "$last")
        set last (string replace -r -- '^[^=]*=' '' "$last")
    end
    for line in ($program completion words -- $given 2>/dev/null)
        switch $line
            case ':files*' ':folders'
                set -l ending '.*'
                switch $line
                    case ':folders'
                        set ending '/'
                    case ':files *'
                        set -l endings (string split ' ' (string replace ':files ' '' -- $line))
                        set ending "(/|\.("(string join '|' $endings)"))"
                end
                # What fish offers for a command that it knows nothing of: paths, ~ and quotes understood.
                for path in (complete -C"__fish_command_without_completions $last")
                    set path (string split -f 1 \t -- $path)
                    if string match -qr -- "$ending\$" "$path"
                        echo -- "$before$path"
                    end
                end
            case '*'
                echo -- $line
        end
    end
end
complete -c PROGRAM -f -a '(_FUNCTION)'
)script";

struct ShellScript {
    const char* shell;
    const char* text;
};
constexpr ShellScript kScripts[] = {{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

}  // namespace

std::vector<std::string> completed_shells() {
    std::vector<std::string> shells;
    for (const ShellScript& one : kScripts)
        shells.emplace_back(one.shell);
    return shells;
}

std::string completion_script(const std::string& program, const std::string& shell) {
    std::string text =
        std::find_if(std::begin(kScripts), std::end(kScripts), [&](const ShellScript& one) {
            return one.shell == shell;
        })->text;
    std::string function = "_" + program;
    std::replace(function.begin(), function.end(), '-', '_');
    replace_all(text, "FUNCTION", function);
    replace_all(text, "PROGRAM", program);
    return text;
}

}  // namespace dtnn::tools
