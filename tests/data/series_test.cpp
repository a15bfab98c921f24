// Time series: which lines are samples of which part, what is to be forecast, and what follows from
// the lines that are trained on.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "plan/rules/resident.hpp"
#include "runtime/data/find_in_files.hpp"
#include "runtime/data/pipeline.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sources/prediction_inputs.hpp"
#include "tests/data/dataset_files.hpp"
#include "tests/unit/runtime/expect_error.hpp"

namespace series_test {

using namespace dtnn;
using namespace dtnn::runtime;

namespace {

struct Opened {
    explicit Opened(DatasetFiles written, Counts counts = Counts::exact, DType numbers = DType::f32)
        : files(std::move(written)) {
        files.write(folder);
        source = open_source(files.dataset, counts, numbers);
    }
    /// What the column `load` holds in the window: the place of each line, by series_files.
    std::vector<double> window(Split split, std::int64_t index) const {
        Sample sample;
        source->load(split, index, sample);
        const SampleArray& input = sample.input();
        CHECK(input.dims == files.dataset.input().dims);
        std::vector<double> loads;
        for (std::size_t i = 0; i < input.floats.size(); i += 2) {
            loads.push_back(double(input.floats[i]));
            CHECK(input.floats[i + 1] == input.floats[i] / 4);
        }
        return loads;
    }
    std::vector<double> target(Split split, std::int64_t index) const {
        SampleArray target;
        source->load_target(split, index, target);
        return target.doubles;
    }

    TemporaryFolder folder;
    DatasetFiles files;
    std::unique_ptr<SampleSource> source;
};

using Numbers = std::vector<double>;

/// What files say of a dataset that says nothing of itself.
plan::Dataset found(DatasetFiles files, const TemporaryFolder& folder) {
    files.write(folder);
    plan::Dataset bare = files.dataset;
    bare.input().dims.clear();
    bare.input().stored_dims.clear();
    bare.target().classes = 0;
    bare.train_samples = bare.validation_samples = bare.test_samples = 0;
    bare.source_train_samples = 0;
    for (const char* name : {"features", "rows", "test_rows"})
        bare.attributes.erase(name);
    find_in_files(bare);
    return bare;
}

}  // namespace

TEST_CASE("parts of a series follow one another in time, within each group") {
    const Opened series(series_files());
    const SampleSource& source = *series.source;
    REQUIRE(source.size(Split::train) == 5);
    CHECK(source.validation_size() == 3);
    REQUIRE(source.size(Split::test) == 3);
    // North has 12 lines: 6 to train on, 3 of validation, 3 of the test; south 4, 2 and 2, of which
    // the first are too few.
    CHECK(series.window(Split::train, 0) == Numbers{0, 1, 2});
    CHECK(series.target(Split::train, 0) == Numbers{3, 4});
    CHECK(series.window(Split::train, 1) == Numbers{1, 2, 3});
    CHECK(series.target(Split::train, 1) == Numbers{4, 5});
    CHECK(series.window(Split::train, 2) == Numbers{3, 4, 5});
    CHECK(series.target(Split::train, 2) == Numbers{6, 7});
    CHECK(series.target(Split::train, 3) == Numbers{7, 8});
    CHECK(series.window(Split::train, 4) == Numbers{101, 102, 103});
    CHECK(series.target(Split::train, 4) == Numbers{104, 105});
    CHECK(series.target(Split::test, 0) == Numbers{9, 10});
    CHECK(series.target(Split::test, 1) == Numbers{10, 11});
    CHECK(series.window(Split::test, 2) == Numbers{103, 104, 105});
    CHECK(series.target(Split::test, 2) == Numbers{106, 107});
    CHECK(source.name_of(Split::test, 2).ends_with("series.csv, lines 17 to 19"));
    CHECK(source.class_names() == std::vector<std::string>{"load +1", "load +2"});
    CHECK(source.feature_names() == std::vector<std::string>{"load", "heat"});
}

TEST_CASE("samples of every length, horizon and stride are those of the rule, line by line") {
    constexpr int kLines[] = {12, 8};
    for (int window = 1; window <= 4; ++window)
        for (int horizon = 1; horizon <= 3; ++horizon)
            for (int stride = 1; stride <= 3; ++stride) {
                CAPTURE(window);
                CAPTURE(horizon);
                CAPTURE(stride);
                // Naively: every place where a sample's target is in one part alone.
                std::vector<double> parts[3];
                int before = 0;
                for (const int lines : kLines) {
                    const int kept = lines / 4, ends[] = {lines - 2 * kept, lines - kept, lines};
                    for (int part = 0, begin = 0; part < 3; begin = ends[part], ++part) {
                        int last = -stride;
                        for (int first = 0; first < lines; ++first) {
                            const int target = first + window;
                            if (target < begin || target + horizon > ends[part]) continue;
                            if (last >= 0 && first < last + stride) continue;
                            last = first;
                            parts[part].push_back(double(before == 0 ? first : 100 + first));
                        }
                    }
                    before += lines;
                }
                DatasetFiles files = series_files();
                plan::Dataset& dataset = files.dataset;
                files.set("window", std::int64_t{window});
                files.set("horizon", std::int64_t{horizon});
                files.set("stride", std::int64_t{stride});
                dataset.input().dims = dataset.input().stored_dims = {window, 2};
                dataset.target().classes = horizon;
                dataset.train_samples = std::int64_t(parts[0].size());
                dataset.validation_samples = std::int64_t(parts[1].size());
                dataset.test_samples = std::int64_t(parts[2].size());
                dataset.source_train_samples = dataset.train_samples + dataset.validation_samples;
                const Opened series(files);
                for (std::size_t part = 0; part < 3; ++part)
                    for (std::size_t i = 0; i < parts[part].size(); ++i) {
                        const Split split = part == 2 ? Split::test : Split::train;
                        const auto index =
                            std::int64_t(i + (part == 1 ? parts[0].size() : std::size_t{0}));
                        const double first = parts[part][i];
                        CHECK(series.window(split, index).front() == first);
                        CHECK(series.window(split, index).back() == first + window - 1);
                        CHECK(series.target(split, index).front() == first + window);
                        CHECK(series.target(split, index).back() == first + window + horizon - 1);
                    }
            }
}

TEST_CASE("a series of the test has a table of its own, whose columns go by their names") {
    DatasetFiles files = series_files();
    plan::Dataset& dataset = files.dataset;
    files.dataset.attributes.erase("test_share");
    files.dataset.attributes.erase("validation_share");
    dataset.validation_files = false;
    dataset.validation_samples = 0;
    dataset.train_samples = dataset.source_train_samples = 8 + 4;
    dataset.test_samples = 2;
    files.set("test_path", std::string("test.csv"));
    files.set("test_rows", std::int64_t{6});
    files.files["test.csv"] = "heat,sensor,load\n0,a,0\n1,a,4\n2,a,8\n3,a,12\n4,a,16\n5,a,20\n";
    const Opened series(files);
    CHECK(series.window(Split::test, 1) == Numbers{4, 8, 12});
    CHECK(series.target(Split::test, 1) == Numbers{16, 20});
    CHECK(series.source->name_of(Split::test, 0).ends_with("test.csv, lines 2 to 4"));
}

TEST_CASE("columns in another order, several that are forecast, and tables without a header") {
    DatasetFiles files = series_files();
    files.dataset.ignored_names.clear();
    files.dataset.input().names = {"heat", "load"};
    files.dataset.label_names.clear();
    files.dataset.target().classes = 4;
    {
        const Opened series(files);
        Sample sample;
        series.source->load(Split::train, 1, sample);
        CHECK(sample.input().floats == std::vector<float>{0.25F, 1, 0.5F, 2, 0.75F, 3});
        CHECK(sample.target().doubles == Numbers{1, 4, 1.25, 5});
        CHECK(series.source->class_names() ==
              std::vector<std::string>{"heat +1", "load +1", "heat +2", "load +2"});
    }
    files.dataset.input().names.clear();
    files.dataset.target().classes = 2;
    files.set("header", false);
    files.dataset.attributes.erase("group_name");
    files.set("group_column", std::int64_t{-2});
    files.set("ignored_columns", Dims{1});
    files.set("label_columns", Dims{2});
    files.files["series.csv"].erase(0, files.files["series.csv"].find('\n') + 1);
    const Opened series(files);
    CHECK(series.window(Split::train, 1) == Numbers{1, 2, 3});
    CHECK(series.target(Split::train, 1) == Numbers{4, 5});
    CHECK(series.source->name_of(Split::train, 0).ends_with("lines 1 to 3"));
    CHECK(series.source->class_names().empty());
}

TEST_CASE("where nothing is forecast, windows are in one part") {
    DatasetFiles files = series_files();
    plan::Dataset& dataset = files.dataset;
    dataset.target().kind = plan::LabelKind::input;
    // Of 6, 3 and 3 lines, and of 4, 2 and 2.
    dataset.train_samples = 4 + 2;
    dataset.validation_samples = 1;
    dataset.test_samples = 1;
    dataset.source_train_samples = 7;
    const Opened series(files);
    CHECK(series.window(Split::train, 4) == Numbers{100, 101, 102});
    CHECK(series.window(Split::train, 6) == Numbers{6, 7, 8});
    CHECK(series.window(Split::test, 0) == Numbers{9, 10, 11});
}

TEST_CASE("a series says its counts, and the scale of the lines that are trained on") {
    DatasetFiles files = series_files();
    files.set("feature_scaling", std::string("standard"));
    files.set("target_scaling", std::string("standard"));
    const TemporaryFolder folder;
    const plan::Dataset dataset = found(files, folder);
    CHECK(dataset.train_samples == 2);
    CHECK(dataset.validation_samples == 3);
    CHECK(dataset.test_samples == 3);
    CHECK(dataset.target().classes == 2);
    CHECK(dataset.input().stored_dims == Dims{3, 2});
    CHECK(std::get<std::int64_t>(dataset.attributes.at("rows")) == 20);
    CHECK(std::get<std::int64_t>(dataset.attributes.at("features")) == 2);
    // Lines 0 to 5 of north, 100 to 103 of south.
    Numbers lines = {0, 1, 2, 3, 4, 5, 100, 101, 102, 103};
    double mean = 0, squares = 0;
    for (const double line : lines)
        mean += line / 10;
    for (const double line : lines)
        squares += (line - mean) * (line - mean) / 10;
    const auto reals = [&](const char* name) {
        return std::get<std::vector<double>>(dataset.attributes.at(name));
    };
    REQUIRE(reals("feature_mean").size() == 2);
    CHECK(reals("feature_mean")[0] == doctest::Approx(mean));
    CHECK(reals("feature_mean")[1] == doctest::Approx(mean / 4));
    CHECK(reals("feature_deviation")[0] == doctest::Approx(std::sqrt(squares)));
    CHECK(reals("feature_deviation")[1] == doctest::Approx(std::sqrt(squares) / 4));
    // The targets of the training samples: 3 and 4, 4 and 5.
    CHECK(dataset.target().mean == Numbers{3.5, 4.5});
    CHECK(dataset.target().deviation == Numbers{0.5, 0.5});
}

TEST_CASE("a series that is shorter than a window has no samples, and is no fault of its files") {
    DatasetFiles files = series_files();
    files.set("window", std::int64_t{30});
    const TemporaryFolder folder;
    const plan::Dataset dataset = found(files, folder);
    CHECK(dataset.train_samples == 0);
    CHECK(dataset.test_samples == 0);
    CHECK(std::get<std::int64_t>(dataset.attributes.at("rows")) == 20);
}

TEST_CASE("lines of a series are kept once, however many samples share them") {
    DatasetFiles files = series_files();
    plan::Dataset& dataset = files.dataset;
    std::string& text = files.files["series.csv"] = "time,load,sensor,heat\n";
    constexpr std::int64_t kLines = 6000, kWindow = 500;
    for (std::int64_t i = 0; i < kLines; ++i)
        text += fmt::format("t,{},north,{}\n", i, double(i) / 4);
    files.set("rows", kLines);
    files.set("window", kWindow);
    dataset.input().dims = dataset.input().stored_dims = {kWindow, 2};
    dataset.train_samples = 3000 - kWindow - 1;
    dataset.validation_samples = dataset.test_samples = 1499;
    dataset.source_train_samples = dataset.train_samples + 1499;
    for (const DType numbers : {DType::f32, DType::f64}) {
        const Opened series(files, Counts::exact, numbers);
        const std::int64_t lines = kLines * 2 * size_of(numbers);
        CHECK(series.source->resident_bytes() >= lines);
        CHECK(series.source->resident_bytes() <= lines + 1000);
        CHECK(plan::resident_bytes(dataset, numbers) >= series.source->resident_bytes());
        CHECK(plan::resident_bytes(dataset, numbers) <= lines + 4000);
        CHECK(series.target(Split::test, 0) == Numbers{4500, 4501});
    }
}

TEST_CASE("the network reads features that are scaled, whoever gives them") {
    plan::Plan plan;
    DatasetFiles files = series_files();
    files.dataset.input().mean = {2, 10};
    files.dataset.input().deviation = {0.5, 4};
    const Opened series(files);
    plan.dataset = series.files.dataset;
    plan.training.batch_size = 1;
    Pipeline pipeline(*series.source, plan, Arrangement({3, 2}, {}));
    const std::vector<std::int64_t> order = {1};
    pipeline.start({.split = Split::train, .order = order, .batch = 1});
    REQUIRE(pipeline.wait() == 1);
    std::vector<float> read(6), target(2);
    pipeline.take({.features = {read.data()}, .target = target.data()});
    CHECK(read == std::vector<float>{-2, -2.4375F, 0, -2.375F, 2, -2.3125F});
    CHECK(target == std::vector<float>{4, 5});
}

TEST_CASE("a table to predict is windows, of which the last ends with the table") {
    DatasetFiles files = series_files();
    files.set("stride", std::int64_t{2});
    const TemporaryFolder folder;
    write_text(folder / "new.csv", "heat,load\n0,0\n1,4\n2,8\n3,12\n4,16\n5,20\n");
    const PredictionInputs given({folder / "new.csv"}, files.dataset, {"load", "heat"});
    REQUIRE(given.size(Split::test) == 2);
    Sample sample;
    given.load(Split::test, 1, sample);
    CHECK(sample.input().doubles.empty());
    CHECK(sample.input().floats == std::vector<float>{12, 3, 16, 4, 20, 5});
    CHECK(sample.target().doubles == Numbers{0, 0});
    CHECK(given.name_of(Split::test, 1).ends_with("new.csv, lines 5 to 7"));
    // Two groups, with the time.
    write_text(folder / "two.csv",
               "time,load,sensor,heat\n1,4,a,1\n2,8,a,2\n3,12,a,3\n1,0,b,0\n2,4,b,1\n3,8,b,2\n");
    const PredictionInputs two({folder / "two.csv"}, files.dataset);
    REQUIRE(two.size(Split::test) == 2);
    two.load(Split::test, 1, sample);
    CHECK(sample.input().floats == std::vector<float>{0, 0, 4, 1, 8, 2});
    write_text(folder / "short.csv", "load,heat\n0,0\n1,4\n");
    expect_error(Exit::failed, {"short.csv", "as long as a sample, which takes 3"},
                 [&] { PredictionInputs({folder / "short.csv"}, files.dataset); });
    write_text(folder / "wide.csv", "load,heat,wind\n0,0,0\n1,4,0\n1,4,0\n");
    expect_error(Exit::failed, {"wide.csv", "samples of it are [3,3]"},
                 [&] { PredictionInputs({folder / "wide.csv"}, files.dataset); });
}

}  // namespace series_test
