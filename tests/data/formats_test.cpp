// Sound datasets of every type: what comes out of them.

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <thread>

#include "plan/rules/label_sequences.hpp"
#include "plan/rules/resident.hpp"
#include "runtime/base/files.hpp"
#include "runtime/data/formats/mat_file.hpp"
#include "runtime/data/formats/text_lines.hpp"
#include "runtime/data/pipeline.hpp"
#include "runtime/data/sample_source.hpp"
#include "tests/data/dataset_files.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/image_files.hpp"

namespace dtnn::runtime::formats_test {
namespace {

struct Loaded {
    std::vector<std::vector<int>> pixels;  ///< the first of each channel, times 255
    std::vector<std::vector<double>> labels;
    std::uint64_t hash = 0;
    bool operator==(const Loaded&) const = default;
};

/// Training samples, then test samples.
Loaded load_all(DatasetFiles files) {
    const TemporaryFolder folder;
    files.write(folder);
    const auto source = open_source(files.dataset);
    CHECK(source->resident_bytes() <= plan::resident_bytes(files.dataset, DType::f32));
    Loaded loaded;
    loaded.hash = source->content_hash();
    Sample sample;
    for (const Split split : {Split::train, Split::test}) {
        for (std::int64_t i = 0; i < source->size(split); ++i) {
            source->load(split, i, sample);
            CHECK(sample.input().floats.size() ==
                  std::size_t(sample.input().dims[0] * sample.input().dims[1] *
                              sample.input().dims[2]));
            std::vector<int> first;
            for (std::int64_t c = 0; c < sample.input().dims[0]; ++c)
                first.push_back(int(std::lround(
                    sample.input()
                        .floats[std::size_t(c * sample.input().dims[1] * sample.input().dims[2])] *
                    255)));
            loaded.pixels.push_back(first);
            loaded.labels.emplace_back(sample.target().integers.begin(),
                                       sample.target().integers.end());
            if (!sample.target().doubles.empty()) loaded.labels.back() = sample.target().doubles;
        }
    }
    return loaded;
}

const std::vector<std::vector<double>> kLabels = {{0}, {0}, {1}, {1}, {2}, {2}, {0}, {1}, {2}};
const std::vector<std::vector<int>> kShades = {{0, 0, 100}, {0, 0, 101}, {0, 100, 0},
                                               {0, 101, 0}, {100, 0, 0}, {101, 0, 0},
                                               {0, 0, 200}, {0, 200, 0}, {200, 0, 0}};

}  // namespace

TEST_CASE("what people leave beside images is passed over, and said") {
    const Members beside = {{"train/README.md", "about"},
                            {"train/blue/Thumbs.db", "small"},
                            {"test/blue/LICENSE", "free"},
                            {"test/blue/.DS_Store", "hidden"}};
    const Loaded wanted = load_all(folder_files());
    const auto check = [&](DatasetFiles files) {
        CHECK(load_all(files) == wanted);
        const TemporaryFolder folder;
        files.write(folder);
        const std::vector<std::string> notes = open_source(files.dataset)->notes();
        REQUIRE(notes.size() == 1);
        CAPTURE(notes.front());
        CHECK(notes.front().find("passed over 3 files that are no images") != std::string::npos);
        for (const char* name : {"train/README.md", "train/blue/Thumbs.db", "test/blue/LICENSE"})
            CHECK(notes.front().find(name) != std::string::npos);
        CHECK(notes.front().find("DS_Store") == std::string::npos);
    };
    DatasetFiles folder = folder_files();
    for (const auto& [name, content] : beside)
        folder.files["d/" + name] = content;
    check(folder);
    for (const char* name : {"a.tar", "a.tar.gz", "a.zip"}) {
        DatasetFiles files = archive_files(name);
        files.members.insert(files.members.begin(), beside.begin(), beside.end());
        check(files);
    }
}

TEST_CASE("numbers of 64 bits arrive as they are where the plan computes in f64") {
    // The samples that a plan's first program would be given: all for training, in their order.
    const auto staged = [](DatasetFiles files, DType dtype, bool flipped = false) {
        const TemporaryFolder folder;
        files.write(folder);
        plan::Plan plan;
        plan.target.dtype = dtype;
        plan.dataset = files.dataset;
        plan.dataset.input().dims = files.dataset.input().stored_dims;
        plan.training.batch_size = files.dataset.train_samples;
        if (flipped) plan.dataset.transforms = {{"centre_crop", {{"size", Dims{2, 2}}}}};
        const auto source = open_source(plan.dataset, Counts::exact, dtype);
        CHECK(source->resident_bytes() <= plan::resident_bytes(plan.dataset, plan.target.dtype));
        Pipeline pipeline(*source, plan, Arrangement(plan.dataset.input().dims, {}));
        const std::vector<std::int64_t> order = {0, 1, 2, 3, 4, 5};
        pipeline.start({.split = Split::train, .order = order, .batch = 6});
        REQUIRE(pipeline.wait() == 6);
        std::vector<double> wide(std::size_t(6 * element_count(plan.dataset.input().dims)));
        if (dtype == DType::f64) {
            pipeline.take({{wide.data()}});
        } else {
            std::vector<float> narrow(wide.size());
            pipeline.take({{narrow.data()}});
            std::copy(narrow.begin(), narrow.end(), wide.begin());
        }
        return wide;
    };
    std::vector<double> exact, rounded;
    for (int i = 0; i < 24; ++i) {
        exact.push_back(i / 24.0);
        rounded.push_back(double(float(i / 24.0)));
    }
    for (const bool deflated : {false, true}) {
        CHECK(staged(npz_files(deflated), DType::f64) == exact);
        CHECK(staged(npz_files(deflated), DType::f32) == rounded);
        // Transforms work in 32 bits.
        CHECK(staged(npz_files(deflated), DType::f64, true) == rounded);
    }
    DatasetFiles table = csv_files();
    table.files["train.csv"] =
        "a,b,kind\n0.1,1e300,x\n-0.1,2,y\n1,0.3333333333333333,z\n3,4,x\n5,6,y\n7,8,z\n";
    table.files["test.csv"] = "a,b,kind\n0,1,x\n2,3,y\n4,5,z\n";
    CHECK(staged(table, DType::f64) ==
          std::vector<double>{0.1, 1e300, -0.1, 2, 1, 1.0 / 3, 3, 4, 5, 6, 7, 8});
    expect_error(Exit::failed, {"train.csv:2", "1e300", "not a finite 32-bit number"},
                 [&] { staged(table, DType::f32); });
}

TEST_CASE("arrays have any number of channels, images one or three") {
    DatasetFiles files = npz_files();
    files.dataset.input().stored_dims = files.dataset.input().dims = {2, 1, 2};
    files.member("x_train.npy")
        .replace(files.member("x_train.npy").find("(6, 1, 2, 2)"), 12, "(6, 2, 1, 2)");
    files.member("x_test.npy")
        .replace(files.member("x_test.npy").find("(3, 1, 2, 2)"), 12, "(3, 2, 1, 2)");
    CHECK(load_all(files).pixels[1] == std::vector<int>{43, 64});
    DatasetFiles images = archive_files("a.tar");
    images.dataset.input().stored_dims = images.dataset.input().dims = {4, 8, 8};
    expect_error(Exit::mismatch, {"4 channels", "1 or 3", ".npz"}, [&] { load_all(images); });
}

TEST_CASE("an image is one by its content where its name does not say so") {
    DatasetFiles files = folder_files();
    const Loaded wanted = load_all(files);
    // Nameless as many data sets have them; and a README that is a picture.
    for (const auto& [from, to] : {std::pair{"d/train/blue/0.png", "d/train/blue/0"},
                                   std::pair{"d/test/blue/9.png", "d/test/blue/README.png"}}) {
        REQUIRE(files.files.contains(from));
        auto moved = files.files.extract(from);
        moved.key() = to;
        files.files.insert(std::move(moved));
    }
    CHECK(load_all(files).pixels == wanted.pixels);
}

TEST_CASE("images are the same samples in folders, tar, tar.gz and zip") {
    const Loaded folder = load_all(folder_files());
    CHECK(folder.labels == kLabels);
    CHECK(folder.pixels == kShades);
    for (const char* name : {"a.tar", "a.tar.gz", "a.zip"}) {
        CAPTURE(name);
        CHECK(load_all(archive_files(name)) == folder);
    }
    DatasetFiles prefixed = archive_files("a.tar");
    for (auto& [path, content] : prefixed.members)
        path = "./cifar/" + path;
    prefixed.members.emplace_back("./cifar/README", "passed over");
    prefixed.members.emplace_back("./cifar/train/.DS_Store", "passed over");
    CHECK(load_all(prefixed) == folder);
    for (const char* name : {"a.tar", "a.zip"}) {
        DatasetFiles named = archive_files(name);
        for (auto& [path, content] : named.members)
            if (const auto at = path.find("red"); at != std::string::npos)
                path.replace(at, 3, "\u8d64");  // red; behind the other classes
        CHECK(load_all(named).pixels == folder.pixels);
    }
    DatasetFiles changed = folder_files();
    changed.files["d/test/red/9.png"] = plain_png(8, 8, 201);
    CHECK(load_all(changed).hash != folder.hash);
}

TEST_CASE(
    "images that do not fit the cache are read where they lie, or refused where they cannot be") {
    DatasetFiles tar_files = archive_files("a.tar");
    tar_files.set("cache", std::int64_t{1} << 20);  // less than a chunk besides the index
    const Loaded there = load_all(tar_files);
    CHECK(there.labels == kLabels);
    CHECK(there.pixels == kShades);
    CHECK(there.hash != load_all(archive_files("a.tar")).hash);
    DatasetFiles in_folder = folder_files();
    in_folder.set("cache", std::int64_t{1} << 20);
    CHECK(load_all(in_folder).pixels == kShades);
    DatasetFiles packed = archive_files("a.tar.gz");
    packed.set("cache", std::int64_t{1000});
    expect_error(Exit::failed, {"a.tar.gz", "9 images", "dataset.cache=", "unpack"},
                 [&] { load_all(packed); });
}

TEST_CASE("images of several sizes and of gray, where the dataset says so") {
    DatasetFiles files = folder_files();
    files.files["d/train/blue/0.png"] = plain_png(5, 9, 1, 2, 3);
    files.dataset.input().stored_dims = {3, 0, 0};
    CHECK(load_all(files).pixels[0] == std::vector<int>{1, 2, 3});
    files = folder_files();
    files.files["d/train/blue/0.png"] =
        png(8, 8, PngColours::gray, std::vector<std::uint8_t>(64, 77));
    CHECK(load_all(files).pixels[0] == std::vector<int>{77, 77, 77});
}

TEST_CASE("several threads load the same samples as one, from memory and from where they lie") {
    std::vector<DatasetFiles> all = {
        archive_files("a.tar"), folder_files(),   npz_files(), csv_files(),
        shard_files(),          chestxray_files()};
    all.push_back(archive_files("a.tar"));
    all.back().set("cache", std::int64_t{1} << 20);
    for (DatasetFiles& files : all) {
        const TemporaryFolder folder;
        files.write(folder);
        const auto source = open_source(files.dataset);
        const std::int64_t samples = source->size(Split::train);
        std::vector<Sample> alone(static_cast<std::size_t>(samples));
        for (std::int64_t i = 0; i < samples; ++i)
            source->load(Split::train, i, alone[std::size_t(i)]);
        std::atomic<int> same{0};
        std::vector<std::thread> threads;
        for (std::int64_t first = 0; first < 4; ++first) {
            threads.emplace_back([&, first] {
                Sample sample;
                for (std::int64_t i = 0; i < 50; ++i) {
                    const std::int64_t index = (first + i) % samples;
                    source->load(Split::train, index, sample);
                    const Sample& other = alone[std::size_t(index)];
                    same += sample.input().floats == other.input().floats &&
                            sample.target().integers == other.target().integers &&
                            sample.target().doubles == other.target().doubles;
                }
            });
        }
        for (std::thread& thread : threads)
            thread.join();
        CHECK(same == 200);
    }
}

TEST_CASE("arrays of an npz file, stored and deflated, with labels of every kind") {
    const Loaded stored = load_all(npz_files());
    CHECK(stored.labels.size() == 9);
    CHECK(stored.labels[1] == std::vector<double>{1});
    CHECK(stored.pixels[1][0] == std::lround(255 * 4 / 24.0));
    CHECK(stored.pixels[8][0] == std::lround(255 * 8 / 12.0));
    const Loaded deflated = load_all(npz_files(true));
    CHECK(deflated.pixels == stored.pixels);
    CHECK(deflated.labels == stored.labels);

    DatasetFiles files = npz_files();
    files.member("x_train.npy") = npy("|u1", "(6, 2, 2)", std::string(24, '\x80'));
    files.member("y_train.npy") =
        npy("<f4", "(6, 3)",
            bytes_of<float>({1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}));  // one-hot
    const Loaded bytes = load_all(files);
    CHECK(bytes.pixels[0][0] == 128);
    CHECK(bytes.labels == stored.labels);

    files = npz_files();
    files.dataset.target().kind = plan::LabelKind::values;
    files.dataset.target().classes = 1;
    files.member("y_train.npy") = npy("<f8", "(6,)", bytes_of<double>({.5, 1, 2, 3, 4, 5}));
    CHECK(load_all(files).labels[0] == std::vector<double>{.5});
    files.dataset.target().kind = plan::LabelKind::multiple;
    files.dataset.target().classes = 2;
    files.member("y_train.npy") = npy("|b1", "(6, 2)", std::string(12, '\1'));
    files.member("y_test.npy") = npy("|b1", "(3, 2)", std::string("\0\1\0\1\0\1", 6));
    CHECK(load_all(files).labels[8] == std::vector<double>{0, 1});
}

TEST_CASE("what is behind the steps of a sample is not read, and its labels do not count") {
    const TemporaryFolder folder;
    DatasetFiles files = length_files();
    files.write(folder);
    const auto source = open_source(files.dataset);
    using Integers = std::vector<std::int32_t>;
    Sample sample;
    source->load(Split::train, 1, sample);
    CHECK(sample.inputs[0].integers == Integers{4, 0, 0, 0});
    CHECK(sample.target().integers == Integers{1, 2, -1, -1});
    CHECK(sample.inputs[1].integers == Integers{2});
    source->load(Split::train, 3, sample);
    CHECK(sample.inputs[0].integers == Integers{2, 3, 4, 0});
    CHECK(sample.target().integers == Integers{0, 1, 2, 0});
    CHECK(source->resident_bytes() <= plan::resident_bytes(files.dataset, DType::f32));
}

TEST_CASE("sequences of labels are rows that end where the labels of a sample do") {
    const TemporaryFolder folder;
    DatasetFiles files = sequence_files();
    files.write(folder);
    const auto source = open_source(files.dataset);
    using Integers = std::vector<std::int32_t>;
    Sample sample;
    source->load(Split::train, 0, sample);
    CHECK(sample.target().integers == Integers{1, 1, 2});
    CHECK(sample.target().dims.empty());
    source->load(Split::train, 3, sample);
    CHECK(sample.target().integers == Integers{-1, -1, -1});
    source->load(Split::test, 1, sample);
    CHECK(sample.target().integers == Integers{2, 3, -1});
    CHECK(source->resident_bytes() <= plan::resident_bytes(files.dataset, DType::f32));
    // Who asks what the files are like knows neither the room nor the blank.
    plan::Dataset asked = files.dataset;
    asked.target().dims = asked.target().stored_dims = {};
    asked.target().classes = 0;
    asked.attributes.erase(plan::kBlank);
    const auto found = open_source(asked, Counts::any);
    CHECK(found->found_classes() == 4);
    CHECK(std::get<std::int64_t>(found->found_attributes().at(plan::kMostLabels)) == 3);
}

TEST_CASE("tables with names, numbers, several labels and values") {
    const Loaded table = load_all(csv_files());
    // setosa, versicolor, virginica: in the order of their names.
    CHECK(table.labels ==
          std::vector<std::vector<double>>{{0}, {2}, {1}, {0}, {0}, {0}, {0}, {2}, {1}});
    CHECK(table.pixels[0] == std::vector<int>{int(std::lround(1.5 * 255)), 2 * 255});
    DatasetFiles files = csv_files();
    files.set("header", false);
    files.set("separator", std::string("semicolon"));
    files.set("label_columns", Dims{1});
    files.dataset.target().classes = 10;
    files.files["train.csv"] =
        "\xEF\xBB\xBF"
        "7;1;2\n0;3;4\n1;1;1\n2;1;1\n3;1;1\n9;1;1";
    files.files["test.csv"] = gzip("4;1;2\n5;1;2\n6;1;2\n\n");
    CHECK(load_all(files).labels[0] == std::vector<double>{7});
    CHECK(load_all(files).labels[6] == std::vector<double>{4});
    files.dataset.target().kind = plan::LabelKind::values;
    files.dataset.target().classes = 2;
    files.dataset.input().stored_dims = files.dataset.input().dims = {1, 1, 1};
    files.set("label_columns", Dims{3, 1});
    CHECK(load_all(files).labels[0] == std::vector<double>{2, 7});
}

TEST_CASE("columns of the test table go by the names that the training table has") {
    DatasetFiles files = csv_files();
    const Loaded as_they_are = load_all(files);
    files.files["test.csv"] =
        "kind,note,width,length\nsetosa,x,1,0\nvirginica,y,3,2\nversicolor,,5,4\n";
    const Loaded moved = load_all(files);
    CHECK(moved.pixels == as_they_are.pixels);
    CHECK(moved.labels == as_they_are.labels);
    const TemporaryFolder folder;
    files.files["test.csv"] = "length,breadth,kind\n0,1,setosa\n2,3,virginica\n4,5,versicolor\n";
    files.write(folder);
    expect_error(Exit::failed,
                 {"test.csv:1", "no column is called `width`", "train.csv", "breadth"},
                 [&] { open_source(files.dataset); });
}

TEST_CASE("columns that are left out, decimal commas, and empty lines at the end of a table") {
    DatasetFiles files = csv_files();
    const Loaded plain = load_all(files);
    files.set("separator", std::string("semicolon"));
    files.set("decimal", std::string("comma"));
    files.set("ignored_columns", Dims{1, -2});
    files.files["train.csv"] =
        "id;length;width;note;kind\n1;1,5;2;x;setosa\n2;-1e-3;4;y;virginica\n"
        "3;1;2,0;z;versicolor\n4;3;4;;setosa\n5;5;6;;setosa\n6;7;8;;setosa\n\n\n";
    files.files["test.csv"] =
        "id;length;width;note;kind\n7;0;1;;setosa\n8;2;3;;virginica\n9;4;5;;versicolor\n\r\n";
    CHECK(load_all(files).pixels == plain.pixels);
    CHECK(load_all(files).labels == plain.labels);
    files.dataset.attributes.erase("ignored_columns");
    files.dataset.ignored_names = {"note", "id"};
    CHECK(load_all(files).pixels == plain.pixels);
    const auto refused = [&](const char* fact, const char* help) {
        const TemporaryFolder folder;
        DatasetFiles broken = files;
        broken.write(folder);
        expect_error(Exit::failed, {"train.csv", fact, help}, [&] { open_source(broken.dataset); });
    };
    files.dataset.ignored_names = {"note", "number"};
    refused("no column is called `number`", "dataset.ignored_names");
    files.dataset.ignored_names = {"note", "id"};
    files.set("decimal", std::string("point"));
    refused("`1,5`, not a number", "decimal: comma");
    files.set("decimal", std::string("comma"));
    files.files["train.csv"].replace(files.files["train.csv"].find("1,5"), 3, "1.5");
    refused("`1.5`, not a number", "`decimal: comma`; without it a point is read");
}

TEST_CASE("lines of tables end in LF, CR LF or CR") {
    DatasetFiles files = csv_files();
    const Loaded plain = load_all(files);
    const auto with_ends = [&](const std::string& end, bool last) {
        DatasetFiles other = files;
        for (auto& [name, text] : other.files) {
            std::string ended;
            for (const char c : text)
                if (c != '\r') ended += c == '\n' ? end : std::string(1, c);
            if (!last) ended.resize(ended.size() - end.size());
            text = ended;
        }
        return other;
    };
    for (const char* end : {"\n", "\r\n", "\r"}) {
        for (const bool last : {true, false}) {
            CAPTURE(last);
            const Loaded loaded = load_all(with_ends(end, last));
            CHECK(loaded == plain);
        }
    }
    DatasetFiles packed = with_ends("\r", true);
    for (auto& [name, text] : packed.files)
        text = gzip(text);
    CHECK(load_all(packed) == plain);
    // Places are counted by such lines, too.
    const auto refused = [&](DatasetFiles broken, const char* place) {
        const TemporaryFolder folder;
        broken.write(folder);
        expect_error(Exit::failed, {place}, [&] { open_source(broken.dataset); });
    };
    DatasetFiles hole = with_ends("\r", true);
    hole.files["train.csv"].insert(hole.files["train.csv"].find('\r') + 1, "\r");
    refused(hole, "train.csv:2");
    // A CR ends no line where the first line ends in LF.
    DatasetFiles mixed = files;
    std::string& text = mixed.files["train.csv"];
    text[text.find('\n', text.find('\n') + 1)] = '\r';
    refused(mixed, "train.csv:2");
}

TEST_CASE("the end of the first line may be cut in two where the file is read in pieces") {
    const TemporaryFolder folder;
    constexpr std::size_t kPiece = std::size_t{256} << 10;  // of text_lines.cpp
    for (const std::size_t length : {kPiece - 2, kPiece - 1, kPiece, kPiece + 1}) {
        CAPTURE(length);
        for (const char* end : {"\n", "\r\n", "\r"}) {
            const std::string path = folder / "lines";
            write_file(path, std::string(length, 'x') + end + "second" + end);
            TextLines lines(path);
            std::string_view line;
            REQUIRE(lines.next(line));
            CHECK(line.size() == length);
            REQUIRE(lines.next(line));
            CHECK(line == "second");
            CHECK_FALSE(lines.next(line));
            CHECK(lines.number() == 2);
        }
        // A file that a CR ends, and nothing else.
        write_file(folder / "one", std::string(length, 'x') + "\r");
        TextLines lines(folder / "one");
        std::string_view line;
        REQUIRE(lines.next(line));
        CHECK(line.size() == length);
        CHECK_FALSE(lines.next(line));
    }
}

TEST_CASE("imagenet from its tars, its folders and shards") {
    const Loaded tars = load_all(imagenet_files());
    CHECK(tars.labels == kLabels);
    CHECK(tars.pixels == kShades);
    DatasetFiles folders = imagenet_files();
    folders.files.clear();
    const DatasetFiles images = folder_files();
    for (const auto& [path, content] : images.files) {
        std::string name = path;
        const std::size_t at = name.find("d/test/");
        if (at == 0) name.replace(0, 7, "d/val/");
        folders.files[name] = content;
    }
    CHECK(load_all(folders).pixels == kShades);
    const Loaded shards = load_all(shard_files());
    CHECK(shards.labels ==
          std::vector<std::vector<double>>{{0}, {1}, {2}, {0}, {1}, {2}, {2}, {1}, {0}});
    CHECK(shards.pixels[5] == std::vector<int>{'x', 'x', 'x'});
}

TEST_CASE("the devkit's table of synsets, compressed or not") {
    for (const bool compressed : {false, true}) {
        const auto synsets = read_synsets(synsets_file({"n02", "n01440764"}, compressed), "meta");
        REQUIRE(synsets.size() == 2);
        CHECK(synsets.at(1) == "n02");
        CHECK(synsets.at(2) == "n01440764");
    }
}

TEST_CASE("chest X-rays have a bit for each finding, out of folders and archives") {
    const Loaded loaded = load_all(chestxray_files());
    CHECK(loaded.pixels == std::vector<std::vector<int>>{{1}, {3}, {2}, {4}});
    std::vector<double> findings(15, 0);
    findings[1] = findings[4] = 1;  // Cardiomegaly, Effusion
    CHECK(loaded.labels[0] == findings);
    findings.assign(15, 0);
    findings[10] = 1;  // No Finding
    CHECK(loaded.labels[2] == findings);
}

}  // namespace dtnn::runtime::formats_test
