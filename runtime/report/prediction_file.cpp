#include "runtime/report/prediction_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "base/escape.hpp"
#include "base/json_text.hpp"
#include "plan/rules/ignored_labels.hpp"
#include "runtime/base/new_file.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/npz_writer.hpp"
#include "runtime/report/history_writer.hpp"
#include "runtime/report/mask_writer.hpp"

namespace dtnn::runtime {
namespace {

/// One sample's numbers.
struct Row {
    std::int64_t index = 0;
    const std::string* name = nullptr;
    std::span<const double> numbers;
    std::span<const std::int32_t> label;
    std::span<const double> targets;
    std::optional<std::int32_t> steps;  ///< that it has; nothing: all
};

template <class Visit>
void for_each_row(const PredictedBatch& batch, const std::vector<std::string>& names,
                  Visit&& visit) {
    const auto part = [&](auto all, std::int64_t i) {
        const std::size_t each = all.size() / std::size_t(batch.samples);
        return all.subspan(std::size_t(i) * each, each);
    };
    for (std::int64_t i = 0; i < batch.samples; ++i) {
        Row row{batch.first + i,       &names[std::size_t(i)], part(batch.predictions, i),
                part(batch.labels, i), part(batch.targets, i), {}};
        if (!batch.lengths.empty()) row.steps = batch.lengths[std::size_t(i)];
        visit(row);
    }
}

/// The place of the first of the largest of `count` numbers that are `stride` apart.
std::size_t largest(std::span<const double> numbers, std::size_t begin, std::size_t stride,
                    std::size_t count) {
    std::size_t best = begin;
    for (std::size_t i = 0; i < count; ++i)
        if (numbers[begin + i * stride] > numbers[best]) best = begin + i * stride;
    return (best - begin) / stride;
}
std::size_t largest(std::span<const double> numbers) {
    return largest(numbers, 0, 1, numbers.size());
}

class TextWriter : public PredictionWriter {
  public:
    TextWriter(const std::string& path, PredictionFacts facts)
        : facts_(std::move(facts)), file_(path) {}
    void add(const PredictedBatch& batch, const std::vector<std::string>& names) final {
        for_each_row(batch, names, [&](const Row& row) { file_.add(line(row)); });
    }
    void finish() final { file_.finish(); }

  protected:
    virtual std::string line(const Row& row) = 0;

    std::string number(double value) const {
        return facts_.dtype == DType::f32 ? fmt::format("{}", float(value))
                                          : fmt::format("{}", value);
    }
    const char* what() const { return facts_.form.probabilities ? "probability" : "score"; }
    /// The classes at or above the threshold.
    std::vector<std::size_t> above(const Row& row) const {
        std::vector<std::size_t> classes;
        for (std::size_t i = 0; i < row.numbers.size(); ++i) {
            if (row.numbers[i] >= facts_.threshold) classes.push_back(i);
        }
        return classes;
    }
    static std::vector<std::size_t> ones(std::span<const double> targets) {
        std::vector<std::size_t> classes;
        for (std::size_t i = 0; i < targets.size(); ++i) {
            if (targets[i] > 0.5) classes.push_back(i);
        }
        return classes;
    }
    plan::LabelKind kind() const { return facts_.form.kind; }

    PredictionFacts facts_;
    NewFile file_;
};

class CsvWriter final : public TextWriter {
  public:
    CsvWriter(const std::string& path, PredictionFacts facts) : TextWriter(path, std::move(facts)) {
        std::string header = "index,sample";
        const auto add = [&](const std::string& column) { header += "," + column; };
        const auto add_all = [&](const char* column) {
            for (std::int64_t i = 0; i < facts_.form.dims[0]; ++i)
                header += fmt::format(",{}_{}", column, i);
        };
        const bool named = !facts_.class_names.empty();
        if (kind() == plan::LabelKind::classes) {
            if (facts_.answers) add("label");
            add("class");
            if (named) add("class_name");
            add(what());
            add_all(what());
        } else if (kind() == plan::LabelKind::multiple) {
            if (facts_.answers) add("labels");
            add("classes");
            if (named) add("class_names");
            add_all(what());
        } else {
            if (facts_.answers) add_all("target");
            add_all("value");
        }
        file_.add(header + "\n");
    }

  private:
    std::string line(const Row& row) override {
        std::string text = fmt::format("{},{}", row.index, csv_quoted(*row.name));
        const auto add = [&](const std::string& cell) { text += "," + cell; };
        if (kind() == plan::LabelKind::classes) {
            const std::size_t best = largest(row.numbers);
            if (facts_.answers) add(fmt::format("{}", row.label[0]));
            add(fmt::format("{}", best));
            if (!facts_.class_names.empty()) add(csv_quoted(facts_.class_names[best]));
            add(number(row.numbers[best]));
        } else if (kind() == plan::LabelKind::multiple) {
            const std::vector<std::size_t> classes = above(row);
            if (facts_.answers) add(fmt::format("{}", fmt::join(ones(row.targets), " ")));
            add(fmt::format("{}", fmt::join(classes, " ")));
            std::string names;
            for (const std::size_t i : classes) {
                if (facts_.class_names.empty()) break;
                names += (names.empty() ? "" : " ") + facts_.class_names[i];
            }
            if (!facts_.class_names.empty()) add(csv_quoted(names));
        } else if (facts_.answers) {
            for (const double target : row.targets)
                add(number(target));
        }
        for (const double value : row.numbers)
            add(number(value));
        return text + "\n";
    }
};

class JsonLinesWriter final : public TextWriter {
  public:
    using TextWriter::TextWriter;

  private:
    std::string list(std::span<const double> values) const {
        std::string text = "[";
        for (const double value : values)
            text += (text.size() > 1 ? ", " : "") + number(value);
        return text + "]";
    }
    std::string line(const Row& row) override {
        std::string text =
            fmt::format("{{\"index\": {}, \"sample\": {}", row.index, json_text(*row.name));
        const auto add = [&](const char* key, const std::string& json) {
            text += fmt::format(", \"{}\": {}", key, json);
        };
        const auto add_numbers = [&] {
            add(facts_.form.probabilities ? "probabilities" : "scores", list(row.numbers));
        };
        if (kind() == plan::LabelKind::classes) {
            const std::size_t best = largest(row.numbers);
            if (facts_.answers) add("label", fmt::format("{}", row.label[0]));
            add("class", fmt::format("{}", best));
            if (!facts_.class_names.empty()) add("class_name", json_text(facts_.class_names[best]));
            add(what(), number(row.numbers[best]));
            add_numbers();
        } else if (kind() == plan::LabelKind::multiple) {
            const std::vector<std::size_t> classes = above(row);
            if (facts_.answers)
                add("labels", fmt::format("[{}]", fmt::join(ones(row.targets), ", ")));
            add("classes", fmt::format("[{}]", fmt::join(classes, ", ")));
            if (!facts_.class_names.empty()) {
                std::string names;
                for (const std::size_t i : classes)
                    names += fmt::format("{}{}", names.empty() ? "" : ", ",
                                         json_text(facts_.class_names[i]));
                add("class_names", "[" + names + "]");
            }
            add_numbers();
        } else {
            if (facts_.answers) add("targets", list(row.targets));
            add("values", list(row.numbers));
        }
        return text + "}\n";
    }
};

/// Numbers in the plan's type.
class Column {
  public:
    explicit Column(DType dtype) : dtype_(dtype) {}
    void add(double value) {
        if (dtype_ == DType::f64) {
            append(value);
        } else {
            append(float(value));
        }
    }
    NpzArray array(const char* name, Dims dims) const {
        return {name, numpy_type(dtype_), std::move(dims), bytes_};
    }

  private:
    template <class T>
    void append(T value) {
        const auto* from = reinterpret_cast<const std::byte*>(&value);
        bytes_.insert(bytes_.end(), from, from + sizeof value);
    }
    DType dtype_;
    std::vector<std::byte> bytes_;
};

template <class T>
NpzArray whole_array(const char* name, DType dtype, Dims dims, const std::vector<T>& values) {
    return {name, numpy_type(dtype), std::move(dims), std::as_bytes(std::span<const T>(values))};
}

class NpzWriter final : public PredictionWriter {
  public:
    NpzWriter(std::string path, PredictionFacts facts)
        : path_(std::move(path)),
          facts_(std::move(facts)),
          all_(facts_.dtype),
          best_(facts_.dtype),
          targets_(facts_.dtype) {}

    void add(const PredictedBatch& batch, const std::vector<std::string>& names) override {
        names_.insert(names_.end(), names.begin(), names.end());
        for_each_row(batch, names, [&](const Row& row) { add(row); });
    }
    void finish() override {
        const std::int64_t samples = std::int64_t(index_.size());
        Dims all{samples}, one{samples};
        all.insert(all.end(), facts_.form.dims.begin(), facts_.form.dims.end());
        one.insert(one.end(), facts_.form.dims.begin(), facts_.form.dims.end());
        one.erase(one.begin() + 1 + std::ptrdiff_t(facts_.form.along()));
        const NpzTexts texts = numpy_texts(names_);
        std::vector<NpzArray> arrays = {whole_array("index", DType::i64, {samples}, index_),
                                        {"sample", texts.descr, {samples}, texts.bytes}};
        if (!lengths_.empty())
            arrays.push_back(whole_array("lengths", DType::i32, {samples}, lengths_));
        const char* const numbers = facts_.form.probabilities ? "probabilities" : "scores";
        if (facts_.form.kind == plan::LabelKind::classes) {
            if (facts_.answers) arrays.push_back(whole_array("label", DType::i32, one, labels_));
            arrays.push_back(whole_array("class", DType::i32, one, classes_));
            arrays.push_back(best_.array(facts_.form.probabilities ? "probability" : "score", one));
            arrays.push_back(all_.array(numbers, all));
        } else if (facts_.form.kind == plan::LabelKind::multiple) {
            if (facts_.answers) arrays.push_back(whole_array("labels", DType::u8, all, ones_));
            arrays.push_back(whole_array("classes", DType::u8, all, above_));
            arrays.push_back(all_.array(numbers, all));
        } else {
            if (facts_.answers) arrays.push_back(targets_.array("targets", all));
            arrays.push_back(all_.array("values", all));
        }
        const NpzTexts classes = numpy_texts(facts_.class_names);
        if (!facts_.class_names.empty())
            arrays.push_back({"class_names",
                              classes.descr,
                              {std::int64_t(facts_.class_names.size())},
                              classes.bytes});
        write_npz(path_, arrays);
    }

  private:
    void add(const Row& row) {
        index_.push_back(row.index);
        if (row.steps) lengths_.push_back(*row.steps);
        for (const double value : row.numbers)
            all_.add(value);
        if (facts_.form.kind == plan::LabelKind::classes) {
            labels_.insert(labels_.end(), row.label.begin(), row.label.end());
            const auto along = std::ptrdiff_t(facts_.form.along());
            const Dims& dims = facts_.form.dims;
            const auto classes = std::size_t(dims[std::size_t(along)]);
            const auto stride = std::size_t(element_count({dims.begin() + along + 1, dims.end()}));
            const std::size_t places = row.numbers.size() / classes;
            const std::size_t there = row.steps ? std::size_t(*row.steps) : places;
            for (std::size_t i = 0; i < places; ++i) {
                const std::size_t place = i / stride * stride * classes + i % stride;
                const std::size_t best = largest(row.numbers, place, stride, classes);
                classes_.push_back(i < there ? std::int32_t(best) : plan::kIgnoredLabel);
                best_.add(row.numbers[place + best * stride]);
            }
            return;
        }
        for (const double value : row.numbers)
            above_.push_back(value >= facts_.threshold ? 1 : 0);
        for (const double value : row.targets) {
            ones_.push_back(value > 0.5 ? 1 : 0);
            targets_.add(value);
        }
    }

    std::string path_;
    PredictionFacts facts_;
    std::vector<std::int64_t> index_;
    std::vector<std::string> names_;
    std::vector<std::int32_t> labels_, classes_, lengths_;
    std::vector<std::uint8_t> ones_, above_;
    Column all_, best_, targets_;
};

}  // namespace

std::unique_ptr<PredictionWriter> open_predictions(PredictionFormat format, const std::string& path,
                                                   PredictionFacts facts) {
    if (format == PredictionFormat::npz) {
        if (path == "-")
            throw RunError(Exit::usage, "an .npz file cannot be written to standard output",
                           "name a file with -o, or another --format: csv, jsonl");
        return std::make_unique<NpzWriter>(path, std::move(facts));
    }
    if (format == PredictionFormat::png) return open_masks(path, std::move(facts));
    if (facts.form.dims.size() != 1) {  // a line of text has a list of numbers
        const bool image = facts.form.axes == image_axes();
        throw RunError(Exit::usage,
                       fmt::format("the plan's predictions are {}[{}]; .npz holds those{}",
                                   image ? "images " : "", fmt::join(facts.form.dims, ","),
                                   image ? ", and masks of classes do" : ""),
                       image
                           ? "name a file that ends in .npz with -o, or a folder with --format png"
                           : "name a file that ends in .npz with -o");
    }
    if (format == PredictionFormat::csv) return std::make_unique<CsvWriter>(path, std::move(facts));
    return std::make_unique<JsonLinesWriter>(path, std::move(facts));
}

}  // namespace dtnn::runtime
