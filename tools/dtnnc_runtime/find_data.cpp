#include "tools/dtnnc_runtime/find_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/frontend/datasets/table_columns.hpp"
#include "compiler/frontend/load_dataset.hpp"
#include "compiler/frontend/read/scalars.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/yaml/yaml_reader.hpp"
#include "plan/rules/label_sequences.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/find_in_files.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sources/csv_source.hpp"
#include "runtime/data/survey.hpp"
#include "tools/dtnnc/output.hpp"

namespace dtnn::tools {
namespace {

/// A list of texts in a spec.
std::string names_text(const std::vector<std::string>& names) {
    std::vector<std::string> texts;
    std::transform(names.begin(), names.end(), std::back_inserter(texts), compiler::yaml_text);
    return fmt::format("[{}]", fmt::join(texts, ", "));
}

/// The size that images of several sizes get: one that most networks take, and that few images must
/// be enlarged for.
std::int64_t side_for(const runtime::DataSurvey& data) {
    constexpr std::int64_t kStep = 32, kMost = 224;
    const std::int64_t smallest = *std::min_element(data.smallest.begin(), data.smallest.end());
    return std::clamp(smallest / kStep * kStep, kStep, kMost);
}

class SpecWriter {
  public:
    SpecWriter(const std::string& path, std::string file, std::int64_t samples,
               const CommonOptions& options, compiler::Diagnostics& diagnostics)
        : path_(path),
          file_(std::move(file)),
          samples_(samples),
          options_(options),
          diagnostics_(diagnostics) {
        for (const std::string& setting : options.settings)
            take(setting);
        data_ = runtime::recognise_data(path, known_columns());
    }

    std::optional<WrittenSpec> write() {
        // Images may have several sizes; whether they do, their headers say.
        if (data_.images) side_ = 64;
        auto spec = load();
        if (!spec) return std::nullopt;
        if (data_.images) {
            settle_size(*spec);
            if (!(spec = load())) return std::nullopt;
        }
        runtime::DataSurvey data = look(*spec);
        if (side_ > 0) {
            side_ = side_for(data);
            data_.remarks.push_back(fmt::format(
                "images are from {} x {} to {} x {} pixels: the size is the model's choice",
                data.smallest[0], data.smallest[1], data.largest[0], data.largest[1]));
            if (!(spec = load())) return std::nullopt;
            data = look(*spec);
        }
        channels_ = data.channels;
        if (channels_.size() > kMostNormalised) {
            channels_.clear();
            data_.remarks.push_back(fmt::format(
                "more than {} columns or channels are not normalised here: give `normalize` one "
                "mean and deviation of all",
                kMostNormalised));
        }
        const std::vector<std::string>& names = spec->dataset.target().names;
        literal_names_ = std::none_of(names.begin(), names.end(), [](const std::string& name) {
            return name.find("${") != std::string::npos;
        });
        if (!literal_names_)
            data_.remarks.emplace_back(
                "class names with ${ in them would be expressions: they are found where the files "
                "are");
        hash_ = runtime::content_text(open(*spec)->content_hash());
        found_ = std::move(spec);
        spec = load();
        if (!spec) return std::nullopt;
        return WrittenSpec{std::move(*spec), text(), data_.remarks};
    }

  private:
    /// More numbers than a spec may have would be written of a table of 50,000 columns.
    static constexpr std::size_t kMostNormalised = 2000;

    /// A field that the command line gives is written as it is given there.
    void take(const std::string& setting) {
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos) return;  // told where settings are read
        std::string name = setting.substr(0, equals);
        constexpr std::string_view kOwner = "dataset.";
        if (name.starts_with(kOwner)) name.erase(0, kOwner.size());
        if (name.find_first_of(".[") != std::string::npos)
            throw UsageError(fmt::format(
                "--set {}: what is written is whole fields\nhelp: set `{}` as a whole, or edit the "
                "spec afterwards",
                setting, name.substr(0, name.find_first_of(".["))));
        given_.emplace_back(std::move(name), setting.substr(equals + 1));
    }

    /// The columns that fields on the command line name, by names or by numbers. What is wrong with
    /// them is said where the spec is read.
    runtime::KnownColumns known_columns() const {
        runtime::KnownColumns known;
        known.missing = is_given("missing");
        for (const auto& [name, text] : given_) {
            if (name == "label_kind") known.label_kind = text;
            const std::size_t end = name.rfind('_');
            const std::string what = name.substr(0, end);
            if (end == name.npos || (what != "label" && what != "ignored" && what != "category"))
                continue;
            compiler::Diagnostics unsaid;
            const auto value = compiler::read_yaml_value("--set", text, 0, unsaid);
            if (!value) continue;
            runtime::ColumnWish& wish = what == "label" ? known.labels : known.others;
            const std::vector<compiler::SourceNode> items =
                value->is_list() ? value->items : std::vector{*value};
            for (const compiler::SourceNode& item : items) {
                const auto number = compiler::parse_integer(item.text).value;
                if (name.ends_with("_names"))
                    wish.names.push_back(item.text);
                else if (name.ends_with("_columns") && number)
                    wish.numbers.push_back(*number);
            }
        }
        return known;
    }

    bool is_given(std::string_view name) const {
        return std::any_of(given_.begin(), given_.end(),
                           [&](const auto& field) { return field.first == name; });
    }

    std::optional<compiler::DatasetSpec> load() {
        compiler::LoadOptions load = load_options(options_);
        load.texts[file_] = text();
        // A mistake in data that is looked at is no mistake of a spec.
        load.find_data = [](plan::Dataset& dataset) -> std::optional<compiler::DataFault> {
            runtime::find_in_files(dataset);
            return std::nullopt;
        };
        auto spec = compiler::load_dataset(file_, load, diagnostics_);
        if (!spec) refuse_data();
        return spec;
    }

    /// The spec of data is nobody's mistake: what is wrong is said of the data.
    void refuse_data() const {
        for (const compiler::Diagnostic& one : diagnostics_.all())
            if (one.severity == compiler::Severity::error && one.span.place.file == file_)
                throw runtime::RunError(
                    runtime::Exit::failed,
                    fmt::format("{} is no data for a spec: {}", path_, one.text),
                    one.help.empty() ? "make smaller ones of the samples, or name other data"
                                     : one.help);
    }

    std::unique_ptr<runtime::SampleSource> open(
        const compiler::DatasetSpec& spec, runtime::Counts counts = runtime::Counts::exact) const {
        return runtime::open_source(spec.dataset, counts);
    }

    /// No resize where all images have one size, and memory for the largest where they have not.
    void settle_size(const compiler::DatasetSpec& spec) {
        const Dims& stored = spec.dataset.input().stored_dims;
        if (!plan::has_image(spec.dataset) || (!stored.empty() && stored[1] > 0 && stored[2] > 0)) {
            side_ = 0;
            return;
        }
        const std::int64_t pixels = open(spec, runtime::Counts::any)->found_pixels();
        const auto most = spec.type_fields.find("most_pixels");
        if (most != spec.type_fields.end() && pixels > std::get<std::int64_t>(most->second))
            data_.fields.emplace_back("most_pixels", pixels);
    }

    runtime::DataSurvey look(const compiler::DatasetSpec& spec) const {
        plan::Plan plan;
        plan.dataset = spec.dataset;
        return runtime::survey(*open(spec), plan, samples_);
    }

    /// The lines of the spec, as far as it is known.
    std::string text() const {
        std::string text = fmt::format("# Written by `dtnnc data {}`.\n", path_);
        for (const std::string& remark : data_.remarks)
            text += fmt::format("# {}\n", remark);
        text += fmt::format("kind: dataset\ntype: {}\n", data_.type);
        const auto line = [&](const std::string& name, const AttributeValue& value) {
            if (is_given(name)) return;
            const auto* word = std::get_if<std::string>(&value);
            text += fmt::format("{}: {}\n", name,
                                word ? compiler::yaml_text(*word) : compiler::to_json(value));
        };
        for (const auto& [name, value] : data_.fields)
            line(name, value);
        for (const auto& [name, list] : data_.texts)
            if (!is_given(name)) text += fmt::format("{}: {}\n", name, names_text(list));
        for (const auto& [name, value] : given_)
            text += fmt::format("{}: {}\n", name, value);
        if (found_) add_found(line, text);
        std::string transforms;
        if (side_ > 0) transforms += fmt::format("  - resize: {{size: [{0}, {0}]}}\n", side_);
        if (!channels_.empty()) transforms += normalize();
        if (!transforms.empty() && !is_given("transforms")) text += "transforms:\n" + transforms;
        return text;
    }

    template <class Line>
    void add_found(const Line& line, std::string& text) const {
        for (const char* name :
             {"shape", "classes", plan::kMostLabels, "train_samples", "validation_samples",
              "test_samples", "target_mean", "target_deviation"}) {
            const bool given = std::any_of(data_.fields.begin(), data_.fields.end(),
                                           [&](const auto& field) { return field.first == name; });
            const auto value = found_->type_fields.find(name);
            if (value != found_->type_fields.end() && !given) line(name, value->second);
        }
        if (!found_->dataset.columns.empty() && !is_given("columns")) {
            text += "columns:\n";
            for (const plan::FeatureColumn& column : found_->dataset.columns)
                text += fmt::format("  - {}\n", compiler::column_text(column));
        }
        const std::vector<std::string>& names = found_->dataset.target().names;
        if (!names.empty() && literal_names_ && !is_given("class_names"))
            text += fmt::format("class_names: {}\n", names_text(names));
        text += fmt::format("content_hash: {}\n", compiler::yaml_text(hash_));
    }

    /// With what was measured. A channel that is the same everywhere is not divided.
    std::string normalize() const {
        std::vector<std::string> means, deviations;
        for (const runtime::NumberSpread& channel : channels_) {
            means.push_back(fmt::format("{:.6g}", channel.mean));
            // Equal numbers differ by the rounding of their sum.
            const bool spread =
                channel.standard_deviation > 1e-6 * std::max(1.0, std::abs(channel.mean));
            deviations.push_back(spread ? fmt::format("{:.6g}", channel.standard_deviation) : "1");
        }
        return fmt::format("  - normalize: {{mean: [{}], deviation: [{}]}}\n",
                           fmt::join(means, ", "), fmt::join(deviations, ", "));
    }

    std::string path_, file_;
    std::int64_t samples_;
    const CommonOptions& options_;
    compiler::Diagnostics& diagnostics_;
    runtime::RecognisedData data_;
    std::int64_t side_ = 0;  ///< of the square that images become; 0: they stay
    std::vector<runtime::NumberSpread> channels_;
    bool literal_names_ = true;                               ///< names of classes can be written
    std::vector<std::pair<std::string, std::string>> given_;  ///< fields on the command line
    std::string hash_;
    std::optional<compiler::DatasetSpec> found_;
};

}  // namespace

bool is_data(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return true;
    if (runtime::is_called_table(path)) return true;
    const std::initializer_list<const char*> ends = {".npz",    ".zip", ".tar",
                                                     ".tar.gz", ".tgz", ".txt"};
    return std::any_of(ends.begin(), ends.end(),
                       [&](const char* end) { return path.ends_with(end); });
}

int print_run_error(const runtime::RunError& error) {
    std::string text = error.what();
    if (!error.detail().empty()) text += "\n  " + error.detail();
    if (!error.help().empty()) text += "\nhelp: " + error.help();
    write_stderr(fmt::format("dtnnc: {}\n", text));
    return int(error.exit());
}

std::optional<WrittenSpec> write_spec(const std::string& path, const std::string& file,
                                      std::int64_t samples, const CommonOptions& options,
                                      compiler::Diagnostics& diagnostics) {
    return SpecWriter(path, file, samples, options, diagnostics).write();
}

}  // namespace dtnn::tools
