#include "runtime/report/history.hpp"

#include <nlohmann/json.hpp>

#include "runtime/base/clock.hpp"
#include "runtime/base/machine.hpp"

namespace dtnn::runtime {
namespace {

using Json = nlohmann::ordered_json;

Json measures(const std::vector<std::string>& names, const Means& means) {
    Json object = Json::object();
    for (std::size_t i = 0; i < names.size(); ++i)
        object[names[i]] = means.values[i];
    return object;
}

/// Text from outside (paths, messages) may hold any bytes; a line of the history is always UTF-8.
std::string line_of(const Json& event) {
    return event.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string measures_json(const std::vector<std::string>& names, const Means& means) {
    return measures(names, means).dump();
}

std::string json_text(const std::string& text) {
    const std::string quoted = line_of(Json(text));
    return quoted.substr(1, quoted.size() - 2);
}

History::History(const std::string& path, const plan::Plan& plan)
    : name_(plan.name), model_(plan.model), measures_(measure_names(plan)), file_(path) {}

void History::start(const std::string& checksum, int threads, double first_step_milliseconds,
                    const std::string& dataset_hash) {
    const Machine machine = this_machine();
    file_.add(line_of({{"event", "start"},
                       {"time", utc_time_stamp()},
                       {"name", name_},
                       {"model", model_},
                       {"plan", checksum},
                       {"dataset", dataset_hash},
                       {"threads", threads},
                       {"first_step_milliseconds", first_step_milliseconds},
                       {"version", DTNN_VERSION},
                       {"machine",
                        {{"host", machine.host},
                         {"system", machine.system},
                         {"processor", machine.processor},
                         {"processors", machine.processors},
                         {"memory_bytes", machine.memory_bytes}}}}));
}

void History::epoch(const EpochResult& result) {
    Json validation;
    if (result.validation.samples > 0) validation = measures(measures_, result.validation);
    file_.add(line_of({{"event", "epoch"},
                       {"epoch", result.epoch},
                       {"step", result.step},
                       {"learning_rate", result.learning_rate},
                       {"train", measures(measures_, result.train)},
                       {"validation", validation},
                       {"samples_per_second", result.samples_per_second},
                       {"seconds", result.seconds}}));
}

void History::evaluate(const Means& test) {
    file_.add(line_of(
        {{"event", "evaluate"}, {"test", measures(measures_, test)}, {"samples", test.samples}}));
}

void History::interrupted(const TrainingResult& result) {
    file_.add(line_of({{"event", "interrupted"}, {"epoch", result.epoch}, {"step", result.step}}));
}

void History::failed(const std::string& error) {
    if (!file_.is_open()) return;
    file_.add(line_of({{"event", "failed"}, {"error", error}}));
}

}  // namespace dtnn::runtime
