#include "runtime/report/history_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/escape.hpp"
#include "base/file_limits.hpp"
#include "base/formats.hpp"
#include "base/json.hpp"
#include "runtime/base/regular_file.hpp"

namespace dtnn::runtime {
namespace {

Measures measures_of(const Json& object) {
    Measures measures;
    if (!object.is_object()) return measures;
    for (const auto& [name, value] : object.items()) {
        if (value.is_number())
            measures.numbers[name] = value.get<double>();
        else if (!value.is_null())
            measures.others[name] = write_json(value);
    }
    return measures;
}

void flatten(const Json& value, const std::string& name, std::map<std::string, std::string>& into) {
    if (!value.is_object()) {
        into[name] = value.is_string() ? value.get<std::string>() : write_json(value);
        return;
    }
    for (const auto& [key, inner] : value.items())
        flatten(inner, name.empty() ? key : name + "." + key, into);
}

class EventReader {
  public:
    EventReader(RunHistory& history, const std::string& path) : history_(history), path_(path) {}

    void event(const Json& line) {
        HistoryEvent kind{};
        // Other events are of later versions; what is known is shown.
        if (!parse_name(line.at("event").get<std::string>(), kind)) return;
        if (kind == HistoryEvent::start) check_format(line);
        if (kind == HistoryEvent::start || kind == HistoryEvent::resume) {
            if (kind == HistoryEvent::resume || !history_.start.empty()) ++history_.resumed;
            start(line);
            history_.ending = RunState::unfinished;
        } else if (kind == HistoryEvent::epoch) {
            epoch(line);
        } else if (kind == HistoryEvent::evaluate) {
            history_.test = measures_of(line.at("test"));
            history_.test_samples = whole_number_of(line.at("samples"));
            history_.ending = RunState::finished;
        } else if (kind == HistoryEvent::restored) {
            restored(line);
        } else if (kind == HistoryEvent::continued) {
            history_.continued.push_back(
                {whole_number_of(line.at("epoch")), std::move(history_.test)});
            history_.test = {};
            history_.test_samples = 0;
            history_.kept.reset();
            --history_.resumed;  // its line of going on stands before it
        } else if (kind == HistoryEvent::interrupted) {
            history_.ending = RunState::interrupted;
        } else if (kind == HistoryEvent::failed) {
            history_.ending = RunState::failed;
            history_.error = line.at("error").get<std::string>();
        }
    }

  private:
    void check_format(const Json& line) const {
        const Json number = line.value("format", Json());
        if (number.is_null() || number == formats::kHistory.number) return;
        const auto writer = line.find("version");
        throw RunError(Exit::failed,
                       fmt::format("{}: {}", path_,
                                   other_format(formats::kHistory, write_json(number),
                                                writer == line.end() || !writer->is_string()
                                                    ? ""
                                                    : "dtnn-run " + writer->get<std::string>())),
                       "read the run with the release that wrote it");
    }

    void start(const Json& line) {
        for (const auto& [name, value] : line.items()) {
            if (name == "class_names")
                history_.class_names = value.get<std::vector<std::string>>();
            else
                flatten(value, name, history_.start);
        }
    }

    void restored(const Json& line) {
        KeptEpoch kept;
        kept.epoch = whole_number_of(line.at("epoch"));
        for (const auto& [name, value] : line.items()) {
            if (name == "epoch" || !value.is_number()) continue;
            kept.metric = name;
            kept.value = value.get<double>();
        }
        history_.kept = std::move(kept);
    }

    void epoch(const Json& line) {
        EpochRecord record;
        record.epoch = whole_number_of(line.at("epoch"));
        record.step = whole_number_of(line.at("step"));
        record.learning_rate = line.at("learning_rate").get<double>();
        record.train = measures_of(line.at("train"));
        record.validation = measures_of(line.at("validation"));
        record.samples_per_second = line.at("samples_per_second").get<double>();
        record.seconds = line.at("seconds").get<double>();
        if (const auto steps = line.find("steps"); steps != line.end()) {
            record.steps = steps->at("step").get<std::vector<double>>();
            record.rates = steps->at("learning_rate").get<std::vector<double>>();
            for (const Json& loss : steps->at("loss"))
                record.losses.push_back(loss.is_number() ? loss.get<double>() : std::nan(""));
            if (record.losses.size() != record.steps.size() ||
                record.rates.size() != record.steps.size())
                record.steps = record.losses = record.rates = {};
        }
        // Some are measured in evaluation only.
        for (const char* split : {"train", "validation"}) {
            for (const auto& [name, value] : line.at(split).items()) {
                if (known_.insert(name).second) history_.names.push_back(name);
            }
        }
        // An epoch that is told again, after a resume, replaces what was told of it and later ones.
        while (!history_.epochs.empty() && history_.epochs.back().epoch >= record.epoch)
            history_.epochs.pop_back();
        history_.epochs.push_back(std::move(record));
    }

    RunHistory& history_;
    const std::string& path_;
    std::unordered_set<std::string> known_;  ///< history_.names
};

std::string number_text(const Measures& measures, const std::string& name) {
    const auto found = measures.numbers.find(name);
    return found == measures.numbers.end() ? "" : fmt::format("{}", found->second);
}

}  // namespace

RunHistory parse_history(const std::string& text, const std::string& path) {
    RunHistory history;
    EventReader reader(history, path);
    std::string_view rest = text;
    for (int number = 1; !rest.empty(); ++number) {
        const std::size_t end = rest.find('\n');
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        if (line.empty()) continue;
        try {
            reader.event(parse_json(line));
        } catch (const Json::exception& failure) {
            if (end == std::string_view::npos) {
                history.cut_off = true;
                break;
            }
            throw RunError(
                Exit::failed,
                fmt::format("{}:{} is no event of a history: {}", path, number, failure.what()),
                "the file was changed after the run wrote it; restore it");
        }
    }
    return history;
}

RunHistory read_history(const std::string& path) {
    return parse_history(read_file(path, kMostHistoryBytes, "a history"), path);
}

std::int64_t bytes_of_ended(const std::string& text, std::int64_t bytes) {
    std::int64_t ended = bytes;
    for (std::size_t begin = std::size_t(bytes), end = 0;
         begin < text.size() && (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
        const Json line = parse_json_or_discard(text.substr(begin, end - begin));
        if (!line.is_object()) break;
        HistoryEvent kind{};
        if (!parse_name(line.value("event", ""), kind)) break;
        if (kind == HistoryEvent::evaluate)
            ended = std::int64_t(end) + 1;
        else if (kind != HistoryEvent::stopped && kind != HistoryEvent::restored &&
                 kind != HistoryEvent::resume)
            break;
    }
    return ended;
}

std::string history_csv(const RunHistory& history) {
    // Measures that are a number in some epoch.
    struct Column {
        std::string name;
        Measures EpochRecord::*split;
    };
    std::vector<Column> columns;
    std::string text = "epoch,step,learning_rate";
    for (const bool validation : {false, true}) {
        const auto split = validation ? &EpochRecord::validation : &EpochRecord::train;
        for (const std::string& name : history.names) {
            const bool is_number = std::any_of(
                history.epochs.begin(), history.epochs.end(),
                [&](const EpochRecord& record) { return (record.*split).numbers.contains(name); });
            if (!is_number) continue;
            columns.push_back({name, split});
            text += "," + csv_quoted((validation ? "validation." : "train.") + name);
        }
    }
    text += ",samples_per_second,seconds\n";
    for (const EpochRecord& record : history.epochs) {
        text += fmt::format("{},{},{}", record.epoch, record.step, record.learning_rate);
        for (const Column& column : columns)
            text += "," + number_text(record.*column.split, column.name);
        text += fmt::format(",{},{}\n", record.samples_per_second, record.seconds);
    }
    return text;
}

}  // namespace dtnn::runtime
