#include "runtime/report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/escape.hpp"
#include "base/json.hpp"
#include "base/json_text.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "plan/diff/words.hpp"
#include "plan/metrics.hpp"
#include "plan/rules/memory_need.hpp"
#include "plan/summary/rows.hpp"
#include "runtime/report/class_tables.hpp"
#include "runtime/report/html_page.hpp"
#include "runtime/report/line_chart.hpp"
#include "runtime/report/run_comparison.hpp"

namespace dtnn::runtime {
namespace {

/// "2026-11-24 10:04:27 UTC" of a history's "2026-11-24T10:04:27Z".
std::string moment_text(std::string time) {
    const std::size_t middle = time.find('T');
    if (middle == std::string::npos || !time.ends_with('Z')) return time;
    time[middle] = ' ';
    time.pop_back();
    return time + " UTC";
}

/// Samples a second: whole from a hundred on.
std::string speed_text(double rate) {
    return rate >= 100 ? whole_text(rate) : rounded(rate);
}

/// The style of a line at the epoch whose weights were kept.
constexpr const char* kKeptMark = "mark kept";

class Page {
  public:
    explicit Page(const ReportParts& parts)
        : plan_(*parts.plan), history_(*parts.history), parts_(parts) {}

    std::string write() const {
        return html_page(plan_.name, head(),
                         {{"curves", "Curves", curves()},
                          {"test", "Test split", test()},
                          {"epochs", "Epochs", epochs()},
                          {"layers", "Layers", layers()},
                          {"operators", "Time by operator", operators()},
                          {"settings", "Settings", settings()},
                          {"environment", "Environment", environment()},
                          {"next", "What next", next()}});
    }

  private:
    std::string ending() const {
        if (history_.ending == RunState::finished) return "<span class=\"good\">finished</span>";
        if (history_.ending == RunState::interrupted)
            return "<span class=\"pause\">interrupted; dtnn-run --resume goes on</span>";
        if (history_.ending == RunState::failed) return "<strong class=\"bad\">failed</strong>";
        return "<span class=\"pause\">not finished when this page was written</span>";
    }

    std::string head() const {
        double seconds = 0, samples = 0, training_seconds = 0;
        for (const EpochRecord& epoch : history_.epochs) {
            seconds += epoch.seconds;
            if (epoch.samples_per_second > 0) {
                samples += double(plan_.dataset.train_samples);
                training_seconds += double(plan_.dataset.train_samples) / epoch.samples_per_second;
            }
        }
        std::int64_t trainable = 0;
        for (const plan::Layer& layer : plan_.layers)
            trainable += layer.trainable;
        std::vector<std::pair<std::string, std::string>> facts;
        const auto fact = [&](const char* name, const std::string& value) {
            facts.emplace_back(name, value);
        };
        fact("model", plan_.model);
        fact("trainable parameters", grouped(trainable));
        fact("dataset", fmt::format("{} ({} training samples)", plan_.dataset.name,
                                    grouped(plan_.dataset.train_samples)));
        fact("epochs", fmt::format("{} of {}", history_.epochs.size(), plan_.training.epochs));
        fact("time", elapsed_time_text(seconds));
        if (training_seconds > 0) fact("samples/s", speed_text(samples / training_seconds));
        fact("memory per rank", bytes_text(plan::memory_need(plan_).bounded()));
        for (const ComparedMeasure& measure : measures_of(plan_, history_)) {
            if (const std::optional<BestValue> best = best_value(history_, measure))
                fact(("best " + measure.words()).c_str(),
                     fmt::format("{} (epoch {})", rounded(best->value), best->epoch));
        }
        if (history_.resumed > 0)
            fact("resumed",
                 history_.resumed == 1 ? "once" : fmt::format("{} times", history_.resumed));
        for (const ContinuedTraining& ended : history_.continued) {
            const auto loss = ended.test.numbers.find(plan::kLossName);
            fact("continued", fmt::format("after epoch {}{}: another training", ended.epoch,
                                          loss == ended.test.numbers.end()
                                              ? ""
                                              : ", test loss " + rounded(loss->second)));
        }
        return fmt::format(
            "<header>\n<h1>{}</h1>\n<p>{}</p>\n{}<p class=\"path\">{}</p>\n{}{}</header>\n",
            html_escaped(plan_.name), ending(), result(), html_escaped(parts_.folder),
            history_.ending == RunState::failed
                ? fmt::format("<p class=\"bad why\">{}</p>\n", html_lines(history_.error))
                : "",
            html_facts(facts));
    }

    /// The numbers of the test split. The loss, which was minimised, stands before what it is good
    /// for.
    std::vector<std::pair<std::string, double>> tested() const {
        const std::map<std::string, double>& numbers = history_.test.numbers;
        std::vector<std::pair<std::string, double>> list;
        if (const auto loss = numbers.find(plan::kLossName); loss != numbers.end())
            list.emplace_back(*loss);
        for (const auto& one : numbers)
            if (one.first != plan::kLossName) list.emplace_back(one);
        return list;
    }

    /// What the run was for.
    std::string result() const {
        std::string text;
        for (const auto& [name, value] : tested())
            text += fmt::format("{}{} {}", text.empty() ? "Test: " : ", ", html_breakable(name),
                                rounded(value));
        if (text.empty()) return "";
        if (history_.kept)
            text += fmt::format(" <span class=\"soft\">(weights of epoch {})</span>",
                                history_.kept->epoch);
        return fmt::format("<p class=\"result\">{}</p>\n", text);
    }

    LineChart chart_of(const std::string& title, bool from_zero) const {
        LineChart chart{title, "epoch", {}, from_zero};
        chart.whole_x = true;
        for (const ContinuedTraining& ended : history_.continued)
            chart.marks.push_back({double(ended.epoch) + 0.5});
        if (history_.kept) chart.marks.push_back({double(history_.kept->epoch), kKeptMark});
        return chart;
    }

    bool is_kept(const EpochRecord& epoch) const {
        return history_.kept && history_.kept->epoch == epoch.epoch;
    }

    std::string kept_words() const {
        return fmt::format("epoch {}, whose weights were kept: {} {}", history_.kept->epoch,
                           html_breakable(history_.kept->metric), rounded(history_.kept->value));
    }

    /// The training loss and the learning rate by steps, as far as the history has them.
    std::string steps() const {
        Curve loss{"", "train", {}, {}}, rate{"", "other", {}, {}};
        for (const EpochRecord& epoch : history_.epochs) {
            if (epoch.steps.empty()) {
                rate.x.push_back(double(epoch.step));
                rate.y.push_back(epoch.learning_rate);
                continue;
            }
            loss.x.insert(loss.x.end(), epoch.steps.begin(), epoch.steps.end());
            loss.y.insert(loss.y.end(), epoch.losses.begin(), epoch.losses.end());
            rate.x.insert(rate.x.end(), epoch.steps.begin(), epoch.steps.end());
            rate.y.insert(rate.y.end(), epoch.rates.begin(), epoch.rates.end());
        }
        constexpr std::size_t kMostPoints = 1000;  // that a page can tell apart
        LineChart losses{"training loss by steps", "step", {thinned(loss, kMostPoints)}, false};
        LineChart rates{"learning rate", "step", {thinned(rate, kMostPoints)}, true};
        losses.whole_x = rates.whole_x = true;
        for (const EpochRecord& epoch : history_.epochs)
            if (is_kept(epoch)) losses.marks = rates.marks = {{double(epoch.step), kKeptMark}};
        return svg_of(losses) + (has_one_rate() ? "" : svg_of(rates));
    }

    bool has_one_rate() const {
        const double first = history_.epochs.front().learning_rate;
        return std::all_of(history_.epochs.begin(), history_.epochs.end(),
                           [&](const EpochRecord& epoch) {
                               return epoch.learning_rate == first &&
                                      std::all_of(epoch.rates.begin(), epoch.rates.end(),
                                                  [&](double rate) { return rate == first; });
                           });
    }
    std::string constant_rate() const {
        return has_one_rate() ? fmt::format("<p>The learning rate is {} throughout.</p>\n",
                                            history_.epochs.front().learning_rate)
                              : "";
    }

    std::string curves() const {
        if (history_.epochs.empty())
            return "<p>No epoch has ended, so there is nothing to draw.</p>\n";
        std::vector<double> epochs, throughput;
        for (const EpochRecord& epoch : history_.epochs) {
            epochs.push_back(double(epoch.epoch));
            throughput.push_back(epoch.samples_per_second);
        }
        std::string text = "<div class=\"charts\">\n";
        for (const std::string& name : history_.names) {
            LineChart chart = chart_of(name, false);
            for (const bool validation : {false, true}) {
                Curve curve{validation ? "validation" : "training",
                            validation ? "validation" : "train",
                            epochs,
                            {}};
                bool any = false;
                for (const EpochRecord& epoch : history_.epochs) {
                    const Measures& measures = validation ? epoch.validation : epoch.train;
                    const auto found = measures.numbers.find(name);
                    const bool known = found != measures.numbers.end();
                    curve.y.push_back(known ? found->second : std::nan(""));
                    any = any || known;
                }
                if (any) chart.curves.push_back(std::move(curve));
            }
            text += svg_of(chart);
        }
        text += steps();
        LineChart speed = chart_of("training samples/s", true);
        speed.curves = {{"", "other", epochs, throughput}};
        text += svg_of(speed) + "</div>\n";
        if (history_.kept)
            text += fmt::format(
                "<p class=\"legend\"><span><span class=\"swatch kept\"></span>{}</span></p>\n",
                kept_words());
        text += constant_rate();
        if (!history_.continued.empty())
            text +=
                "<p>Where a line stands, the training had ended and was given more epochs.</p>\n";
        return text;
    }

    std::string test() const {
        if (history_.test.empty()) return "";
        std::string rows = html_row({"measure", "value"}, "th");
        for (const auto& [name, value] : tested())
            rows += html_row({name, rounded(value)});
        for (const auto& [name, value] : history_.test.others)
            if (!name.ends_with("confusion_matrix")) rows += list_rows(name, value);
        std::string text =
            fmt::format("<p>Measured on {}.</p>\n", count_text(history_.test_samples, "sample")) +
            html_table("numbers", rows);
        for (const auto& [name, value] : history_.test.others)
            if (name.ends_with("confusion_matrix")) text += class_tables(value);
        return text;
    }

    /// A class by its name, where names are known.
    std::string class_text(std::size_t index, std::size_t classes) const {
        return history_.class_names.size() == classes ? history_.class_names[index]
                                                      : label_text(index);
    }

    /// A measure of each class, a line each.
    std::string list_rows(const std::string& name, const std::string& json) const {
        const Json list = parse_json_or_discard(json);
        if (!list.is_array()) return html_row({name, json});
        std::string text;
        for (std::size_t i = 0; i < list.size(); ++i)
            text += html_row(
                {fmt::format("{}, {}", name, class_text(i, list.size())),
                 list[i].is_number() ? rounded(list[i].get<double>()) : write_json(list[i])});
        return text;
    }

    /// The tables of a confusion matrix; empty: it is none.
    std::string class_tables(const std::string& json) const {
        std::vector<std::vector<double>> counts;
        try {
            counts = parse_json(json).get<std::vector<std::vector<double>>>();
        } catch (const Json::exception&) {
            return "";
        }
        std::vector<std::string> names;
        for (std::size_t i = 0; i < counts.size(); ++i)
            names.push_back(class_text(i, counts.size()));
        const plan::Feature& target = plan_.dataset.target();
        const char* counted = target.dims.empty()                          ? "samples"
                              : axis_of(target.axes, AxisKind::space) >= 0 ? "pixels"
                                                                           : "steps";
        return html_class_tables(counts, names, counted);
    }

    /// A class by its name, where the plan has names.
    std::string label_text(std::size_t label) const {
        const std::vector<std::string>& names = plan_.dataset.target().names;
        return label < names.size() ? names[label] : fmt::format("{}", label);
    }

    std::string epochs() const {
        if (history_.epochs.empty()) return "";
        std::vector<std::string> heads = {"epoch", "step", "learning rate"};
        // Lists and matrices have no column.
        std::vector<std::string> trained, validated;
        for (const std::string& name : history_.names) {
            const auto any = [&](Measures EpochRecord::*split) {
                return std::any_of(history_.epochs.begin(), history_.epochs.end(),
                                   [&](const EpochRecord& epoch) {
                                       return (epoch.*split).numbers.contains(name);
                                   });
            };
            if (any(&EpochRecord::train)) trained.push_back(name);
            if (any(&EpochRecord::validation)) validated.push_back(name);
        }
        heads.insert(heads.end(), trained.begin(), trained.end());
        for (const std::string& name : validated)
            heads.push_back("validation " + name);
        heads.insert(heads.end(), {"samples/s", "time"});
        std::string text = html_row(heads, "th");
        for (const EpochRecord& epoch : history_.epochs) {
            std::vector<std::string> cells = {fmt::format("{}", epoch.epoch), grouped(epoch.step),
                                              rounded(epoch.learning_rate)};
            const auto add = [&](const Measures& measures, const std::vector<std::string>& names) {
                for (const std::string& name : names) {
                    const auto found = measures.numbers.find(name);
                    cells.push_back(found == measures.numbers.end() ? "" : rounded(found->second));
                }
            };
            add(epoch.train, trained);
            add(epoch.validation, validated);
            cells.push_back(speed_text(epoch.samples_per_second));
            cells.push_back(elapsed_time_text(epoch.seconds));
            if (is_kept(epoch)) cells.front() += " <small>kept</small>";
            text += html_row_of(cells, "td", is_kept(epoch) ? "class=\"kept\"" : "");
        }
        return html_table("numbers", text);
    }

    std::string layers() const {
        std::string text = html_row(
            {"", "name", "type", "output", "weights", "parameters", "work a sample", "attributes"},
            "th");
        std::int64_t parameters = 0, flops = 0;
        const std::vector<plan::LayerFacts> facts = plan::layer_facts(plan_);
        for (std::size_t i = 0; i < plan_.layers.size(); ++i) {
            const plan::Layer& layer = plan_.layers[i];
            const plan::AttributeWords words = plan::attribute_words(layer, facts[i]);
            std::string attributes = html_escaped(words.written);
            if (!words.usual.empty())
                attributes += fmt::format("{}<span class=\"soft\">{}</span>",
                                          attributes.empty() ? "" : " ", html_escaped(words.usual));
            text += html_row_of(
                {fmt::to_string(layer.index), html_escaped(layer.name), html_escaped(layer.type),
                 shape_text(layer.output_shape, kTimesSign),
                 shape_text(layer.weights_shape, kTimesSign),
                 layer.parameters == 0 ? "" : grouped(layer.parameters),
                 layer.forward_flops == 0 ? "" : flops_text(double(layer.forward_flops)),
                 attributes});
            parameters += layer.parameters;
            flops += layer.forward_flops;
        }
        return html_details(
            fmt::format("{}, {}, {} a sample forward",
                        count_text(std::int64_t(plan_.layers.size()), "layer"),
                        count_text(parameters, "parameter"), flops_text(double(flops))),
            html_table("layers", text));
    }

    std::string operators() const {
        if (parts_.operator_times.empty()) return "";
        const std::string table = html_aligned_table(parts_.operator_times);
        return table.empty() ? "<pre>" + html_lines(parts_.operator_times) + "</pre>\n" : table;
    }

    /// The settings that somebody chose stand before those that are as by default.
    std::string settings() const {
        CardTable table({"setting", "value", "from"});
        std::vector<std::vector<std::string>> usual;
        std::size_t count = 0;
        for (const plan::ResolvedValue& value : plan_.values) {
            // The layers have their own table.
            if (value.path.starts_with("model.layers.")) continue;
            ++count;
            const std::string words = plan::value_words(value.value, plan::Unit::none);
            if (value.origin == plan::OriginKind::fallback) {
                usual.push_back({html_breakable(value.path), html_breakable(words), "default"});
                continue;
            }
            std::string from = value.place.file;
            if (value.origin == plan::OriginKind::file)
                from = fmt::format("{}:{}", value.place.file, value.place.line);
            else if (value.origin == plan::OriginKind::data)
                from = "the data";
            table.add({html_breakable(value.path), html_breakable(words), html_breakable(from)});
        }
        if (count == 0) return "";
        for (const std::vector<std::string>& cells : usual)
            table.add(cells, true);
        return html_details(
            fmt::format("{} settings, {} of them at their defaults", count, usual.size()),
            table.finish());
    }

    std::string environment() const {
        std::string rows;
        const auto add = [&](const char* name, const std::string& value) {
            if (!value.empty()) rows += html_row({name, value});
        };
        const auto told = [&](const char* name) {
            const auto found = history_.start.find(name);
            return found == history_.start.end() ? std::string() : found->second;
        };
        const auto number = [&](const char* name) {
            return std::strtod(told(name).c_str(), nullptr);
        };
        add("begun", moment_text(told("time")));
        add("host", told("machine.host"));
        add("system", told("machine.system"));
        add("processor", told("machine.processor"));
        add("processors", told("machine.processors"));
        if (number("machine.memory_bytes") > 0)
            add("memory", bytes_text(number("machine.memory_bytes")));
        add("ranks", told("ranks"));
        add("threads of a rank", told("threads"));
        if (number("first_step_milliseconds") > 0)
            add("first step after", seconds_text(1e-3 * number("first_step_milliseconds")));
        add("planned for", fmt::format("{}, {}, {}", plan::processor_of(plan_.target),
                                       count_text(plan_.target.threads, "thread"),
                                       plan::name_of(plan_.target.dtype)));
        add("compiled by", plan_.generator);
        add("run by", told("version").empty() ? "" : "dtnn-run " + told("version"));
        add("plan", told("plan"));
        add("dataset", told("dataset"));
        return html_table("pairs", rows);
    }

    /// The commands that a user may want to give now.
    std::string next() const {
        const std::string run = command_word(parts_.folder);
        const std::string with_weights =
            fmt::format("{}/plan.json --weights {}/weights.safetensors", run, run);
        std::vector<std::pair<std::string, std::string>> commands;
        if (history_.ending == RunState::finished) {
            commands = {
                {"Predict files of your own, or a split:",
                 fmt::format("dtnn-run predict {} --input FILE-OR-FOLDER -o answers.csv",
                             with_weights)},
                {"Measure on another split:",
                 fmt::format("dtnn-run evaluate {} --split {}", with_weights,
                             plan_.dataset.validation_samples > 0 ? "validation" : "train")},
                {"Train on, from the optimizer's state at the end:",
                 fmt::format("dtnn-run --resume {} --epochs +{}", run,
                             std::max<std::int64_t>(1, plan_.training.epochs / 2))}};
        } else {
            if (parts_.has_checkpoint)
                commands.emplace_back("Go on from the newest checkpoint:",
                                      fmt::format("dtnn-run --resume {}", run));
            if (history_.ending == RunState::failed) add_another_try(commands);
        }
        commands.emplace_back("Compare with other runs:",
                              fmt::format("dtnn-run report {} OTHER-RUN -o comparison.html", run));
        if (history_.ending == RunState::finished)
            commands.emplace_back("Take the weights to NumPy:",
                                  fmt::format("dtnn-run weights export {} -o weights.npz", run));
        return html_commands(commands);
    }

    /// Smaller updates are the first thing to try where numbers have grown without bound.
    void add_another_try(std::vector<std::pair<std::string, std::string>>& commands) const {
        const std::string path =
            fmt::format("training.optimizer.{}.learning_rate", plan_.training.optimizer);
        const auto rate =
            std::find_if(plan_.values.begin(), plan_.values.end(),
                         [&](const plan::ResolvedValue& value) { return value.path == path; });
        if (rate == plan_.values.end()) return;
        const double tenth = std::strtod(rate->value.c_str(), nullptr) / 10;
        commands.emplace_back(
            "Where numbers have become infinite: from the start, with a tenth of the learning "
            "rate:",
            fmt::format("dtnnc compile {}/resolved.yaml --set {}={:g} -o again.json && "
                        "dtnn-run again.json",
                        command_word(parts_.folder), path, tenth));
    }

    const plan::Plan& plan_;
    const RunHistory& history_;
    const ReportParts& parts_;
};

}  // namespace

std::string html_report(const ReportParts& parts) {
    return Page(parts).write();
}

}  // namespace dtnn::runtime
