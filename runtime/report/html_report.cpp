#include "runtime/report/html_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/escape.hpp"
#include "base/json.hpp"
#include "base/json_text.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "plan/rules/memory_need.hpp"
#include "runtime/report/html_style.hpp"
#include "runtime/report/line_chart.hpp"

namespace dtnn::runtime {
namespace {

/// A matrix of more classes than this is shown by its most frequent mistakes alone.
constexpr std::size_t kMostCells = 40;
constexpr std::size_t kMostMistakes = 12;

std::string row(const std::vector<std::string>& cells, const char* tag = "td") {
    std::string text = "<tr>";
    for (const std::string& cell : cells)
        text += fmt::format("<{0}>{1}</{0}>", tag, html_escaped(cell));
    return text + "</tr>\n";
}

std::string section(const std::string& title, const std::string& content) {
    if (content.empty()) return "";
    return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", title, content);
}

class Page {
  public:
    explicit Page(const ReportParts& parts)
        : plan_(*parts.plan), history_(*parts.history), parts_(parts) {}

    std::string write() {
        return fmt::format(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}{}{}{}{}{}{}{}</body>\n"
            "</html>\n",
            html_escaped(plan_.name), kReportStyle, head(), section("Curves", curves()),
            section("Test split", test()), section("Epochs", epochs()), section("Layers", layers()),
            section("Time by operator", operators()), section("Settings", settings()),
            section("Environment", environment()));
    }

  private:
    std::string ending() const {
        if (history_.ending == "finished") return "<span class=\"good\">finished</span>";
        if (history_.ending == "interrupted")
            return "<span class=\"pause\">interrupted; dtnn-run --resume goes on</span>";
        if (history_.ending == "failed")
            return "<span class=\"bad\">failed: " + html_escaped(history_.error) + "</span>";
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
        std::string facts;
        const auto fact = [&](const char* name, const std::string& value) {
            facts += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, html_escaped(value));
        };
        fact("model", plan_.model);
        fact("trainable parameters", grouped(trainable));
        fact("dataset", fmt::format("{} ({} training samples)", plan_.dataset.name,
                                    grouped(plan_.dataset.train_samples)));
        fact("epochs", fmt::format("{} of {}", history_.epochs.size(), plan_.training.epochs));
        fact("time", elapsed_time_text(seconds));
        if (training_seconds > 0)
            fact("samples/s", fmt::format("{:.1f}", samples / training_seconds));
        fact("memory per rank", bytes_text(plan::memory_need(plan_).bounded(), BytesForm::fine));
        if (history_.resumed > 0) fact("resumed", fmt::format("{} times", history_.resumed));
        return fmt::format(
            "<header>\n<h1>{}</h1>\n<p>{}</p>\n<p "
            "class=\"path\">{}</p>\n<dl>\n{}</dl>\n</header>\n",
            html_escaped(plan_.name), ending(), html_escaped(parts_.folder), facts);
    }

    std::string curves() const {
        if (history_.epochs.empty()) return "";
        std::vector<double> epochs, rates, throughput;
        for (const EpochRecord& epoch : history_.epochs) {
            epochs.push_back(double(epoch.epoch));
            rates.push_back(epoch.learning_rate);
            throughput.push_back(epoch.samples_per_second);
        }
        std::string text = "<div class=\"charts\">\n";
        for (const std::string& name : history_.names) {
            LineChart chart{name, "epoch", {}, false};
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
        text +=
            svg_of({"learning rate (end of epoch)", "epoch", {{"", "other", epochs, rates}}, true});
        text += svg_of({"training samples/s", "epoch", {{"", "other", epochs, throughput}}, true});
        return text + "</div>\n";
    }

    std::string test() const {
        if (history_.test.empty()) return "";
        std::string text = "<table>\n" + row({"measure", "value"}, "th");
        for (const auto& [name, value] : history_.test.numbers)
            text += row({name, fmt::format("{:.6g}", value)});
        for (const auto& [name, value] : history_.test.others)
            if (!name.ends_with("confusion_matrix")) text += row({name, value});
        text += fmt::format("</table>\n<p>{} samples</p>\n", grouped(history_.test_samples));
        for (const auto& [name, value] : history_.test.others)
            if (name.ends_with("confusion_matrix")) text += confusion_matrix(value);
        return text;
    }

    std::string confusion_matrix(const std::string& json) const {
        std::vector<std::vector<double>> counts;
        try {
            counts = parse_json(json).get<std::vector<std::vector<double>>>();
        } catch (const Json::exception&) {
            return "";
        }
        for (const std::vector<double>& line : counts)
            if (line.size() != counts.size()) return "";
        std::string text = "<h3>Confusion matrix</h3>\n";
        if (counts.size() <= kMostCells) {
            text += "<table class=\"matrix\">\n<tr><th>true \\ predicted</th>";
            for (std::size_t c = 0; c < counts.size(); ++c)
                text += fmt::format("<th>{}</th>", html_escaped(label_text(c)));
            text += "</tr>\n";
            for (std::size_t r = 0; r < counts.size(); ++r) {
                double sum = 0;
                for (const double count : counts[r])
                    sum += count;
                text += fmt::format("<tr><th>{}</th>", html_escaped(label_text(r)));
                for (std::size_t c = 0; c < counts.size(); ++c) {
                    const double share = sum > 0 ? counts[r][c] / sum : 0;
                    text += fmt::format("<td class=\"{}\" style=\"--share:{:.3f}\">{:.0f}</td>",
                                        r == c ? "right" : "wrong", share, counts[r][c]);
                }
                text += "</tr>\n";
            }
            text += "</table>\n";
        }
        return text + mistakes(counts);
    }

    std::string mistakes(const std::vector<std::vector<double>>& counts) const {
        struct Mistake {
            double count;
            std::size_t truth, guess;
        };
        std::vector<Mistake> list;
        for (std::size_t r = 0; r < counts.size(); ++r)
            for (std::size_t c = 0; c < counts.size(); ++c)
                if (r != c && counts[r][c] > 0) list.push_back({counts[r][c], r, c});
        if (list.empty()) return "";
        std::stable_sort(list.begin(), list.end(),
                         [](const Mistake& a, const Mistake& b) { return a.count > b.count; });
        if (list.size() > kMostMistakes) list.resize(kMostMistakes);
        std::string text = "<table>\n" + row({"true", "predicted", "samples"}, "th");
        for (const Mistake& mistake : list)
            text += row({label_text(mistake.truth), label_text(mistake.guess),
                         fmt::format("{:.0f}", mistake.count)});
        return "<h3>Most frequent mistakes</h3>\n" + text + "</table>\n";
    }

    /// A class by its name, where the plan has names.
    std::string label_text(std::size_t label) const {
        const std::vector<std::string>& names = plan_.dataset.class_names;
        return label < names.size() ? names[label] : fmt::format("{}", label);
    }

    std::string epochs() const {
        if (history_.epochs.empty()) return "";
        std::vector<std::string> heads = {"epoch", "step", "learning rate"};
        bool validation = false;
        for (const EpochRecord& epoch : history_.epochs)
            validation = validation || !epoch.validation.empty();
        for (const std::string& name : history_.names)
            heads.push_back(name);
        if (validation)
            for (const std::string& name : history_.names)
                heads.push_back("validation " + name);
        heads.insert(heads.end(), {"samples/s", "seconds"});
        std::string text = row(heads, "th");
        for (const EpochRecord& epoch : history_.epochs) {
            std::vector<std::string> cells = {fmt::format("{}", epoch.epoch),
                                              fmt::format("{}", epoch.step),
                                              fmt::format("{:.4g}", epoch.learning_rate)};
            const auto add = [&](const Measures& measures) {
                for (const std::string& name : history_.names) {
                    const auto found = measures.numbers.find(name);
                    cells.push_back(found == measures.numbers.end()
                                        ? ""
                                        : fmt::format("{:.6g}", found->second));
                }
            };
            add(epoch.train);
            if (validation) add(epoch.validation);
            cells.push_back(fmt::format("{:.1f}", epoch.samples_per_second));
            cells.push_back(fmt::format("{:.1f}", epoch.seconds));
            text += row(cells);
        }
        return details(fmt::format("{} epochs", history_.epochs.size()),
                       "<table class=\"numbers\">\n" + text + "</table>\n");
    }

    std::string layers() const {
        std::string text = row(
            {"", "name", "type", "output", "weights", "parameters", "MFLOP a sample", "attributes"},
            "th");
        std::int64_t parameters = 0, flops = 0;
        for (const plan::Layer& layer : plan_.layers) {
            std::string attributes;
            for (const auto& [name, value] : layer.attributes)
                attributes +=
                    fmt::format("{}{}={}", attributes.empty() ? "" : " ", name, json_text(value));
            text += row({fmt::format("{}", layer.index), layer.name, layer.type,
                         shape_text(layer.output_shape, kTimesSign),
                         shape_text(layer.weights_shape, kTimesSign), grouped(layer.parameters),
                         fmt::format("{:.3f}", 1e-6 * double(layer.forward_flops)), attributes});
            parameters += layer.parameters;
            flops += layer.forward_flops;
        }
        return details(fmt::format("{} layers, {} parameters, {:.2f} MFLOP forward a sample",
                                   plan_.layers.size(), grouped(parameters), 1e-6 * double(flops)),
                       "<table class=\"layers\">\n" + text + "</table>\n");
    }

    std::string operators() const {
        if (parts_.operator_times.empty()) return "";
        return "<pre>" + escaped_lines(parts_.operator_times) + "</pre>\n";
    }

    std::string settings() const {
        std::string text = row({"setting", "value", "from"}, "th");
        std::size_t count = 0;
        for (const plan::ResolvedValue& value : plan_.values) {
            // The layers have their own table.
            if (value.path.starts_with("model.layers.")) continue;
            ++count;
            std::string from = "default";
            if (value.origin == plan::OriginKind::file)
                from = fmt::format("{}:{}", value.place.file, value.place.line);
            else if (value.origin == plan::OriginKind::command_line)
                from = value.place.file;
            else if (value.origin == plan::OriginKind::data)
                from = "the data";
            text += row({value.path, value.value, from});
        }
        if (count == 0) return "";
        return details(fmt::format("{} settings", count), "<table>\n" + text + "</table>\n");
    }

    std::string environment() const {
        std::string text;
        for (const auto& [name, value] : history_.start)
            if (name != "event") text += row({name, value});
        text += row(
            {"planned for", fmt::format("{}, {} threads, {}", plan::processor_of(plan_.target),
                                        plan_.target.threads, plan::name_of(plan_.target.dtype))});
        text += row({"compiled by", plan_.generator});
        return "<table>\n" + text + "</table>\n";
    }

    static std::string details(const std::string& summary, const std::string& content) {
        return fmt::format(
            "<details>\n<summary>{}</summary>\n<div class=\"wide\">{}</div>\n"
            "</details>\n",
            html_escaped(summary), content);
    }

    static std::string escaped_lines(const std::string& text) {
        std::string result;
        std::size_t begin = 0;
        while (begin < text.size()) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            result += html_escaped(text.substr(begin, end - begin)) + "\n";
            begin = end + 1;
        }
        return result;
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
