#include "tests/data/dataset_files.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <zlib.h>

#include <filesystem>
#include <tuple>

#include "plan/rules/label_sequences.hpp"
#include "plan/rules/lengths.hpp"
#include "tests/unit/runtime/image_files.hpp"

namespace dtnn::runtime {
namespace {

const std::vector<std::string> kClasses = {"blue", "green", "red"};

std::string big(std::uint32_t value) {
    return {char(value >> 24), char(value >> 16), char(value >> 8), char(value)};
}

std::string image(std::size_t label, int shade) {
    std::uint8_t colour[3] = {0, 0, 0};
    colour[2 - label] = std::uint8_t(shade);
    return plain_png(8, 8, colour[0], colour[1], colour[2]);
}

Members class_images(const std::string& test_folder) {
    Members members;
    for (std::size_t label = 0; label < kClasses.size(); ++label) {
        for (int i = 0; i < 2; ++i)
            members.emplace_back(fmt::format("train/{}/{}.png", kClasses[label], i),
                                 image(label, 100 + i));
        members.emplace_back(fmt::format("{}/{}/9.png", test_folder, kClasses[label]),
                             image(label, 200));
    }
    return members;
}

std::string little(std::uint32_t value) {
    return {char(value), char(value >> 8), char(value >> 16), char(value >> 24)};
}

std::string mat_element(std::uint32_t type, const std::string& data) {
    if (!data.empty() && data.size() <= 4) {
        std::string small = data;
        small.resize(4, '\0');
        return little(type | std::uint32_t(data.size()) << 16) + small;
    }
    return little(type) + little(std::uint32_t(data.size())) + data +
           std::string((8 - data.size() % 8) % 8, '\0');
}

std::string mat_matrix(std::uint32_t array_class, std::uint32_t rows, std::uint32_t columns,
                       const std::string& name, const std::string& rest) {
    return mat_element(14, mat_element(6, little(array_class) + little(0)) +
                               mat_element(5, little(rows) + little(columns)) +
                               mat_element(1, name) + rest);
}

}  // namespace

std::string synsets_file(const std::vector<std::string>& synsets, bool compressed) {
    std::string names;
    for (std::string field : {"ILSVRC2012_ID", "WNID"}) {
        field.resize(16, '\0');
        names += field;
    }
    std::string rest = mat_element(5, little(16)) + mat_element(1, names);
    for (std::size_t i = 0; i < synsets.size(); ++i) {
        const double id = double(i + 1);
        std::string wide;
        for (const char c : synsets[i])
            wide += std::string{c, '\0'};
        rest += mat_matrix(6, 1, 1, "",
                           mat_element(9, {reinterpret_cast<const char*>(&id), sizeof id}));
        rest += mat_matrix(4, 1, std::uint32_t(synsets[i].size()), "", mat_element(4, wide));
    }
    std::string array = mat_matrix(2, std::uint32_t(synsets.size()), 1, "synsets", rest);
    if (compressed) {
        uLongf size = compressBound(array.size());
        std::string packed(size, '\0');
        REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                         reinterpret_cast<const Bytef*>(array.data()), array.size()) == Z_OK);
        packed.resize(size);
        array = little(15) + little(std::uint32_t(size)) + packed;
    }
    std::string header = "MATLAB 5.0 MAT-file";
    header.resize(124, ' ');
    return header + std::string("\0\1IM", 4) + array;
}

DatasetFiles dataset_of_type(const std::string& type, const std::string& path, const Dims& shape,
                             std::int64_t classes, std::int64_t train, std::int64_t test) {
    DatasetFiles result;
    result.dataset.name = type;
    result.dataset.type = type;
    result.dataset.input().dims = shape;
    result.dataset.input().stored_dims = shape;
    result.dataset.target().classes = classes;
    result.dataset.train_samples = result.dataset.source_train_samples = train;
    result.dataset.test_samples = test;
    result.set("path", path);
    result.set("cache", std::int64_t{4} << 20);
    result.set("most_pixels", std::int64_t{1} << 20);
    result.set("label_kind", std::string("classes"));
    return result;
}

std::string& DatasetFiles::member(const std::string& path) {
    for (auto& [name, content] : members)
        if (name == path) return content;
    return members.emplace_back(path, "").second;
}

void DatasetFiles::write(const TemporaryFolder& folder) {
    for (const char* attribute : {"path", "test_path"}) {
        if (!dataset.attributes.contains(attribute)) continue;
        const std::string name = std::get<std::string>(dataset.attributes.at(attribute));
        if (std::string(attribute) == "path" && !members.empty() && !files.contains(name)) {
            files[name] = name.ends_with(".gz")    ? gzip(tar(members))
                          : name.ends_with(".zip") ? zip(members)
                          : name.ends_with(".npz") ? zip(members)
                                                   : tar(members);
        }
        set(attribute, folder / name);
    }
    for (const auto& [name, content] : files) {
        const std::filesystem::path path = folder / name;
        std::filesystem::create_directories(path.parent_path());
        write_text(path.string(), content);
    }
}

DatasetFiles mnist_files() {
    DatasetFiles result = dataset_of_type("mnist", "d", {1, 28, 28}, 10, 6, 3);
    for (const auto& [prefix, samples] : {std::pair{"train", 6u}, std::pair{"t10k", 3u}}) {
        std::string labels;
        for (std::uint32_t i = 0; i < samples; ++i)
            labels += char(i);
        const std::string name = std::string("d/") + prefix;
        result.files[name + "-images-idx3-ubyte"] =
            big(0x803) + big(samples) + big(28) + big(28) + std::string(samples * 784, 'x');
        result.files[name + "-labels-idx1-ubyte"] = big(0x801) + big(samples) + labels;
    }
    return result;
}

DatasetFiles cifar_files() {
    DatasetFiles result = dataset_of_type("cifar10", "d", {3, 32, 32}, 10, 10, 2);
    for (const char* name : {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4",
                             "data_batch_5", "test_batch"})
        result.files[std::string("d/") + name + ".bin"] =
            '\1' + std::string(3072, 'a') + '\2' + std::string(3072, 'b');
    return result;
}

DatasetFiles cifar100_files() {
    DatasetFiles result = dataset_of_type("cifar100", "d", {3, 32, 32}, 100, 4, 2);
    for (const auto& [name, count] : {std::pair{"d/train.bin", 4}, {"d/test.bin", 2}})
        for (int i = 0; i < count; ++i)  // of one coarse class and the fine class i
            result.files[name] += '\1' + std::string(1, char(i)) + std::string(3072, 'a');
    return result;
}

DatasetFiles folder_files() {
    DatasetFiles result = dataset_of_type("folder", "d", {3, 8, 8}, 3, 6, 3);
    for (const auto& [path, content] : class_images("test"))
        result.files["d/" + path] = content;
    return result;
}

DatasetFiles archive_files(const std::string& name) {
    DatasetFiles result = dataset_of_type("archive", name, {3, 8, 8}, 3, 6, 3);
    result.members = class_images("test");
    return result;
}

DatasetFiles npz_files(bool deflated) {
    DatasetFiles result = dataset_of_type("archive", "a.npz", {1, 2, 2}, 3, 6, 3);
    std::vector<double> train, test;
    for (int i = 0; i < 24; ++i)
        train.push_back(i / 24.0);
    for (int i = 0; i < 12; ++i)
        test.push_back(i / 12.0);
    result.members = {
        {"x_train.npy", npy("<f8", "(6, 1, 2, 2)", bytes_of(train))},
        {"y_train.npy", npy("<i8", "(6,)", bytes_of<std::int64_t>({0, 1, 2, 0, 1, 2}))},
        {"x_test.npy", npy("<f8", "(3, 1, 2, 2)", bytes_of(test))},
        {"y_test.npy", npy("<i8", "(3,)", bytes_of<std::int64_t>({0, 1, 2}))}};
    if (deflated) result.files["a.npz"] = zip(result.members, true);
    return result;
}

DatasetFiles csv_files() {
    DatasetFiles result = dataset_of_type("csv", "train.csv", {2, 1, 1}, 3, 6, 3);
    result.set("test_path", std::string("test.csv"));
    result.set("label_columns", Dims{-1});
    result.set("header", true);
    result.set("separator", std::string("comma"));
    result.files["train.csv"] =
        "length,width,kind\n1.5,2,setosa\n-1e-3, 4 ,virginica\n1,2,\"versicolor\"\r\n"
        "3,4,setosa\n5,6,setosa\n7,8,setosa\n";
    result.files["test.csv"] = "length,width,kind\n0,1,setosa\n2,3,virginica\n4,5,versicolor\n";
    return result;
}

namespace {

DatasetFiles next_tokens(const std::string& type, const std::string& path, std::int64_t classes,
                         std::int64_t train, std::int64_t test) {
    DatasetFiles result = dataset_of_type(type, path, {4}, classes, train, test);
    result.set("steps", std::int64_t{4});
    plan::Feature& input = result.dataset.input();
    input.axes = {AxisKind::step};
    input.kind = plan::LabelKind::classes;
    input.classes = classes;
    plan::label_places(input, result.dataset.target());
    return result;
}

}  // namespace

DatasetFiles text_files() {
    DatasetFiles result = next_tokens("text", "d", 8, 6, 2);
    result.set("test_path", std::string("test.txt"));
    result.set("unit", std::string("character"));
    result.files["d/a.txt"] = "abcd ef\u00fcab cd";  // 13 characters: three samples
    result.files["d/b.txt"] = "fedcba fedcba";
    result.files["test.txt"] = "fedcb a\u00fc f";
    for (const char* name : {" ", "a", "b", "c", "d", "e", "f", "\u00fc"})
        result.dataset.target().names.emplace_back(name);
    return result;
}

DatasetFiles token_files() {
    DatasetFiles result = next_tokens("tokens", "train.bin", 50, 5, 2);
    result.set("test_path", std::string("test.bin"));
    result.set("item", std::string("u16"));
    for (const auto& [name, tokens] : {std::pair{"train.bin", 22}, std::pair{"test.bin", 9}})
        for (int i = 0; i < tokens; ++i)
            result.files[name] += std::string{char(2 * i), '\0'};
    return result;
}

DatasetFiles series_files() {
    DatasetFiles result = dataset_of_type("series", "series.csv", {3, 2}, 2, 2, 3);
    plan::Dataset& dataset = result.dataset;
    dataset.input().axes = {AxisKind::step, AxisKind::feature};
    dataset.target().kind = plan::LabelKind::values;
    dataset.validation_files = true;
    dataset.validation_samples = 3;
    dataset.source_train_samples = 5;
    dataset.ignored_names = {"time"};
    dataset.label_names = {"load"};
    result.set("group_name", std::string("sensor"));
    for (const auto& [name, value] :
         {std::pair{"window", 3}, {"horizon", 2}, {"stride", 1}, {"features", 2}, {"rows", 20}})
        result.set(name, std::int64_t{value});
    result.set("test_share", 0.25);
    result.set("validation_share", 0.25);
    result.set("header", true);
    result.set("separator", std::string("comma"));
    std::string& text = result.files["series.csv"] = "time,load,sensor,heat\n";
    for (const auto& [sensor, first, lines] :
         {std::tuple{"north", 0, 12}, std::tuple{"south", 100, 8}})
        for (int i = 0; i < lines; ++i)
            text += fmt::format("2024-01-{:02},{},{},{}\n", i + 1, first + i, sensor,
                                (first + i) / 4.0);
    return result;
}

DatasetFiles segmentation_files() {
    DatasetFiles result = dataset_of_type("segmentation", "d", {3, 4, 6}, 3, 4, 2);
    result.dataset.target().dims = {4, 6};
    result.set("image_folder", std::string("images"));
    result.set("mask_folder", std::string("masks"));
    int number = 0;
    for (const auto& [split, count] : {std::pair{"train", 4}, std::pair{"test", 2}}) {
        for (int i = 0; i < count; ++i, ++number) {
            std::vector<std::uint8_t> pixels(4 * 6 * 3), labels(4 * 6);
            for (std::size_t at = 0; at < labels.size(); ++at) {
                // The third column says which image it is.
                labels[at] = std::uint8_t(at % 6 == 2 ? std::size_t(number % 3) : at % 3);
                pixels[3 * at] = std::uint8_t(100 * labels[at] + number);
            }
            const std::string folder = fmt::format("d/{}/", split);
            result.files[fmt::format("{}images/x{}.png", folder, i)] =
                png(4, 6, PngColours::rgb, pixels);
            result.files[fmt::format("{}masks/x{}.png", folder, i)] =
                png(4, 6, i % 2 == 0 ? PngColours::gray : PngColours::palette, labels);
        }
    }
    return result;
}

DatasetFiles pixel_files() {
    DatasetFiles result = dataset_of_type("archive", "a.npz", {1, 2, 3}, 3, 4, 2);
    result.dataset.target().dims = {2, 3};
    const auto arrays = [&](const char* split, int samples) {
        std::string pixels, labels;
        for (int i = 0; i < samples * 6; ++i) {
            pixels += char(i);
            labels += char(i % 3);
        }
        result.members.emplace_back(fmt::format("x_{}.npy", split),
                                    npy("|u1", fmt::format("({}, 1, 2, 3)", samples), pixels));
        result.members.emplace_back(fmt::format("y_{}.npy", split),
                                    npy("|u1", fmt::format("({}, 2, 3)", samples), labels));
    };
    arrays("train", 4);
    arrays("test", 2);
    return result;
}

DatasetFiles length_files() {
    DatasetFiles result = dataset_of_type("archive", "a.npz", {4}, 3, 4, 2);
    plan::Feature& input = result.dataset.input();
    input.name = "ids";
    input.axes = {AxisKind::step};
    input.stored_dims = input.dims;
    input.kind = plan::LabelKind::classes;
    input.classes = 5;
    plan::label_places(input, result.dataset.target());
    result.dataset.inputs.push_back(plan::a_length("n", 4));
    result.set("lengths", std::string("n"));
    for (const auto& [split, samples] : {std::pair{"train", 4}, std::pair{"test", 2}}) {
        std::string ids, labels, lengths;
        for (int i = 0; i < samples * 4; ++i) {
            const bool there = i % 4 <= i / 4 % 4;
            ids += char(there ? i % 5 : -9);
            labels += char(there ? i % 3 : 77);
        }
        for (int i = 0; i < samples; ++i)
            lengths += char(i % 4 + 1);
        result.members.emplace_back(fmt::format("ids_{}.npy", split),
                                    npy("|i1", fmt::format("({}, 4)", samples), ids));
        result.members.emplace_back(fmt::format("y_{}.npy", split),
                                    npy("|i1", fmt::format("({}, 4)", samples), labels));
        result.members.emplace_back(fmt::format("n_{}.npy", split),
                                    npy("|u1", fmt::format("({},)", samples), lengths));
    }
    return result;
}

DatasetFiles sequence_files() {
    DatasetFiles result = dataset_of_type("archive", "a.npz", {4}, 4, 4, 2);
    plan::Feature& input = result.dataset.input();
    input.name = "ids";
    input.axes = {AxisKind::step};
    input.stored_dims = input.dims;
    input.kind = plan::LabelKind::classes;
    input.classes = 5;
    plan::Feature& target = result.dataset.target();
    target.kind = plan::LabelKind::sequence;
    target.dims = {3};
    target.stored_dims = {4};
    target.axes = {AxisKind::step};
    result.dataset.inputs.push_back(plan::a_length("n", 4));
    result.set("lengths", std::string("n"));
    result.set("ignored_value", std::int64_t{-1});
    result.set(plan::kBlank, std::int64_t{0});
    const auto add = [&](const std::string& split, int samples, const char* labels,
                         const char* lengths) {
        result.members.emplace_back(
            "ids_" + split + ".npy",
            npy("|i1", fmt::format("({}, 4)", samples), std::string(std::size_t(4 * samples), 2)));
        result.members.emplace_back(
            "y_" + split + ".npy",
            npy("|i1", fmt::format("({}, 3)", samples), std::string(labels, labels + 3 * samples)));
        result.members.emplace_back("n_" + split + ".npy",
                                    npy("|u1", fmt::format("({},)", samples), lengths));
    };
    add("train", 4, "\1\1\2\3\377\377\1\1\377\377\377\377", "\4\2\3\1");
    add("test", 2, "\1\2\3\2\3\377", "\4\2");
    return result;
}

DatasetFiles imagenet_files() {
    DatasetFiles result = dataset_of_type("imagenet", "d", {3, 8, 8}, 3, 6, 3);
    // IDs are not in the order of the synsets' names.
    const std::vector<std::string> synsets = {"n03", "n01", "n02"};
    std::string outer, validation;
    for (const char* synset : {"n02", "n01", "n03"}) {
        const std::size_t label = std::size_t(synset[2] - '1');
        Members images;
        for (int i = 0; i < 2; ++i)
            images.emplace_back(fmt::format("{}_{}.JPEG", synset, i), image(label, 100 + i));
        outer += tar_member(std::string(synset) + ".tar", tar(images));
    }
    for (int i = 3; i >= 1; --i)  // image i is of the synset with the ID i
        validation += tar_member(fmt::format("ILSVRC2012_val_{:08}.JPEG", i),
                                 image(std::size_t(synsets[std::size_t(i - 1)][2] - '1'), 200));
    result.files["d/ILSVRC2012_img_train.tar"] = outer + std::string(1024, '\0');
    result.files["d/ILSVRC2012_img_val.tar"] = validation + std::string(1024, '\0');
    result.files["d/ILSVRC2012_devkit_t12.tar.gz"] =
        gzip(tar({{"kit/data/meta.mat", synsets_file(synsets, true)},
                  {"kit/data/ILSVRC2012_validation_ground_truth.txt", "1\n2\n3\n"}}));
    return result;
}

DatasetFiles shard_files() {
    DatasetFiles result = dataset_of_type("imagenet", "d", {3, 2, 2}, 3, 6, 3);
    const auto shard = [](int samples, const std::string& labels) {
        return zip({{"x.npy", npy("|u1", fmt::format("({}, 3, 2, 2)", samples),
                                  std::string(std::size_t(samples) * 12, 'x'))},
                    {"y.npy", npy("|u1", fmt::format("({}, 1)", samples), labels)}});
    };
    result.files["d/train/0.npz"] = shard(4, "\1\2\3\1");
    result.files["d/train/1.npz"] = shard(2, "\2\3");
    result.files["d/val/0.npz"] = shard(3, "\3\2\1");
    return result;
}

DatasetFiles chestxray_files() {
    DatasetFiles result = dataset_of_type("chestxray", "d", {1, 8, 8}, 15, 2, 2);
    result.dataset.target().kind = plan::LabelKind::multiple;
    result.files["d/Data_Entry_2017_v2020.csv"] =
        "Image Index,Finding Labels,Follow-up #\na.png,Cardiomegaly|Effusion,0\nb.png,No "
        "Finding,1\nc.png,Hernia,0\nd.png,Atelectasis|Pneumothorax,0\n";
    result.files["d/train_val_list.txt"] = "a.png\nc.png\n";
    result.files["d/test_list.txt"] = "b.png\nd.png\n";
    const auto gray = [](std::uint8_t shade) {
        return png(8, 8, PngColours::gray, std::vector<std::uint8_t>(64, shade));
    };
    result.files["d/images_001/images/a.png"] = gray(1);
    result.files["d/images_002.tar.gz"] = gzip(tar({{"images/b.png", gray(2)}}));
    result.files["d/images_003.tar"] = tar({{"images/c.png", gray(3)}, {"images/d.png", gray(4)}});
    return result;
}

}  // namespace dtnn::runtime
