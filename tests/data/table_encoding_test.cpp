// Categories, holes and scaled targets of tables: found in the files, applied by the plan.

#include "runtime/data/sources/table_encoding.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "plan/rules/resident.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/find_in_files.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sources/date_text.hpp"
#include "runtime/data/sources/prediction_inputs.hpp"
#include "tests/data/dataset_files.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/temporary_folder.hpp"

namespace table_encoding_test {

using namespace dtnn;
using namespace dtnn::runtime;

namespace {

/// Six training samples and two of the test, of a number, a category and a number.
DatasetFiles mixed_files() {
    DatasetFiles files = csv_files();
    files.files["train.csv"] =
        "age,port,fare,kind\n20,S,1,a\n,C,2,b\n40,S,3,a\n60,,4,b\nNA,Q,5,a\n30,S,6,b\n";
    files.files["test.csv"] = "kind,fare,age,port\na,7,,C\nb,,50,S\n";
    files.dataset.category_names = {"port"};
    files.set("missing", std::string("median"));
    files.dataset.target().classes = 2;
    files.dataset.target().names.clear();
    files.dataset.input().stored_dims = files.dataset.input().dims = {};
    files.dataset.train_samples = files.dataset.source_train_samples = 0;
    files.dataset.test_samples = 0;
    return files;
}

/// The dataset with what its files say, as a plan has it.
plan::Dataset planned(DatasetFiles files, const TemporaryFolder& folder) {
    files.write(folder);
    plan::Dataset dataset = files.dataset;
    find_in_files(dataset);
    dataset.source_train_samples = dataset.train_samples;
    dataset.input().dims = dataset.input().stored_dims;
    return dataset;
}

std::vector<float> row(const SampleSource& source, Split split, std::int64_t index) {
    Sample sample;
    source.load(split, index, sample);
    return sample.input().floats;
}

}  // namespace

TEST_CASE("categories and holes become numbers, by the training table") {
    DatasetFiles files = mixed_files();
    files.set("missing_indicator", true);
    const TemporaryFolder folder;
    const plan::Dataset dataset = planned(files, folder);
    REQUIRE(dataset.columns.size() == 3);
    const plan::FeatureColumn& age = dataset.columns[0];
    CHECK(age.name == "age");
    CHECK(age.fill == 35);  // the median of 20, 30, 40 and 60
    CHECK(age.indicator);
    const plan::FeatureColumn& port = dataset.columns[1];
    CHECK(port.values == std::vector<std::string>{"", "C", "Q", "S"});
    CHECK_FALSE(dataset.columns[2].indicator);  // no training sample lacks it
    CHECK(dataset.columns[2].fill == 3.5);
    CHECK(dataset.input().stored_dims == Dims{7, 1, 1});
    const auto source = open_source(dataset);
    CHECK(source->resident_bytes() <= plan::resident_bytes(dataset, DType::f32));
    CHECK(row(*source, Split::train, 0) == std::vector<float>{20, 0, 0, 0, 0, 1, 1});
    CHECK(row(*source, Split::train, 1) == std::vector<float>{35, 1, 0, 1, 0, 0, 2});
    CHECK(row(*source, Split::train, 3) == std::vector<float>{60, 0, 1, 0, 0, 0, 4});
    CHECK(row(*source, Split::train, 4) == std::vector<float>{35, 1, 0, 0, 1, 0, 5});
    CHECK(row(*source, Split::test, 0) == std::vector<float>{35, 1, 0, 1, 0, 0, 7});
    CHECK(row(*source, Split::test, 1) == std::vector<float>{50, 0, 0, 0, 0, 1, 3.5});
    CHECK(source->feature_names() == std::vector<std::string>{"age", "age is missing",
                                                              "port is missing", "port = C",
                                                              "port = Q", "port = S", "fare"});
    // A table to predict, in another order, with others beside them, and without a label.
    write_text(folder / "new.csv", "note,port,age,fare\nx,S,,8\n");
    const PredictionInputs inputs({folder / "new.csv"}, dataset);
    Sample sample;
    sample.input().wide = false;
    inputs.load(Split::test, 0, sample);
    CHECK(sample.input().floats == std::vector<float>{35, 1, 0, 0, 0, 1, 8});
    // Another table of training samples than the plan was made of.
    write_text(folder / "train.csv",
               "age,harbour,fare,kind\n1,S,1,a\n1,S,1,b\n1,S,1,a\n1,S,1,b\n1,S,1,a\n"
               "1,S,1,b\n");
    expect_error(Exit::mismatch, {"train.csv", "`harbour` where the plan has `port`"},
                 [&] { open_source(dataset); });
    plan::Dataset without = dataset;
    without.columns.clear();
    expect_error(Exit::mismatch, {"does not say what the columns"}, [&] { open_source(without); });
}

TEST_CASE("one number of a category, means, constants, and zeros for what is not known") {
    DatasetFiles files = mixed_files();
    files.set("categories", std::string("number"));
    files.set("missing", std::string("mean"));
    {
        const TemporaryFolder folder;
        const plan::Dataset dataset = planned(files, folder);
        CHECK(dataset.columns[0].fill == 37.5);
        const auto source = open_source(dataset);
        CHECK(row(*source, Split::train, 1) == std::vector<float>{37.5, 1, 2});
        CHECK(row(*source, Split::train, 3) == std::vector<float>{60, 0, 4});
    }
    files.set("categories", std::string("one_hot"));
    files.set("missing", std::string("constant"));
    files.set("fill_value", -1.0);
    files.files["test.csv"] = "kind,fare,age,port\na,7,,X\nb,,50,S\n";
    {
        const TemporaryFolder folder;
        DatasetFiles refused = files;
        refused.write(folder);
        plan::Dataset dataset = refused.dataset;
        expect_error(Exit::failed,
                     {"test.csv:2", "column 4 (`port`) is `X`, which no training sample has",
                      "nothing, `C`, `Q`, `S`", "dataset.unknown_categories=zeros"},
                     [&] { find_in_files(dataset); });
    }
    files.set("unknown_categories", std::string("zeros"));
    const TemporaryFolder folder;
    const plan::Dataset dataset = planned(files, folder);
    const auto source = open_source(dataset);
    CHECK(row(*source, Split::test, 0) == std::vector<float>{-1, 0, 0, 0, 0, 7});
}

TEST_CASE("categories that are numbers stand in the order of numbers, without a header by places") {
    DatasetFiles files = mixed_files();
    files.files["train.csv"] = "10,1,a\n9,2,b\n10,3,a\n2,4,b\n9,5,a\n2,6,b\n";
    files.files["test.csv"] = "9,1,a\n2,2,b\n";
    files.dataset.category_names.clear();
    files.set("category_columns", Dims{1});
    files.set("missing", std::string("refuse"));
    files.set("header", false);
    const TemporaryFolder folder;
    const plan::Dataset dataset = planned(files, folder);
    CHECK(dataset.columns[0].values == std::vector<std::string>{"2", "9", "10"});
    CHECK(dataset.columns[0].name.empty());
    CHECK(dataset.columns[0].place == 1);
    const auto source = open_source(dataset);
    CHECK(row(*source, Split::train, 0) == std::vector<float>{0, 0, 1, 1});
    write_text(folder / "new.csv", "2,7\n");
    Sample sample;
    PredictionInputs({folder / "new.csv"}, dataset).load(Split::test, 0, sample);
    CHECK(sample.input().floats == std::vector<float>{1, 0, 0, 7});
}

TEST_CASE(
    "what is filled in and what targets are scaled by follows from the training samples alone") {
    DatasetFiles files = csv_files();
    files.files["train.csv"] = "a,price\n";
    for (int i = 0; i < 10; ++i)
        files.files["train.csv"] +=
            fmt::format("{},{}\n", i == 4 ? "" : fmt::format("{}", i * i), 1e9 + 1000 * i * i);
    files.dataset.attributes.erase("test_path");
    files.set("test_share", 0.3);
    files.set("missing", std::string("mean"));
    files.set("target_scaling", std::string("standard"));
    files.dataset.target().kind = plan::LabelKind::values;
    files.dataset.target().classes = 0;
    files.dataset.target().names.clear();
    files.dataset.input().stored_dims = files.dataset.input().dims = {};
    files.dataset.train_samples = files.dataset.source_train_samples = 0;
    files.dataset.test_samples = 0;
    const TemporaryFolder folder;
    const plan::Dataset dataset = planned(files, folder);
    REQUIRE(dataset.train_samples == 7);
    const auto source = open_source(dataset);
    double sum = 0, squares = 0, features = 0;
    int known = 0;
    Sample sample;
    for (int i = 0; i < 7; ++i) {
        source->load(Split::train, i, sample);
        const double target = sample.target().doubles.at(0) - 1e9;
        sum += target;
        squares += target * target;
        const double place = std::sqrt(target / 1000);
        if (std::lround(place) == 4) continue;
        features += place * place;
        ++known;
    }
    CHECK(dataset.target().mean.at(0) == doctest::Approx(1e9 + sum / 7).epsilon(1e-14));
    CHECK(dataset.target().deviation.at(0) ==
          doctest::Approx(std::sqrt(squares / 7 - sum / 7 * sum / 7)).epsilon(1e-9));
    CHECK(dataset.columns.at(0).fill == doctest::Approx(features / known).epsilon(1e-14));
}

TEST_CASE("holes are counted, dates and texts are answered") {
    const auto refused = [](const std::string& lines, std::initializer_list<const char*> words) {
        DatasetFiles files = mixed_files();
        files.dataset.attributes.erase("missing");
        files.dataset.category_names.clear();
        files.files["train.csv"] = "age,port,kind\n" + lines;
        files.files["test.csv"] = "age,port,kind\n1,2,a\n";
        const TemporaryFolder folder;
        files.write(folder);
        plan::Dataset dataset = files.dataset;
        expect_error(Exit::failed, words, [&] { find_in_files(dataset); });
    };
    refused("1,2,a\n3,,b\n,,a\nNA,4,b\n",
            {"train.csv:3",
             "column 2 (`port`) is empty: the table has holes (`age` in 2 of 4 "
             "lines, `port` in 2)",
             "`missing: median`"});
    refused("1,2,a\n3,31.12.2024,b\n", {"train.csv:3", "a date", "`ignored_names: [port]`"});
    refused("1,2,a\n3,S,b\n", {"train.csv:3", "`S`, not a number", "`category_names: [port]`",
                               "`ignored_names: [port]`"});
}

TEST_CASE("more categories than a network can have numbers for are refused") {
    DatasetFiles files = mixed_files();
    files.files["train.csv"] = "age,port,fare,kind\n";
    for (int i = 0; i < 1002; ++i)
        files.files["train.csv"] += fmt::format("1,P{},2,{}\n", i, i % 2 == 0 ? "a" : "b");
    const TemporaryFolder folder;
    files.write(folder);
    plan::Dataset dataset = files.dataset;
    expect_error(Exit::failed, {"train.csv:1002", "more than 1000", "categories: number"},
                 [&] { find_in_files(dataset); });
}

TEST_CASE("texts that are dates") {
    for (const char* date :
         {"2024-03-31", "2024/3/1", "31.03.2024", "3/31/2024", "31-Mar-24", "20 March 2024",
          "2024-03-31T12:30:00Z", "2024-03-31 12:30", "1.2.2024"})
        CHECK_MESSAGE(is_date(date), date);
    for (const char* text : {"", "12", "3.14", "2024", "1-2", "2024-03", "40-50-60", "12:30",
                             "T1-2-3", "2024-03-31x", "1 2 3", "99-99-99", "10.0.0.1", "+1-2-3"})
        CHECK_FALSE_MESSAGE(is_date(text), text);
}

}  // namespace table_encoding_test
