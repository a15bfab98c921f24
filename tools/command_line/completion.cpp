#include "tools/command_line/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace dtnn::tools {

namespace {

using Words = std::vector<std::string>;

/// The beginning of what is told, for a list of candidates.
std::string brief(const std::string& doc) {
    constexpr std::size_t kMost = 72;
    const std::size_t end = std::min({doc.find(';'), doc.find(": "), doc.size()});
    if (end <= kMost) return doc.substr(0, end);
    const std::size_t space = doc.rfind(' ', kMost);
    return doc.substr(0, space == std::string::npos ? kMost : space) + " ...";
}

class Completion {
  public:
    Completion(const Program& program, Words words) : program_(program), words_(std::move(words)) {
        if (words_.empty()) words_.emplace_back();
        last_ = words_.back();
        words_.pop_back();
    }

    std::string text() {
        complete();
        return text_;
    }

  private:
    void complete();
    void complete_first();
    void complete_in(const Program::Entry& entry, std::size_t begin);
    void value_of(const OptionInfo& option, const std::string& prefix);
    void files(const Words& kinds);
    void add(const std::string& word, const std::string& doc) {
        if (word.starts_with(last_)) text_ += fmt::format("{}\t{}\n", word, brief(doc));
    }
    void add_commands(const std::string& group);

    const Program& program_;
    Words words_;       ///< those before the last
    std::string last_;  ///< what is to be completed
    std::string text_;
};

void Completion::add_commands(const std::string& group) {
    for (const std::string& name : program_.names(group)) {
        const std::string whole = group.empty() ? name : group + " " + name;
        std::string doc = fmt::format("commands of {}", whole);
        for (const Program::Entry& entry : program_.entries())
            if (entry.command.name == whole) doc = entry.command.doc;
        add(name, doc);
    }
}

void Completion::complete_first() {
    add_commands("");
    add("--version", "Prints the version");
    if (!program_.facts().implied_by_all) return add("--help", "Lists the commands");
    const Program::Found implied = program_.find({program_.facts().implied});
    complete_in(*implied.entry, 0);
}

void Completion::complete() {
    if (words_.empty()) return complete_first();
    if (words_[0] == "help" && !last_.starts_with("-")) {
        if (words_.size() == 1) return add_commands("");
        if (words_.size() == 2 && program_.is_group(words_[1])) add_commands(words_[1]);
        return;
    }
    Program::Found found = program_.find(words_);
    if (found.entry == nullptr && program_.is_group(words_[0])) {
        if (words_.size() == 1) add_commands(words_[0]);
        return;
    }
    if (found.entry == nullptr && program_.implies(words_[0]))
        found = {program_.find({program_.facts().implied}).entry, 0};
    if (found.entry != nullptr) complete_in(*found.entry, found.words);
}

void Completion::complete_in(const Program::Entry& entry, std::size_t begin) {
    const OptionList& options = *entry.options;
    Words given;
    const OptionInfo* awaited = nullptr;
    std::size_t arguments = 0;
    bool options_end = false;
    for (std::size_t i = begin; i < words_.size(); ++i) {
        const std::string& word = words_[i];
        if (std::exchange(awaited, nullptr) != nullptr) continue;
        if (options_end || word.size() < 2 || word[0] != '-') {
            ++arguments;
        } else if (word == "--") {
            options_end = true;
        } else if (const OptionInfo* option = options.find(word.substr(0, word.find('=')))) {
            given.push_back(option->names);
            if (option->takes_value() && word.find('=') == std::string::npos) awaited = option;
        }
    }
    if (awaited != nullptr) return value_of(*awaited, "");
    if (!options_end && last_.starts_with("--")) {
        const std::size_t equals = last_.find('=');
        if (equals != std::string::npos) {
            const OptionInfo* option = options.find(last_.substr(0, equals));
            if (option != nullptr && option->takes_value())
                value_of(*option, last_.substr(0, equals + 1));
            return;
        }
    }
    if (!options_end && last_.starts_with("-")) {
        for (const OptionInfo& option : options.options()) {
            const bool again = option.repeated ||
                               std::find(given.begin(), given.end(), option.names) == given.end();
            for (const std::string& flag : option.flags)
                if (again) add(flag, option.doc);
        }
        add("--help", "Says what the command does and takes");
        return;
    }
    for (const OptionInfo& option : options.options()) {
        if (!option.is_argument()) continue;
        if (option.repeated || arguments == 0) return value_of(option, "");
        --arguments;
    }
}

void Completion::value_of(const OptionInfo& option, const std::string& prefix) {
    for (const std::string& word : option.choices)
        add(prefix + word, "");
    for (const std::string& word : option.offers)
        add(prefix + word, "");
    const Words kinds = option.kinds();
    for (const std::string& kind : kinds) {
        if (kind == "COMMAND") {
            add_commands("");
        } else if (program_.facts().names) {
            for (const std::string& name : program_.facts().names(kind))
                add(prefix + name, "");
        }
    }
    files(kinds);
}

/// The words that the shell has to look for itself.
void Completion::files(const Words& kinds) {
    Words endings;
    bool any = false, folders = false;
    for (const std::string& kind : kinds) {
        if (kind == "SPEC") endings.insert(endings.end(), {"yaml", "yml"});
        if (kind == "PLAN") endings.emplace_back("json");
        if (kind == "FILE" || kind == "DATA") any = true;
        if (kind == "FOLDER" || kind == "RUN") folders = true;
    }
    if (any)
        text_ += ":files\n";
    else if (!endings.empty())
        text_ += fmt::format(":files {}\n", fmt::join(endings, " "));
    else if (folders)
        text_ += ":folders\n";
}

}  // namespace

std::string completions(const Program& program, std::vector<std::string> words) {
    return Completion(program, std::move(words)).text();
}

}  // namespace dtnn::tools
