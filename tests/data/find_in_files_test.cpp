// Facts that datasets do not say and their files do; and what data is that nobody has described.

#include "runtime/data/find_in_files.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "plan/rules/resident.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/sample_source.hpp"
#include "tests/data/dataset_files.hpp"
#include "tests/unit/runtime/archive_files.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/image_files.hpp"

namespace find_in_files_test {

using namespace dtnn;
using namespace dtnn::runtime;
namespace plan = dtnn::plan;

namespace {

/// The dataset without what its files say.
plan::Dataset undescribed(const plan::Dataset& dataset) {
    plan::Dataset bare = dataset;
    bare.input().dims.clear();
    bare.input().stored_dims.clear();
    bare.target().names.clear();
    bare.target().classes = 0;
    bare.train_samples = bare.source_train_samples = bare.test_samples = 0;
    return bare;
}

plan::Dataset found(DatasetFiles files) {
    const TemporaryFolder folder;
    files.write(folder);
    plan::Dataset dataset = undescribed(files.dataset);
    find_in_files(dataset);
    return dataset;
}

/// The value of a field as text, "" where it is not there.
std::string field(const RecognisedData& data, const std::string& name) {
    for (const auto& [key, value] : data.fields) {
        if (key != name) continue;
        if (const auto* text = std::get_if<std::string>(&value)) return *text;
        if (const auto* number = std::get_if<std::int64_t>(&value))
            return fmt::format("{}", *number);
        if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
        if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    }
    return "";
}

Dims list_field(const RecognisedData& data, const std::string& name) {
    for (const auto& [key, value] : data.fields)
        if (key == name) return std::get<Dims>(value);
    return {};
}

std::vector<std::string> names_field(const RecognisedData& data, const std::string& name) {
    for (const auto& [key, value] : data.texts)
        if (key == name) return value;
    return {};
}

}  // namespace

TEST_CASE("what a dataset does not say is found in its files") {
    const std::vector<DatasetFiles> sound = {folder_files(),
                                             archive_files("a.tar"),
                                             archive_files("a.tar.gz"),
                                             archive_files("a.zip"),
                                             npz_files(),
                                             npz_files(true),
                                             csv_files()};
    for (const DatasetFiles& files : sound) {
        CAPTURE(files.dataset.type);
        const plan::Dataset dataset = found(files);
        CHECK(dataset.train_samples == files.dataset.train_samples);
        CHECK(dataset.test_samples == files.dataset.test_samples);
        CHECK(dataset.target().classes == files.dataset.target().classes);
        CHECK(dataset.input().stored_dims == files.dataset.input().stored_dims);
    }
    CHECK(found(folder_files()).target().names == std::vector<std::string>{"blue", "green", "red"});
    CHECK(found(csv_files()).target().names ==
          std::vector<std::string>{"setosa", "versicolor", "virginica"});
}

TEST_CASE("masks say how many classes there are, or which numbers they are") {
    for (const DatasetFiles& files : {segmentation_files(), pixel_files()}) {
        const plan::Dataset dataset = found(files);
        CHECK(dataset.train_samples == 4);
        CHECK(dataset.test_samples == 2);
        CHECK(dataset.target().classes == 3);
        CHECK(dataset.input().stored_dims == files.dataset.input().stored_dims);
    }
    DatasetFiles files = segmentation_files();
    for (auto& [name, content] : files.files)
        if (name.find("/masks/") != std::string::npos)
            content = png(4, 6, PngColours::gray,
                          std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                                    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255});
    const TemporaryFolder folder;
    files.write(folder);
    plan::Dataset dataset = undescribed(files.dataset);
    expect_error(Exit::failed, {"train/masks", "0, 255", "mask_values: [0, 255]"},
                 [&] { find_in_files(dataset); });
    dataset.attributes["mask_values"] = Dims{0, 255};
    find_in_files(dataset);
    CHECK(dataset.target().classes == 2);
    const RecognisedData data = recognise_data(folder / "d");
    CHECK(data.type == "segmentation");
    CHECK(data.images);
    const auto values = std::find_if(data.fields.begin(), data.fields.end(), [](const auto& field) {
        return field.first == "mask_values";
    });
    REQUIRE(values != data.fields.end());
    CHECK(std::get<Dims>(values->second) == Dims{0, 255});
}

TEST_CASE("masks belong to their images, in folders and in arrays") {
    for (const bool kept : {true, false}) {
        DatasetFiles files = segmentation_files();
        const TemporaryFolder folder;
        files.write(folder);
        // Without room for the files they are read where they lie.
        if (!kept) files.set("cache", std::int64_t{1} << 20);
        const auto source = open_source(files.dataset);
        CHECK(source->resident_bytes() <= plan::resident_bytes(files.dataset, DType::f32));
        Sample sample;
        int number = 0;
        for (const Split split : {Split::train, Split::test}) {
            for (std::int64_t i = 0; i < source->size(split); ++i, ++number) {
                source->load(split, i, sample);
                CHECK(sample.target().dims.size() == 2);
                REQUIRE(sample.target().integers.size() == 24);
                CHECK(sample.target().integers[2] == number % 3);
                for (std::size_t at = 0; at < sample.target().integers.size(); ++at)
                    CHECK(std::lround(sample.input().floats[at] * 255) ==
                          100 * sample.target().integers[at] + number);
            }
        }
    }
    DatasetFiles files = pixel_files();
    const TemporaryFolder folder;
    files.write(folder);
    Sample sample;
    open_source(files.dataset)->load(Split::train, 2, sample);
    CHECK(sample.target().integers == std::vector<std::int32_t>{0, 1, 2, 0, 1, 2});
    CHECK(std::lround(sample.input().floats[5] * 255) == 17);
}

TEST_CASE("images of several sizes, gray and coloured, are found to be so") {
    DatasetFiles files = folder_files();
    files.files["d/train/blue/0.png"] = plain_png(5, 8, 1, 2, 3);
    CHECK(found(files).input().stored_dims == Dims{3, 0, 0});
    DatasetFiles gray = folder_files();
    for (auto& [name, content] : gray.files)
        content = png(8, 8, PngColours::gray, std::vector<std::uint8_t>(64, 7));
    CHECK(found(gray).input().stored_dims == Dims{1, 8, 8});
}

TEST_CASE("what is written stays, and what the files lack is said") {
    DatasetFiles files = folder_files();
    const TemporaryFolder folder;
    files.write(folder);
    plan::Dataset dataset = undescribed(files.dataset);
    dataset.input().stored_dims = {1, 8, 8};
    dataset.train_samples = 5;
    find_in_files(dataset);
    CHECK(dataset.input().stored_dims == Dims{1, 8, 8});
    CHECK(dataset.train_samples == 5);
    dataset.attributes["path"] = std::string("nowhere/flowers");
    expect_error(Exit::failed, {"nowhere/flowers is not there"}, [&] { find_in_files(dataset); });
}

TEST_CASE("numbers are counted as classes only where they can be") {
    DatasetFiles files = csv_files();
    files.files["train.csv"] = "a,b,kind\n1,2,0\n1,2,4\n1,2,0\n1,2,1\n1,2,0\n1,2,1\n";
    files.files["test.csv"] = "a,b,kind\n0,1,2\n2,3,1\n4,5,1\n";
    CHECK(found(files).target().classes == 5);
    files.files["test.csv"] = "a,b,kind\n0,1,2.5\n2,3,1\n4,5,1\n";
    const TemporaryFolder folder;
    files.write(folder);
    plan::Dataset dataset = undescribed(files.dataset);
    expect_error(Exit::failed, {"test.csv:2", "`2.5`, no class", "label_kind: values"},
                 [&] { find_in_files(dataset); });
}

TEST_CASE("label columns have names, and others than classes are called by them") {
    DatasetFiles files = csv_files();
    files.files["train.csv"] =
        "price,length,width,rooms\n1,2,3,4\n5,6,7,8\n9,8,7,6\n5,4,3,2\n"
        "1,2,3,4\n5,6,7,8\n";
    files.files["test.csv"] = "price,length,width,rooms\n1,2,3,4\n5,6,7,8\n9,8,7,6\n";
    files.dataset.target().kind = plan::LabelKind::values;
    files.dataset.label_names = {"rooms", "price"};
    files.dataset.target().classes = 2;
    const TemporaryFolder folder;
    files.write(folder);
    plan::Dataset dataset = undescribed(files.dataset);
    find_in_files(dataset);
    CHECK(dataset.target().classes == 2);
    CHECK(dataset.target().names == std::vector<std::string>{"rooms", "price"});
    CHECK(dataset.input().stored_dims == Dims{2, 1, 1});
    const auto source = open_source(files.dataset);
    Sample sample;
    source->load(Split::train, 1, sample);
    CHECK(sample.target().doubles == std::vector<double>{8, 5});
    CHECK(sample.input().floats == std::vector<float>{6, 7});
    files.dataset.label_names = {"rooms", "prize"};
    expect_error(Exit::failed,
                 {"train.csv:1", "no column is called `prize`", "price, length, width, rooms"},
                 [&] { open_source(files.dataset); });
}

TEST_CASE("a share of the samples is the test's where the files have no split") {
    DatasetFiles files = folder_files();
    DatasetFiles flat = folder_files();
    flat.files.clear();
    for (const auto& [name, content] : files.files)
        if (name.starts_with("d/train/")) flat.files["d/" + name.substr(8)] = content;
    flat.set("train_folder", std::string("."));
    flat.set("test_share", 0.34);
    const TemporaryFolder folder;
    flat.write(folder);
    plan::Dataset dataset = undescribed(flat.dataset);
    find_in_files(dataset);
    CHECK(dataset.train_samples == 4);
    CHECK(dataset.test_samples == 2);
    dataset.input().dims = dataset.input().stored_dims;
    dataset.source_train_samples = dataset.train_samples;
    const auto source = open_source(dataset);
    CHECK(source->resident_bytes() <= plan::resident_bytes(dataset, DType::f32));
    std::set<std::string> names;
    Sample sample;
    for (const Split split : {Split::train, Split::test}) {
        for (std::int64_t i = 0; i < source->size(split); ++i) {
            source->load(split, i, sample);
            const std::string name = source->name_of(split, i);
            const std::string& label =
                dataset.target().names.at(std::size_t(sample.target().integers.at(0)));
            CAPTURE(name);
            CHECK(name.find("/" + label + "/") != std::string::npos);
            names.insert(name);
        }
    }
    CHECK(names.size() == 6);
    // The same files have the same test samples, and other counts than they make are refused.
    CHECK(open_source(dataset)->content_hash() == source->content_hash());
    plan::Dataset other = dataset;
    other.train_samples = other.source_train_samples = 5;
    other.test_samples = 1;
    expect_error(Exit::mismatch, {"makes 4 training and 2 test samples", "test_share"},
                 [&] { open_source(other); });
    other.test_samples = 9;
    expect_error(Exit::mismatch, {"6 training", "follow from test_share"},
                 [&] { open_source(other); });
    other.attributes["test_share"] = 0.999;
    other.test_samples = 1;
    CHECK(open_source(other, Counts::any)->size(Split::test) == 5);
}

TEST_CASE("a plan's names and hash are held against the files") {
    DatasetFiles files = folder_files();
    const TemporaryFolder folder;
    files.write(folder);
    plan::Dataset dataset = files.dataset;
    dataset.target().names = {"blue", "green", "red"};
    dataset.attributes["content_hash"] = content_text(open_source(dataset)->content_hash());
    CHECK_NOTHROW(open_source(dataset));
    dataset.target().names = {"blue", "grey", "red"};
    expect_error(Exit::mismatch, {"class 1", "`green` in its files", "`grey` in the plan"},
                 [&] { open_source(dataset); });
    dataset.target().names.clear();
    dataset.attributes["content_hash"] = std::string("xxh3:0123456789abcdef");
    expect_error(Exit::mismatch, {"xxh3:0123456789abcdef", "content_hash"},
                 [&] { open_source(dataset); });
}

TEST_CASE("tables hash alike whatever their numbers are kept in") {
    DatasetFiles files = csv_files();
    const TemporaryFolder folder;
    files.write(folder);
    CHECK(open_source(files.dataset)->content_hash() ==
          open_source(files.dataset, Counts::exact, DType::f64)->content_hash());
}

TEST_CASE("data of every form is recognised") {
    const auto recognised = [](DatasetFiles files, const std::string& path) {
        const TemporaryFolder folder;
        files.write(folder);
        return recognise_data(folder / path);
    };
    CHECK(recognised(mnist_files(), "d").type == "mnist");
    CHECK(field(recognised(mnist_files(), "d"), "train_samples") == "6");
    CHECK(recognised(cifar_files(), "d").type == "cifar10");
    CHECK(recognised(chestxray_files(), "d").type == "chestxray");
    CHECK(recognised(imagenet_files(), "d").type == "imagenet");
    CHECK(recognised(shard_files(), "d").type == "imagenet");
    for (const char* name : {"a.tar", "a.tar.gz", "a.zip"})
        CHECK(recognised(archive_files(name), name).type == "archive");

    const RecognisedData folders = recognised(folder_files(), "d");
    CHECK(folders.type == "folder");
    CHECK(folders.images);
    CHECK(field(folders, "test_share") == "");
    DatasetFiles renamed = folder_files();
    std::map<std::string, std::string> moved;
    for (const auto& [name, content] : renamed.files)
        moved[name.starts_with("d/train") ? name : "d/val" + name.substr(6)] = content;
    renamed.files = moved;
    CHECK(field(recognised(renamed, "d"), "test_folder") == "val");
    renamed.files["d/test/blue/1.png"] = renamed.files.begin()->second;
    const RecognisedData three = recognised(renamed, "d");
    CHECK(field(three, "test_folder") == "");
    CHECK(field(three, "validation_folder") == "val");

    const RecognisedData table = recognised(csv_files(), "train.csv");
    CHECK(table.type == "csv");
    CHECK(field(table, "test_path").ends_with("test.csv"));
    CHECK(field(table, "validation_path") == "");
    DatasetFiles tables = csv_files();
    tables.files["val.csv"] = tables.files["test.csv"];
    CHECK(field(recognised(tables, "train.csv"), "test_path").ends_with("test.csv"));
    CHECK(field(recognised(tables, "train.csv"), "validation_path").ends_with("val.csv"));
    CHECK(field(table, "label_kind") == "");
    const RecognisedData arrays = recognised(npz_files(), "a.npz");
    CHECK(arrays.type == "archive");
    CHECK(field(arrays, "test_share") == "");
}

TEST_CASE("how a table is written is told by its first lines") {
    const auto recognised = [](const std::string& name, const std::string& content) {
        const TemporaryFolder folder;
        write_text(folder / name, content);
        return recognise_data(folder / name);
    };
    const RecognisedData semicolons = recognised("a.csv", "1.5;2.5;x\n3.0;4.0;y\n");
    CHECK(field(semicolons, "separator") == "semicolon");
    CHECK(field(semicolons, "test_share") == "0.2");
    const RecognisedData numbers = recognised("a.tsv", "1\t2\t3.5\n4\t5\t6.25\n");
    CHECK(field(numbers, "separator") == "tab");
    CHECK(field(numbers, "header") == "false");
    CHECK(field(numbers, "label_kind") == "values");
    const RecognisedData classes = recognised("a.csv", "a,b\n1,0\n2,1\n3,0\n4,1\n");
    CHECK(field(classes, "label_kind") == "");
    CHECK(field(classes, "header") == "");
    // Each comes once: a measurement in whole numbers.
    CHECK(field(recognised("a.csv", "a,b\n1,10\n2,11\n3,12\n4,13\n"), "label_kind") == "values");
    // The only column of texts that come again is the label, wherever it stands.
    const RecognisedData first =
        recognised("a.csv", "kind,a,b\nx,1,2.5\ny,2,3.5\nx,3,4.5\ny,4,5.5\n");
    CHECK(names_field(first, "label_names") == std::vector<std::string>{"kind"});
    CHECK(field(first, "label_kind") == "");
    const RecognisedData days =
        recognised("a.csv", "day,a,b\nmo,1,2.5\ntu,2,3.5\nwe,3,4.5\nth,4,5.5\n");
    CHECK(names_field(days, "label_names").empty());
    CHECK(names_field(days, "ignored_names") == std::vector<std::string>{"day"});
    const RecognisedData pandas = recognised("a.csv", ",a,b\n0,1.5,x\n1,2.5,y\n2,3.5,x\n3,1.5,y\n");
    CHECK(list_field(pandas, "ignored_columns") == Dims{1});
    CHECK(pandas.remarks.back().find("which has no name, counts the lines") != std::string::npos);
    const RecognisedData counted =
        recognised("a.csv", "year,a,b\n1,1.5,x\n2,2.5,y\n3,3.5,x\n4,1.5,y\n");
    CHECK(list_field(counted, "ignored_columns").empty());
    CHECK(counted.remarks.back().find("`ignored_columns: [1]` leaves it out") != std::string::npos);
    const RecognisedData commas = recognised("a.csv", "a;b;c\n1,5;2;x\n2,25;3;y\n1;2,5;x\n3;4;y\n");
    CHECK(field(commas, "separator") == "semicolon");
    CHECK(field(commas, "decimal") == "comma");
    const RecognisedData mixed = recognised(
        "a.csv",
        "rowId,sold,port,note,empty,age,kind\n1,2024-01-02,S,ab,,20,x\n2,2024-02-03,,cd,,,y\n"
        "3,,C,ef,,30,x\n4,2024-03-04,S,gh,,40,y\n5,2024-04-05,C,ij,,50,x\n");
    CHECK(names_field(mixed, "ignored_names") ==
          std::vector<std::string>{"rowId", "sold", "note", "empty"});
    CHECK(names_field(mixed, "category_names") == std::vector<std::string>{"port"});
    CHECK(names_field(mixed, "label_names").empty());
    CHECK(field(mixed, "missing") == "median");
    CHECK(field(mixed, "missing_indicator") == "true");
    CHECK(mixed.remarks.back().find("`port` in 1 of 5 lines, `age` in 1") != std::string::npos);
    const RecognisedData called =
        recognised("a.csv", "x,Target,y2\n1,0,2.5\n2,1,3.5\n3,0,4\n4,1,5\n");
    CHECK(names_field(called, "label_names") == std::vector<std::string>{"Target"});
    const RecognisedData late = recognised("a.csv", "a,b\n1,1\n3,2\n2,1\n1,2\n");
    CHECK(late.remarks.back().find("class 0 has no samples") != std::string::npos);
    const auto refused = [&](const std::string& name, const std::string& content,
                             const std::string& fact) {
        const TemporaryFolder folder;
        write_text(folder / name, content);
        expect_error(Exit::failed, {name.c_str(), fact.c_str()},
                     [&] { recognise_data(folder / name); });
    };
    refused("a.csv", "", "the table is empty");
    refused("a.csv", "1\n2\n", "one column");
    refused("a.npz", "PK", "not a zip file of arrays");
    refused("a.npz", zip({{"z.npy", npy("|u1", "(1,)", "z")}}), "but `z` of (1)");
    refused(
        "a.npz",
        zip({{"labels.npy", npy("|u1", "(1,)", "z")}, {"images.npy", npy("|u1", "(1,1)", "z")}}),
        "numpy.savez('arrays.npz', x=d['images'], y=d['labels'])");
    // An array that is nobody's may be of any type.
    CHECK(recognised("a.npz", zip({{"names.npy", npy("<U1", "(1,)", "abcd")},
                                   {"x.npy", npy("|u1", "(2,1)", "xx")},
                                   {"y.npy", npy("|u1", "(2,)", "yy")}}))
              .type == "archive");
    refused("a.npz", zip({{"y.npy", npy("<U1", "(1,)", "abcd")}}), "y.npy");
    // Rows of labels: what they are is told by their numbers, whatever their type is.
    const auto kind_of = [&](const std::string& type, const std::string& rows) {
        return field(recognised("a.npz", zip({{"x.npy", npy("|u1", "(2,1)", "xx")},
                                              {"y.npy", npy(type, "(2,2)", rows)}})),
                     "label_kind");
    };
    CHECK(kind_of("|u1", std::string("\1\0\0\1", 4)) == "");
    CHECK(kind_of("|u1", std::string("\1\1\0\1", 4)) == "multiple");
    CHECK(kind_of("<f4", std::string("\0\0\x80\x3f\0\0\0\0\0\0\0\0\0\0\x80\x3f", 16)) == "");
    CHECK(kind_of("<f4", std::string("\0\0\x80\x3f\0\0\0\0\0\0\0\0\0\0\0\x3f", 16)) == "values");
    refused("a.tar", std::string(1024, '\0'), "neither train/CLASS/IMAGE");
    const TemporaryFolder empty;
    std::filesystem::create_directories(empty / "e");
    expect_error(Exit::failed, {"no data of a known form", ".npz"},
                 [&] { recognise_data(empty / "e"); });
    expect_error(Exit::failed, {"is not there"}, [&] { recognise_data(empty / "n"); });
}

}  // namespace find_in_files_test
