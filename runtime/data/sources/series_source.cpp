#include "runtime/data/sources/series_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/utf8.hpp"
#include "plan/dataset_types.hpp"
#include "plan/rules/validation_part.hpp"
#include "runtime/data/formats/content_hash.hpp"
#include "runtime/data/sources/source_type.hpp"

namespace dtnn::runtime {
namespace {

/// The attribute of datasets whose samples of validation are lines of the training table.
constexpr const char* kValidationShare = "validation_share";

std::int64_t positive_field(const plan::Dataset& dataset, const char* name) {
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    const auto value = attribute<std::int64_t>(dataset, name);
    if (value > 0 && value <= kMost) return value;
    throw RunError(
        Exit::mismatch,
        fmt::format("the plan's dataset `{}` has a `{}` of {}", dataset.name, name, value),
        kCompileAgain);
}

double share_field(const plan::Dataset& dataset, const char* name) {
    if (!dataset.attributes.contains(name)) return 0;
    const auto share = attribute<double>(dataset, name);
    if (share > 0 && share < 1) return share;
    throw RunError(Exit::mismatch,
                   fmt::format("the plan's dataset `{}` has a {} of {}", dataset.name, name, share),
                   kCompileAgain);
}

bool is_forecast(const plan::Dataset& dataset) {
    return dataset.target().kind != plan::LabelKind::input;
}

/// What the plan says of the lines of its tables, where it has been compiled.
std::int64_t lines_field(const plan::Dataset& dataset, const char* name) {
    return dataset.attributes.contains(name) ? attribute<std::int64_t>(dataset, name) : 0;
}

/// That the tables are those that the plan was compiled for.
void check_series(const SeriesSource& source, const plan::Dataset& dataset, Counts counts) {
    const std::string& path = path_of(dataset);
    const auto right = [&](std::int64_t found, std::int64_t wanted) {
        return found == wanted || (counts == Counts::at_most && found < wanted);
    };
    const char* const at_most = counts == Counts::at_most ? "at most " : "";
    for (const auto& [split, name] :
         {std::pair{Split::train, "rows"}, std::pair{Split::test, "test_rows"}}) {
        const std::int64_t found = source.lines(split), wanted = lines_field(dataset, name);
        if (right(found, wanted)) continue;
        throw RunError(
            Exit::mismatch,
            fmt::format("{} has {} lines of numbers; the plan expects {}{}",
                        split == Split::train ? path : test_path_of(dataset), found, at_most,
                        wanted),
            "if the table is right, leave rows, test_rows and the numbers of samples out of the "
            "dataset, and compile the job again");
    }
    const std::int64_t train = source.size(Split::train), test = source.size(Split::test);
    if (!right(train, source_train_samples(dataset)) || !right(test, dataset.test_samples) ||
        (dataset.validation_files && !right(source.validation_size(), dataset.validation_samples)))
        throw RunError(
            Exit::mismatch,
            fmt::format(
                "{} makes {} training samples, {} of them of validation, and {} of the "
                "test; the plan expects {}{}, {} and {}",
                path, train, source.validation_size(), test, at_most, source_train_samples(dataset),
                dataset.validation_files ? dataset.validation_samples : 0, dataset.test_samples),
            "if the table is right, leave rows, test_rows and the numbers of samples out of the "
            "dataset, and compile the job again");
    if (source.found_shape() != stored_shape(dataset) ||
        (is_forecast(dataset) && source.found_classes() != dataset.target().classes))
        throw RunError(
            Exit::mismatch,
            fmt::format("samples of {} are [{}] with {} numbers to forecast; the plan expects [{}] "
                        "and {}",
                        path, fmt::join(source.found_shape(), ","), source.found_classes(),
                        fmt::join(stored_shape(dataset), ","), dataset.target().classes),
            "give a table with the columns that the job was compiled for, or compile it again");
}

Source open_series(const plan::Dataset& dataset, const Asked& asked) {
    SeriesSource::Form form = series_form(dataset);
    form.test_share = share_field(dataset, kShare);
    form.validation_share = share_field(dataset, kValidationShare);
    form.table.train_samples = lines_field(dataset, "rows");
    form.table.test_samples = lines_field(dataset, "test_rows");
    form.table.cache = cache_of(dataset);
    form.table.encoding.wide = asked.numbers == DType::f64;
    form.finds_scale = asked.counts == Counts::any && plan::scales_features(dataset);
    find_series_columns(path_of(dataset), form);
    auto source = std::make_unique<SeriesSource>(path_of(dataset), test_path_of(dataset), form);
    if (asked.counts != Counts::any) check_series(*source, dataset, asked.counts);
    return source;
}

}  // namespace

SeriesSource::Form series_form(const plan::Dataset& dataset) {
    SeriesSource::Form form;
    form.table = table_form(dataset);
    form.table.kind = plan::LabelKind::input;
    form.table.counts = Counts::any;
    form.table.encoding.numbers_alone = true;
    form.table.feature_names = dataset.input().names;
    form.table.group.one = true;
    if (dataset.attributes.contains("group_name"))
        form.table.group.names = {attribute<std::string>(dataset, "group_name")};
    else if (dataset.attributes.contains("group_column"))
        form.table.group.numbers = {attribute<std::int64_t>(dataset, "group_column")};
    form.window = positive_field(dataset, "window");
    form.stride = positive_field(dataset, "stride");
    form.ahead = is_forecast(dataset) ? positive_field(dataset, "horizon") : 0;
    return form;
}

void find_series_columns(const std::string& path, SeriesSource::Form& form) {
    CsvSource::Form& table = form.table;
    const CsvFirstLine line = read_first_line(path, table.separator);
    const TableLine first(line.columns.begin(), line.columns.end());
    if (first.empty()) throw bad_file(path, "it has no lines", "name another table");
    std::vector<std::size_t> features;
    if (table.feature_names.empty()) {
        std::vector<bool> others(first.size(), false);
        for (const auto& [wish, field] :
             {std::pair{&table.ignored, "ignored"}, std::pair{&table.group, "group"}})
            for (const std::size_t column : find_columns(first, *wish, path, field))
                others[column] = true;
        table.ignored = {};
        for (std::size_t column = 0; column < first.size(); ++column) {
            if (others[column])
                table.ignored.numbers.push_back(std::int64_t(column) + 1);
            else
                features.push_back(column);
        }
        if (features.empty())
            throw bad_file(path, "no column of it is a feature",
                           "correct dataset.ignored_names or dataset.ignored_columns");
    } else {
        features = find_columns(first, {table.feature_names, {}}, path, "feature", table.model);
    }
    for (const std::size_t column : find_columns(first, table.labels, path, "label")) {
        const auto found = std::find(features.begin(), features.end(), column);
        if (found == features.end())
            throw bad_file(path, fmt::format("column {} is a label, and no feature", column + 1),
                           "what is forecast is read, too: see dataset.feature_names, "
                           "dataset.ignored_names and dataset.ignored_columns");
        form.labels.push_back(std::size_t(found - features.begin()));
    }
    table.labels = {};
}

SeriesSource::SeriesSource(std::string train_path, std::string test_path, Form form)
    : form_(std::move(form)),
      paths_{std::move(train_path), std::move(test_path)},
      table_(paths_[0], paths_[1], form_.table),
      features_(element_count(table_.found_shape())) {
    if (form_.labels.empty())
        for (std::int64_t feature = 0; feature < features_; ++feature)
            form_.labels.push_back(std::size_t(feature));
    cut(Split::train);
    if (!paths_[1].empty()) cut(Split::test);
    for (Part* part : {&train_, &validation_, &test_})
        part->stretches.shrink_to_fit();
}

void SeriesSource::cut(Split table) {
    std::vector<std::int64_t> groups = table_.take_groups(table);
    groups.push_back(table_.size(table));
    if (table == Split::test) test_.table = Split::test;
    for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
        const std::int64_t begin = groups[i], end = groups[i + 1], count = end - begin;
        if (table == Split::test) {
            add(test_, begin, begin, end);
            continue;
        }
        const std::int64_t test = end - plan::share_of(count, form_.test_share);
        const std::int64_t validation =
            std::max(begin, test - plan::share_of(count, form_.validation_share));
        add(train_, begin, begin, validation);
        add(validation_, begin, validation, test);
        add(test_, begin, test, end);
        if (form_.finds_scale) trained_.push_back({begin, validation});
    }
}

void SeriesSource::add(Part& part, std::int64_t group, std::int64_t begin, std::int64_t end) const {
    // The line of the first target, or of the window's end where there is none.
    const std::int64_t first =
        (form_.ahead == 0 ? begin : std::max(begin - form_.window, group)) + form_.window;
    const std::int64_t room = end - form_.ahead - first;
    if (room < 0) return;
    const std::int64_t skipped = form_.from_end ? room % form_.stride : 0;
    part.stretches.push_back({first - form_.window + skipped, part.samples});
    part.samples += room / form_.stride + 1;
}

const SeriesSource::Part& SeriesSource::part_of(Split split, std::int64_t& index) const {
    if (split == Split::test) return test_;
    if (index < train_.samples) return train_;
    index -= train_.samples;
    return validation_;
}

std::int64_t SeriesSource::line_of(const Part& part, std::int64_t index) const {
    const auto behind = std::upper_bound(
        part.stretches.begin(), part.stretches.end(), index,
        [](std::int64_t at, const Stretch& stretch) { return at < stretch.first_sample; });
    const Stretch& stretch = *std::prev(behind);
    return stretch.line + (index - stretch.first_sample) * form_.stride;
}

void SeriesSource::load(Split split, std::int64_t index, Sample& sample) const {
    std::int64_t at = index;
    const Part& part = part_of(split, at);
    const std::int64_t line = line_of(part, at);
    sample.input().fill({form_.window, features_}, [&](auto elements) {
        using Real = typename decltype(elements)::value_type;
        table_.see_lines(part.table, line, form_.window, [&](const auto& numbers) {
            std::transform(numbers.begin(), numbers.end(), elements.begin(),
                           [](auto number) { return Real(number); });
        });
    });
    load_target(split, index, sample.target());
}

void SeriesSource::load_target(Split split, std::int64_t index, SampleArray& target) const {
    if (form_.ahead == 0) return;
    const Part& part = part_of(split, index);
    const std::int64_t line = line_of(part, index) + form_.window;
    target.dims.clear();
    target.doubles.clear();
    table_.see_lines(part.table, line, form_.ahead, [&](const auto& numbers) {
        for (std::size_t step = 0; step < std::size_t(form_.ahead); ++step)
            for (const std::size_t label : form_.labels)
                target.doubles.push_back(double(numbers[step * std::size_t(features_) + label]));
    });
}

std::string SeriesSource::name_of(Split split, std::int64_t index) const {
    const Part& part = part_of(split, index);
    const std::int64_t line = line_of(part, index);
    return fmt::format("{}, lines {} to {}", paths_[part.table == Split::train ? 0 : 1],
                       table_.number_of_line(line), table_.number_of_line(line + form_.window - 1));
}

std::vector<std::string> SeriesSource::class_names() const {
    const std::vector<std::string> names = table_.feature_names();
    std::vector<std::string> result;
    if (names.empty()) return result;
    for (std::int64_t step = 1; step <= form_.ahead; ++step)
        for (const std::size_t label : form_.labels)
            result.push_back(form_.ahead == 1
                                 ? printable(names[label])
                                 : fmt::format("{} +{}", printable(names[label]), step));
    return result;
}

Attributes SeriesSource::found_attributes() const {
    Attributes found;
    found["features"] = features_;
    found["rows"] = lines(Split::train);
    if (!paths_[1].empty()) found["test_rows"] = lines(Split::test);
    if (!form_.finds_scale) return found;
    // West's updates, which large numbers do not harm.
    std::vector<double> mean(static_cast<std::size_t>(features_)), squares(mean.size());
    std::int64_t count = 0;
    for (const Lines& part : trained_)
        for (std::int64_t line = part.begin; line < part.end; ++line) {
            ++count;
            table_.see_lines(Split::train, line, 1, [&](const auto& numbers) {
                for (std::size_t i = 0; i < mean.size(); ++i) {
                    const double apart = double(numbers[i]) - mean[i];
                    mean[i] += apart / double(count);
                    squares[i] += apart * (double(numbers[i]) - mean[i]);
                }
            });
        }
    for (double& one : squares) {
        const double deviation = std::sqrt(one / double(std::max<std::int64_t>(1, count)));
        // Numbers that are all the same are moved and not divided.
        one = deviation > 0 ? deviation : 1;
    }
    found["feature_mean"] = std::move(mean);
    found["feature_deviation"] = std::move(squares);
    return found;
}

std::uint64_t SeriesSource::content_hash() const {
    ContentHash hash;
    hash.add("series").add(table_.content_hash());
    for (const std::int64_t number : {form_.window, form_.ahead, form_.stride, train_.samples,
                                      validation_.samples, test_.samples})
        hash.add(std::uint64_t(number));
    return hash.value();
}

std::int64_t SeriesSource::resident_bytes() const {
    std::int64_t bytes = table_.resident_bytes();
    for (const Part* part : {&train_, &validation_, &test_})
        bytes += std::int64_t(part->stretches.capacity() * sizeof(Stretch));
    return bytes;
}

SourceType series_source() {
    return {.open = open_series, .shares = true};
}

}  // namespace dtnn::runtime
