#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "compiler/frontend/datasets/dataset_fields.hpp"
#include "compiler/frontend/datasets/dataset_type.hpp"
#include "compiler/frontend/datasets/table_columns.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/support/field_rows.hpp"
#include "plan/dataset_choices.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kOtherFeatures = "the network reads other columns";

constexpr std::string_view kOtherForecast = "other columns are forecast";

constexpr std::string_view kOtherGroups = "samples are stretches of other lines";

constexpr std::string_view kFeaturesScaled = "the network reads features that are scaled otherwise";

Field lines_field(std::string_view name, double least, std::string_view doc) {
    return dataset_fields::found(integer_field(name, kMustBeGiven,
                                               between(least, 1'000'000'000).in("lines"), doc,
                                               unread("the tables may be the same or longer")));
}

const FieldTable& series_fields() {
    using namespace dataset_fields;
    constexpr double kMostSteps = 1 << 20;
    static const FieldTable table = {
        path("the table of the series, a line for each step in the order of time, relative to the "
             "current folder"),
        text_field(
            "test_path", kMayBeAbsent,
            "a table of the test, in the same form; this or `test_share`",
            unread(
                "the files there may be the same or others, and the accuracy is measured on them")),
        real_field("test_share", kMayBeAbsent, above(0).below(1),
                   "where there is no table of its own for the test: the share of the lines that "
                   "is kept for it, the last of each group",
                   mathematics("other samples are kept from training")),
        real_field("validation_share", kMayBeAbsent, above(0).below(1),
                   "the share of the lines of `path` that is kept for validation, the last of each "
                   "group before the test's",
                   mathematics(kWatched)),
        integer_field("window", kMustBeGiven, between(1, kMostSteps).in("lines"),
                      "the lines that the network reads of a sample",
                      mathematics("the samples have another length")),
        integer_field("horizon", 1, between(1, kMostSteps).in("lines"),
                      "how many lines behind the window are forecast, the next of all first",
                      mathematics("more or fewer lines are forecast")),
        integer_field("stride", 1, between(1, 1 << 30).in("lines"),
                      "from the first line of a sample to that of the next",
                      mathematics("other stretches of the series are samples")),
        plain_field(FieldType::text_list, plan::kFeatureNames, kMayBeAbsent,
                    "the columns that the network reads, by their names in the header and in this "
                    "order; without, all that are neither ignored nor the group",
                    mathematics(kOtherFeatures)),
        plain_field(FieldType::text_list, "label_names", kMayBeAbsent,
                    "the columns that are forecast, by their names in the header; without, all "
                    "that the network reads, among which they are in any case",
                    mathematics(kOtherForecast)),
        number_field(FieldType::integer_list, "label_columns", kMayBeAbsent,
                     between(-100'000, 100'000),
                     "such columns in place of `label_names`, counted from 1, or from the end by "
                     "-1, -2 and so on",
                     mathematics(kOtherForecast)),
        ignored_columns_field("columns that the network does not read, such as the time, counted "
                              "as those of labels"),
        ignored_names_field(),
        text_field("group_name", kMayBeAbsent,
                   "a column by its name in the header, such as a sensor's: lines with the same "
                   "text there are a series of their own, and stand together",
                   mathematics(kOtherGroups)),
        integer_field("group_column", kMayBeAbsent, between(-100'000, 100'000),
                      "such a column by its number, counted as those of labels",
                      mathematics(kOtherGroups)),
        header_field(),
        separator_field(),
        decimal_field(),
        choice_field("feature_scaling", "none", words_of<plan::TargetScaling>(),
                     "`standard`: the network reads (feature - mean) / deviation, by the lines "
                     "that are trained on",
                     mathematics(kFeaturesScaled)),
        found(number_field(FieldType::real_list, "feature_mean", kMayBeAbsent, Bounds{},
                           "feature_scaling standard: the mean of each feature",
                           mathematics(kFeaturesScaled))),
        found(number_field(FieldType::real_list, "feature_deviation", kMayBeAbsent, above(0),
                           "feature_scaling standard: the standard deviation of each, by all lines "
                           "that are trained on (not n - 1)",
                           mathematics(kFeaturesScaled))),
        target_scaling(),
        target_mean(),
        target_deviation(),
        found(integer_field("features", kMustBeGiven, between(1, 65536),
                            "the number of columns that the network reads",
                            mathematics(kOtherShape))),
        found(classes("the numbers that are forecast: `horizon` for each column of labels")),
        lines_field("rows", 1, "the lines of `path`, which memory is booked for"),
        lines_field("test_rows", 0, "the lines of `test_path`"),
        found_train_samples(),
        found_test_samples(),
        found_validation_samples(),
        cache("memory for the lines, 32 bits a feature, however many samples share one"),
    };
    return table;
}

/// Reports what the fields of a series say at the place where it is written.
struct SeriesRefusal {
    const FieldValues& fields;
    const DatasetSpec& spec;
    Diagnostics& diagnostics;

    void operator()(Code code, const char* field, const std::string& fact,
                    const std::string& help) const {
        diagnostics.error(code, span_or(fields.spans, field, spec.span), fact, help);
    }
};

void check_series_columns(const FieldValues& fields, const DatasetSpec& spec,
                          Diagnostics& diagnostics) {
    const SeriesRefusal refuse{fields, spec, diagnostics};
    const std::vector<std::string>& features = spec.dataset.input().names;
    const std::vector<std::string>& labels = spec.dataset.label_names;
    const std::set<std::string> different(features.begin(), features.end());
    const bool ignores =
        !spec.dataset.ignored_names.empty() || fields.values.contains("ignored_columns");
    if (!features.empty() && !fields.flag("header"))
        refuse(Code::conflicting_fields, plan::kFeatureNames,
               "`feature_names` of dataset are names in the table's header, and `header` is false",
               "`ignored_columns` leaves columns out by their numbers");
    else if (different.size() != features.size())
        refuse(Code::out_of_range, plan::kFeatureNames,
               "`feature_names` of dataset must be names of different columns", "");
    else if (!features.empty() && ignores)
        refuse(Code::conflicting_fields, plan::kFeatureNames,
               "`feature_names` of dataset says which columns are read, and others which are not",
               "leave `ignored_names` and `ignored_columns` out: what is not named is not read");
    for (const std::string& label : labels)
        if (!features.empty() && !different.contains(label))
            refuse(Code::conflicting_fields, "label_names",
                   fmt::format("`label_names` of dataset has `{}`, and `feature_names` has not",
                               label),
                   "what is forecast is read, too");
    if (fields.values.contains("group_name") && fields.values.contains("group_column"))
        refuse(Code::conflicting_fields, "group_name",
               "`group_name` and `group_column` of dataset both say which column is the group",
               "give one of them");
    else if (fields.values.contains("group_name") && !fields.flag("header"))
        refuse(Code::conflicting_fields, "group_name",
               "`group_name` of dataset is a name in the table's header, and `header` is false",
               "`group_column` says the column by its number");
    if (fields.values.contains("group_column") && fields.integer("group_column") == 0)
        refuse(Code::out_of_range, "group_column", "`group_column` of dataset is 0",
               "columns are counted from 1, or from the end by -1, -2 and so on");
}

/// The shape of the samples, held against what the model reads.
void settle_windows(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    const SeriesRefusal refuse{fields, spec, diagnostics};
    plan::Feature& input = spec.dataset.input();
    const std::int64_t window = fields.integer("window"), features = fields.integer("features");
    if (plan::has_image(spec.dataset) && input.name.empty()) {
        // No model has said what it reads.
        input.dims = {window, features};
        input.axes = {AxisKind::step, AxisKind::feature};
        return;
    }
    if (input.axes != Axes{AxisKind::step, AxisKind::feature} ||
        input.kind != plan::LabelKind::values || spec.dataset.inputs.size() != 1)
        refuse(Code::shape_mismatch, "type",
               "samples of the type series are real numbers of [steps, features], and the model "
               "reads something else",
               fmt::format("its input is `input: {{shape: [{}, {}]}}`; a model without `input` "
                           "reads what the dataset gives",
                           window, features));
    else if (input.dims != Dims{window, features})
        refuse(Code::shape_mismatch, input.dims.front() == window ? "features" : "window",
               fmt::format("samples of dataset are [{}, {}], and the model's input is [{}]", window,
                           features, fmt::join(input.dims, ", ")),
               "a model without `input` reads what the dataset gives");
}

void settle_forecast(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    const SeriesRefusal refuse{fields, spec, diagnostics};
    const plan::Dataset& dataset = spec.dataset;
    settle_classes(fields, spec, diagnostics);
    if (dataset.target().kind == plan::LabelKind::input) return;
    const auto named =
        std::int64_t(dataset.label_names.empty() ? fields.dims("label_columns").size()
                                                 : dataset.label_names.size());
    const std::int64_t labels = named > 0 ? named : fields.integer("features");
    const std::int64_t horizon = fields.integer("horizon");
    if (dataset.target().classes == horizon * labels) return;
    refuse(Code::out_of_range, "classes",
           fmt::format("`classes` of dataset is {}, and `horizon` {} of {} columns are {} numbers",
                       dataset.target().classes, horizon, labels, horizon * labels),
           "leave it out");
}

void settle_feature_scaling(const FieldValues& fields, DatasetSpec& spec,
                            Diagnostics& diagnostics) {
    const SeriesRefusal refuse{fields, spec, diagnostics};
    const bool scaled = fields.says("feature_scaling", plan::TargetScaling::standard);
    plan::Feature& input = spec.dataset.input();
    for (const auto& [name, member] : {std::pair{"feature_mean", &plan::Feature::mean},
                                       std::pair{"feature_deviation", &plan::Feature::deviation}}) {
        // What the files say is the input's, and is said once.
        spec.dataset.attributes.erase(name);
        const auto found = fields.values.find(name);
        const auto* list = found == fields.values.end()
                               ? nullptr
                               : std::get_if<std::vector<double>>(&found->second);
        if (list == nullptr) continue;
        if (!scaled)
            refuse(Code::conflicting_fields, name,
                   fmt::format("`{}` of dataset scales nothing", name),
                   "`feature_scaling: standard` scales the features");
        else if (std::int64_t(list->size()) != fields.integer("features"))
            refuse(Code::out_of_range, name,
                   fmt::format("`{}` of dataset are {}, and there are {} features; there must be "
                               "one for each",
                               name, list->size(), fields.integer("features")),
                   "");
        else
            input.*member = *list;
    }
}

/// Whether there are samples of every part, as far as the files say how many there are.
bool check_parts(const FieldValues& fields, const DatasetSpec& spec, Diagnostics& diagnostics) {
    const SeriesRefusal refuse{fields, spec, diagnostics};
    const plan::Dataset& dataset = spec.dataset;
    const double test = fields.values.contains("test_share") ? fields.real("test_share") : 0;
    const double validation =
        fields.values.contains("validation_share") ? fields.real("validation_share") : 0;
    if (test + validation >= 1) {
        refuse(Code::out_of_range, "validation_share",
               fmt::format("`test_share` {} and `validation_share` {} of dataset leave "
                           "nothing to train on",
                           test, validation),
               "together they are less than 1");
        return false;
    }
    const bool forecasts = dataset.target().kind != plan::LabelKind::input;
    const std::int64_t window = fields.integer("window"),
                       horizon = forecasts ? fields.integer("horizon") : 0;
    const auto check = [&](std::int64_t samples, const char* of) {
        if (samples > 0) return true;
        const std::string lines = fmt::format(
            "{} has {}{}", fields.text("path"), count_text(fields.integer("rows"), "line"),
            fields.integer("test_rows") > 0
                ? fmt::format(", {} {}", fields.text("test_path"), fields.integer("test_rows"))
                : "");
        refuse(Code::too_few_samples, "window",
               fmt::format("`window` {}{} of dataset {} longer than what there is {}: {}", window,
                           forecasts ? fmt::format(" and `horizon` {}", horizon) : "",
                           forecasts ? "are" : "is", of, lines),
               fields.values.contains("group_name") || fields.values.contains("group_column")
                   ? "samples lie within a group; give a smaller window, or longer groups"
                   : "give a smaller window, a larger share of that part, or a longer table");
        return false;
    };
    return check(dataset.train_samples, "to train on") &&
           check(dataset.test_samples, "of the test") &&
           (!dataset.validation_files || check(dataset.validation_samples, "of validation"));
}

void settle_series(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    check_series_columns(fields, spec, diagnostics);
    static_cast<void>(check_label_choice(fields, spec, diagnostics));
    check_separators(fields, spec, diagnostics);
    check_paths(fields, spec, "a table", diagnostics);
    if (!fields.sound) return;
    settle_feature_scaling(fields, spec, diagnostics);
    // What samples are like that are not there would be mistakes that follow.
    if (!check_parts(fields, spec, diagnostics)) return;
    settle_windows(fields, spec, diagnostics);
    settle_forecast(fields, spec, diagnostics);
    settle_target_scaling(fields, spec, diagnostics);
}

}  // namespace

ComponentInfo series_type() {
    return {.name = "series",
            .doc =
                "Tables whose lines are in the order of time: a stretch of lines is a sample, "
                "and what some columns hold behind it is to be forecast. Lines are kept once, "
                "however many samples share them. The parts of training, validation and test "
                "follow one another in time.",
            .example =
                "kind: dataset\ntype: series\npath: data/load.csv\nignored_names: [time]\n"
                "label_names: [load]\nwindow: 168\nhorizon: 24\nvalidation_share: 0.1\n"
                "test_share: 0.2\nfeatures: 3\nclasses: 24\nrows: 10000\n"
                "train_samples: 6809\nvalidation_samples: 977\ntest_samples: 1977\n",
            .fields = &series_fields(),
            .settle = settle_series};
}

}  // namespace dtnn::compiler
