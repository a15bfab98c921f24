// dtnnc explain WORD, or the list of words.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/frontend/value_reader.hpp"
#include "compiler/support/diagnostics.hpp"
#include "tools/dtnnc/commands.hpp"
#include "tools/dtnnc/explain_topics.hpp"

namespace dtnn::tools {
namespace {

using compiler::json_quoted;

// 2: sections are objects; 1: they were texts.
constexpr int kVersion = 2;
constexpr std::size_t kWidth = 100;

/// "  " and the names, in lines of at most kWidth columns.
std::string wrapped(const std::vector<std::string>& names) {
    std::string text, line = " ";
    for (const std::string& name : names) {
        if (line.size() + name.size() + 2 > kWidth) {
            text += line + "\n";
            line.assign(1, ' ');
        }
        line += " " + name;
    }
    return text + line + "\n";
}

std::string json_list(const std::vector<std::string>& items) {
    return fmt::format("[{}]", fmt::join(items, ","));
}

int list_groups(bool json) {
    std::vector<std::string> objects;
    for (const TopicGroup& group : topic_groups()) {
        if (!json) {
            fmt::print("{}:\n{}\n", group.title, wrapped(group.names));
            continue;
        }
        std::vector<std::string> names;
        for (const std::string& name : group.names)
            names.push_back(json_quoted(name));
        objects.push_back(fmt::format("{{\"title\":{},\"names\":{}}}", json_quoted(group.title),
                                      json_list(names)));
    }
    if (json)
        fmt::print("{{\"version\":{},\"groups\":{}}}\n", kVersion, json_list(objects));
    else
        fmt::print(
            "and every field, by its name (`filters`) or with its owner (`conv2d.filters`, "
            "`training.batch_size`):\ndtnnc explain WORD\n");
    return 0;
}

}  // namespace

int explain(const std::string& word, const CommonOptions& options) {
    const bool json = options.format == "json";
    if (word.empty()) return list_groups(json);
    const std::vector<Topic> found = topics_of(word);
    if (found.empty()) {
        fmt::print(stderr, "dtnnc: nothing is named `{}`\n", word);
        if (const auto near = compiler::did_you_mean(word, topic_words()))
            fmt::print(stderr, "help: did you mean `{}`?\n", *near);
        else
            fmt::print(stderr, "help: `dtnnc explain` alone lists the words there are\n");
        return 2;
    }
    std::vector<std::string> sections;
    for (const Topic& topic : found)
        sections.push_back(json ? fmt::format("{{\"name\":{},\"group\":{},\"text\":{}}}",
                                              json_quoted(topic.name), json_quoted(topic.group),
                                              json_quoted(topic.text))
                                : topic.text);
    if (json)
        fmt::print("{{\"version\":{},\"word\":{},\"sections\":{}}}\n", kVersion, json_quoted(word),
                   json_list(sections));
    else
        fmt::print("{}", fmt::join(sections, "\n"));
    return 0;
}

}  // namespace dtnn::tools
