#include "tools/dtnnc_runtime/calibrate/tune_engines.hpp"

#include <fmt/format.h>

#include "base/quantity_text.hpp"
#include "base/table.hpp"
#include "plan/json/json.hpp"
#include "runtime/device/device.hpp"
#include "runtime/exec/tune.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace dtnn::tools {
namespace {

std::string output_of(const TuneEnginesCommand& command) {
    if (!command.output.empty()) return command.output;
    std::string path = command.plan;
    if (path.ends_with(".json")) path.resize(path.size() - 5);
    return path + ".tuned.json";
}

std::string table_of(const std::vector<runtime::TunedSteps>& all) {
    Table table;
    table.columns = {{"step"},         {"alike", true}, {"engines", true},
                     {"chosen", true}, {"time", true},  {"of the first", true}};
    for (const runtime::TunedSteps& one : all)
        table.rows.push_back({one.name, fmt::format("{}", one.steps),
                              fmt::format("{}", one.engines), fmt::format("{}", one.chosen),
                              seconds_text(one.seconds), seconds_text(one.first_seconds)});
    return text_table(table, output_width());
}

}  // namespace

int tune_engines(const TuneEnginesCommand& command) {
    plan::Plan plan = load_plan(command.plan);
    const auto device = runtime::open_device(plan.target.device, 1);
    const std::vector<runtime::TunedSteps> all = runtime::tune(plan, *device, command.repeats);
    const std::string path = output_of(command);
    write_file(path, plan::to_json(plan));
    write_stdout(table_of(all));
    tell_written(path);
    return 0;
}

}  // namespace dtnn::tools
