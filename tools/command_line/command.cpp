#include "tools/command_line/command.hpp"

#include <algorithm>
#include <tuple>

namespace dtnn::tools {

namespace {

std::vector<Command>& commands() {
    static std::vector<Command> list;
    return list;
}

struct PurposeTitle {
    Purpose purpose;
    std::string_view title;
};

constexpr PurposeTitle kTitles[] = {
    {Purpose::prepare, "Prepare a training"},
    {Purpose::look, "Look into specs, plans, data and runs"},
    {Purpose::compare, "Compare"},
    {Purpose::measure, "Measure and foretell"},
    {Purpose::run, "Run"},
    {Purpose::use, "Use trained weights"},
    {Purpose::learn, "Learn the language"},
    {Purpose::shell, "Help, and what shells and editors read"},
};

}  // namespace

std::string_view title_of(Purpose purpose) {
    return std::find_if(std::begin(kTitles), std::end(kTitles),
                        [&](const PurposeTitle& one) { return one.purpose == purpose; })
        ->title;
}

std::vector<Purpose> all_purposes() {
    std::vector<Purpose> list;
    for (const PurposeTitle& one : kTitles)
        list.push_back(one.purpose);
    return list;
}

RegisteredCommand::RegisteredCommand(const Command& command) {
    commands().push_back(command);
}

std::vector<Command> registered_commands() {
    std::vector<Command> list = commands();
    std::sort(list.begin(), list.end(), [](const Command& a, const Command& b) {
        return std::tuple(a.purpose, a.place) < std::tuple(b.purpose, b.place);
    });
    return list;
}

std::vector<ExitOf> exits_of(const Command& command) {
    std::vector<ExitOf> list = command.exits;
    for (const ExitCode code : {ExitCode::done, ExitCode::usage, ExitCode::internal})
        if (std::none_of(list.begin(), list.end(),
                         [&](const ExitOf& one) { return one.code == code; }))
            list.push_back({code});
    for (ExitOf& one : list)
        if (one.meaning == nullptr) one.meaning = meaning_of(int(one.code));
    std::sort(list.begin(), list.end(),
              [](const ExitOf& a, const ExitOf& b) { return a.code < b.code; });
    return list;
}

}  // namespace dtnn::tools
