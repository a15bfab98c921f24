#include "tests/data/bad_cases.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

namespace dtnn::runtime {
namespace {

namespace fs = std::filesystem;

std::function<DatasetFiles()> packed(const char* name) {
    return [name] { return archive_files(name); };
}
std::function<DatasetFiles()> arrays(bool deflated = false) {
    return [deflated] { return npz_files(deflated); };
}

void cut(std::string& file, std::size_t bytes) {
    file.resize(file.size() - bytes);
}

/// Cuts a file of the dataset off by some bytes.
std::function<void(DatasetFiles&)> cut_file(const char* name, std::size_t bytes) {
    return [=](DatasetFiles& files) { cut(files.files.at(name), bytes); };
}
std::function<void(DatasetFiles&)> set_file(const char* name, const std::string& content) {
    return [=](DatasetFiles& files) { files.files[name] = content; };
}
std::function<void(DatasetFiles&)> remove_file(const char* name) {
    return [=](DatasetFiles& files) { REQUIRE(files.files.erase(name) == 1); };
}
std::function<void(DatasetFiles&)> add_member(const char* path, const std::string& content) {
    return [=](DatasetFiles& files) { files.members.emplace_back(path, content); };
}
std::function<void(DatasetFiles&)> set_member(const char* path, const std::string& content) {
    return [=](DatasetFiles& files) { files.member(path) = content; };
}
/// A tar with one more member of any type.
std::function<void(DatasetFiles&)> add_raw(const std::string& member) {
    return [=](DatasetFiles& files) { files.files["a.tar"] = member + tar(files.members); };
}
void nothing(DatasetFiles&) {}

/// A PNG whose header claims other extents; the checksum is right.
std::string png_of_size(std::uint32_t width, std::uint32_t height) {
    std::string file = plain_png(8, 8, 1);
    const auto put = [&](std::size_t at, std::uint32_t value) {
        for (int i = 0; i < 4; ++i)
            file[at + std::size_t(i)] = char(value >> (24 - 8 * i));
    };
    put(16, width);
    put(20, height);
    std::uint32_t crc = 0xFFFFFFFF;
    for (std::size_t at = 12; at < 29; ++at) {
        crc ^= std::uint8_t(file[at]);
        for (int bit = 0; bit < 8; ++bit)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    put(29, ~crc);
    return file;
}

std::string spoiled(std::string text, std::size_t at) {
    text[at] = char(text[at] ^ 0x40);
    return text;
}

std::string noise(std::size_t size) {
    std::string bytes(size, '\0');
    std::uint32_t state = 1;
    for (char& byte : bytes)
        byte = char((state = state * 1664525 + 1013904223) >> 24);
    return bytes;
}

const std::string kPhoto = jpeg(8, 8, 3, std::vector<std::uint8_t>(192, 9));
const char* const kBlue = "d/train/blue/0.png";

}  // namespace

const std::vector<BadCase>& bad_cases() {
    static const std::vector<BadCase> list = {
        // IDX
        {"an IDX file that is cut off", mnist_files, cut_file("d/train-images-idx3-ubyte", 100),
         "train-images-idx3-ubyte", "bytes"},
        {"an IDX file with another magic number", mnist_files,
         set_file("d/t10k-images-idx3-ubyte", std::string("\0\0\x0D\3", 4) + std::string(2368, 0)),
         "t10k-images", "magic number"},
        {"an IDX label out of range", mnist_files,
         [](DatasetFiles& files) { files.files["d/train-labels-idx1-ubyte"][10] = 10; },
         "train-labels", "sample 2 is 10"},
        {"an IDX file with another count", mnist_files,
         [](DatasetFiles& files) { files.dataset.source_train_samples = 7; }, "train-images",
         "6 samples", Exit::mismatch},
        {"no IDX file", mnist_files, remove_file("d/t10k-labels-idx1-ubyte"), "t10k-labels",
         "neither"},
        {"a gzip IDX file with a bad checksum", mnist_files,
         [](DatasetFiles& files) {
             std::string packed_file = gzip(files.files.at("d/train-images-idx3-ubyte"));
             files.files.erase("d/train-images-idx3-ubyte");
             files.files["d/train-images-idx3-ubyte.gz"] =
                 spoiled(packed_file, packed_file.size() - 6);
         },
         "train-images-idx3-ubyte.gz", "corrupt"},
        {"a pipe in place of an IDX file", mnist_files, remove_file("d/train-images-idx3-ubyte"),
         "train-images-idx3-ubyte", "a pipe", Exit::failed,
         [](const TemporaryFolder& folder) {
             REQUIRE(mkfifo((folder / "d/train-images-idx3-ubyte").c_str(), 0600) == 0);
         }},
        // CIFAR
        {"a CIFAR file that is cut off", cifar_files, cut_file("d/data_batch_2.bin", 10),
         "data_batch_2.bin", "records"},
        {"a CIFAR label out of range", cifar_files,
         [](DatasetFiles& files) { files.files["d/test_batch.bin"][3073] = 77; }, "test_batch.bin",
         "record 1 is 77"},
        {"CIFAR files with another count", cifar_files,
         [](DatasetFiles& files) { files.dataset.source_train_samples = 50; }, "/d",
         "10 training", Exit::mismatch},
        {"no CIFAR at all", cifar_files, [](DatasetFiles& files) { files.files.clear(); }, "/d",
         "not there"},
        {"a CIFAR archive with a file twice", cifar_files,
         [](DatasetFiles& files) {
             for (const auto& [path, content] : files.files)
                 files.members.emplace_back(path, content);
             files.members.emplace_back("e/data_batch_1.bin", files.members[0].second);
             files.files.clear();
             files.set("path", std::string("c.tar.gz"));
         },
         "e/data_batch_1.bin", "two of data_batch_1.bin"},
        {"a CIFAR archive without a file", cifar_files,
         [](DatasetFiles& files) {
             files.members = {{"data_batch_1.bin", files.files["d/data_batch_1.bin"]}};
             files.files.clear();
             files.set("path", std::string("c.tar"));
         },
         "c.tar", "no data_batch_2.bin"},
        {"a CIFAR-100 file that is cut off", cifar100_files, cut_file("d/train.bin", 10), "train.bin",
         "records"},
        {"a fine CIFAR-100 label out of range", cifar100_files,
         [](DatasetFiles& files) { files.files["d/test.bin"][1] = 100; }, "test.bin",
         "record 0 is 100"},
        {"CIFAR-100 without its test file", cifar100_files,
         [](DatasetFiles& files) { files.files.erase("d/test.bin"); }, "test.bin", "No such file"},
        // Images in folders
        {"a text file named .jpg", folder_files,
         set_file("d/train/blue/0.png", "this is no image at all"), "train/blue/0.png",
         "neither JPEG nor PNG; it begins with `this is `"},
        {"a text among the images", folder_files, set_file("d/train/blue/notes.txt", "to be sorted"),
         "d/train/blue/notes.txt", "no image"},
        {"a text among the images of an archive", packed("a.tar"),
         add_member("train/blue/notes.txt", "to be sorted"), "train/blue/notes.txt", "no image"},
        {"a text among the images of a compressed archive", packed("a.tar.gz"),
         add_member("train/blue/notes.txt", "to be sorted"), "train/blue/notes.txt", "no image"},
        {"a table among the images, counted as one", folder_files,
         [](DatasetFiles& files) {
             files.files["d/test/blue/labels.csv"] = "0.png,blue";
             files.dataset.test_samples += 1;
         },
         "d/test/blue/labels.csv", "no image"},
        {"a class folder with nothing but a README", folder_files,
         [](DatasetFiles& files) { files.files["d/train/pink/README"] = "nothing here yet"; },
         "train/pink", "is empty"},
        {"an empty file", folder_files, set_file("d/train/blue/0.png", ""), "train/blue/0.png",
         "is empty"},
        {"a PNG that is cut off", folder_files, cut_file(kBlue, 20), "blue/0.png", "PNG data"},
        {"a JPEG that is cut off", folder_files,
         set_file(kBlue, kPhoto.substr(0, kPhoto.size() - 30)), "blue/0.png", "JPEG data"},
        {"a JPEG of which only the beginning is there", folder_files,
         set_file(kBlue, kPhoto.substr(0, 4)), "blue/0.png", "JPEG data"},
        {"a PNG with a bad checksum", folder_files,
         [](DatasetFiles& files) {
             std::string& file = files.files.at(kBlue);
             file = spoiled(file, file.find("IDAT") + 6);
         },
         "blue/0.png", "PNG data"},
        {"a PNG of absurd extents", folder_files,
         [](DatasetFiles& files) {
             files.dataset.input().stored_dims = {3, 0, 0};
             files.files[kBlue] = png_of_size(2'000'000'000, 2'000'000'000);
         },
         "blue/0.png", "2000000000 x 2000000000"},
        {"a PNG without pixels", folder_files, set_file(kBlue, png_of_size(0, 8)), "blue/0.png",
         "PNG data"},
        {"images of several sizes without resize", folder_files,
         set_file(kBlue, plain_png(8, 9, 1)), "blue/0.png", "8 x 9 pixels"},
        {"an image of another size, read where it lies", folder_files,
         [](DatasetFiles& files) {
             files.files[kBlue] = plain_png(8, 9, 1);
             files.set("cache", std::int64_t{1} << 20);
         },
         "blue/0.png", "8 x 9 pixels"},
        {"an empty class folder", folder_files, nothing, "train/yellow", "is empty", Exit::failed,
         [](const TemporaryFolder& folder) {
             fs::create_directories(folder / "d/train/yellow");
         }},
        {"no test folder", folder_files,
         [](DatasetFiles& files) {
             std::erase_if(files.files,
                           [](const auto& file) { return file.first.starts_with("d/test"); });
         },
         "d/test", "cannot read the folder"},
        {"another number of classes", folder_files,
         [](DatasetFiles& files) { files.dataset.target().classes = 4; }, "/d", "of 3 classes",
         Exit::mismatch},
        {"another number of images", folder_files, remove_file(kBlue), "/d", "5 training",
         Exit::mismatch},
        {"a class of the test split that is never trained", folder_files,
         set_file("d/test/violet/1.png", plain_png(8, 8, 1)), "/d", "the class `violet`"},
        {"a file where class folders are", folder_files, set_file("d/train/notes.txt", "hm"),
         "train/notes.txt", "not a folder"},
        {"a folder where images are", folder_files,
         set_file("d/train/blue/more/1.png", plain_png(8, 8, 1)), "train/blue/more", "not a file"},
        {"a pipe where images are", folder_files, nothing, "train/blue/5.png", "not a file",
         Exit::failed,
         [](const TemporaryFolder& folder) {
             REQUIRE(mkfifo((folder / "d/train/blue/5.png").c_str(), 0600) == 0);
         }},
        {"a link to nothing", folder_files, nothing, "train/red/5.png", "link to nothing",
         Exit::failed,
         [](const TemporaryFolder& folder) {
             fs::create_symlink("nowhere", folder / "d/train/red/5.png");
         }},
        {"a name that is not UTF-8", folder_files,
         set_file("d/train/blue/\xFF.png", plain_png(8, 8, 1)), "train/blue", "\\xFF"},
        {"no folder", folder_files, [](DatasetFiles& files) { files.files.clear(); }, "/d",
         "not there"},
        // Images in archives
        {"a member that climbs out", packed("a.tar"),
         add_member("../../etc/passwd", plain_png(8, 8, 1)), "a.tar", "climbs out"},
        {"a member that climbs out further in", packed("a.zip"),
         add_member("train/blue/../../../x.png", plain_png(8, 8, 1)), "a.zip", "climbs out"},
        {"a member with an absolute path", packed("a.tar.gz"),
         add_member("/train/blue/x.png", plain_png(8, 8, 1)), "a.tar.gz", "absolute path"},
        {"a symbolic link", packed("a.tar"), add_raw(tar_member("train/blue/x.png", "", '2',
                                                                "/etc/passwd")),
         "a.tar", "symbolic link"},
        {"a hard link", packed("a.tar"),
         add_raw(tar_member("train/blue/x.png", "", '1', "/etc/passwd")), "a.tar", "is a link"},
        {"a device", packed("a.tar"), add_raw(tar_member("train/blue/x.png", "", '3')), "a.tar",
         "a device"},
        {"a name that is not UTF-8 in a tar", packed("a.tar"),
         add_member("train/blue/\xC3.png", plain_png(8, 8, 1)), "a.tar", "not UTF-8"},
        {"a name that is not UTF-8 in a zip", packed("a.zip"),
         add_member("train/blue/\xC3.png", plain_png(8, 8, 1)), "a.zip", "UTF-8"},
        {"a member twice", packed("a.tar"), add_member("train/blue/0.png", plain_png(8, 8, 1)),
         "train/blue/0.png", "twice"},
        {"a member too deep", packed("a.tar"),
         add_member("train/blue/more/0.png", plain_png(8, 8, 1)), "train/blue/more/0.png",
         "is not train/CLASS/IMAGE"},
        {"an archive bomb by its ratio", packed("a.tar.gz"),
         add_member("notes.txt", std::string(std::size_t{64} << 20, '\0')), "a.tar.gz",
         "archive bomb"},
        {"an archive bomb by its size", packed("a.tar.gz"),
         add_member("train/blue/x.png", std::string(std::size_t{16} << 20, '\0')),
         "train/blue/x.png", "has memory for image files of"},
        {"an archive bomb in a zip", packed("a.zip"),
         [](DatasetFiles& files) {
             files.set("cache", std::int64_t{1} << 30);
             for (int i = 10; i < 74; ++i)
                 files.members.emplace_back("train/blue/" + std::to_string(i) + ".png",
                                            std::string(1'000'000, '\0'));
             files.files["a.zip"] = zip(files.members, true);
         },
         "a.zip", "archive bomb"},
        {"more than the cache holds", packed("a.tar.gz"),
         [](DatasetFiles& files) {
             for (int i = 10; i < 18; ++i)
                 files.members.emplace_back("train/blue/" + std::to_string(i) + ".png",
                                            plain_png(8, 8, 1) + noise(900'000));
             files.dataset.source_train_samples = 14;
         },
         "a.tar.gz", "dataset.cache"},
        {"an image's file that is absurdly large", folder_files,
         set_file(kBlue, plain_png(8, 8, 1) + noise(2'000'000)), "blue/0.png",
         "has memory for image files of"},
        {"a member of an absurd size", packed("a.tar"),
         [](DatasetFiles& files) {
             std::string huge = tar_member("train/blue/x.png", "");
             std::memcpy(huge.data() + 124, "77777777777", 11);
             std::uint32_t sum = 0;
             std::memset(huge.data() + 148, ' ', 8);
             for (const char byte : huge)
                 sum += std::uint8_t(byte);
             std::snprintf(huge.data() + 148, 7, "%06o", sum);
             files.files["a.tar"] = tar(files.members).substr(0, 2048) + huge;
         },
         "a.tar", "cut off"},
        {"a tar that is cut off", packed("a.tar"),
         [](DatasetFiles& files) {
             const std::string whole = tar(files.members);
             files.files["a.tar"] = whole.substr(0, whole.size() / 2 + 100);
         },
         "a.tar", "cut off"},
        {"a tar.gz that is cut off", packed("a.tar.gz"),
         [](DatasetFiles& files) {
             files.files["a.tar.gz"] = gzip(tar(files.members));
             cut(files.files["a.tar.gz"], 100);
         },
         "a.tar.gz", "cut off"},
        {"a tar.gz with a bad checksum", packed("a.tar.gz"),
         [](DatasetFiles& files) {
             const std::string good = gzip(tar(files.members));
             files.files["a.tar.gz"] = spoiled(good, good.size() - 7);
         },
         "a.tar.gz", "corrupt"},
        {"rubbish behind a tar.gz", packed("a.tar.gz"),
         [](DatasetFiles& files) {
             files.files["a.tar.gz"] = gzip(tar(files.members)) + "rubbish";
         },
         "a.tar.gz", "7 bytes follow"},
        {"a zip with a bad checksum", packed("a.zip"),
         [](DatasetFiles& files) {
             std::string good = zip(files.members);
             files.files["a.zip"] = spoiled(good, good.find("IDAT") + 5);
         },
         "a.zip", "bad CRC"},
        {"a zip without its directory", packed("a.zip"),
         [](DatasetFiles& files) {
             files.files["a.zip"] = zip(files.members);
             cut(files.files["a.zip"], 60);
         },
         "a.zip", "a tar, tar.gz or zip file is needed"},
        {"an archive that is none", packed("a.tar"), set_file("a.tar", "hello"), "a.tar",
         "a tar, tar.gz or zip file is needed"},
        {"an empty archive file", packed("a.tar.gz"), set_file("a.tar.gz", ""), "a.tar.gz",
         "a tar, tar.gz or zip file is needed"},
        {"a folder in place of an archive", packed("a.tar"),
         [](DatasetFiles& files) {
             files.members.clear();
             files.files["a.tar/train/blue/0.png"] = plain_png(8, 8, 1);
         },
         "a.tar", "is a folder"},
        {"a pipe in place of an archive", packed("a.tar"),
         [](DatasetFiles& files) { files.members.clear(); }, "a.tar", "is a pipe", Exit::failed,
         [](const TemporaryFolder& folder) {
             REQUIRE(mkfifo((folder / "a.tar").c_str(), 0600) == 0);
         }},
        {"no archive", packed("a.tar"), [](DatasetFiles& files) { files.members.clear(); },
         "a.tar", "cannot open"},
        {"a broken image in an archive", packed("a.tar.gz"),
         set_member("test/red/9.png", "GIF89a"), "test/red/9.png", "neither JPEG nor PNG"},
        // Arrays
        {"an array of Python objects", arrays(),
         set_member("x_train.npy", npy("|O", "(6, 1, 2, 2)", "cos\nsystem\n(S'true'\ntR.")),
         "x_train.npy", "pickle"},
        {"labels that are Python objects", arrays(),
         set_member("y_train.npy", npy("|O", "(6,)", "x")), "y_train.npy", "pickle"},
        {"an array in the other byte order", arrays(),
         set_member("x_train.npy", npy(">f8", "(6, 1, 2, 2)", std::string(192, 0))),
         "x_train.npy", "`>f8`"},
        {"an array of texts", arrays(), set_member("y_train.npy", npy("<U1", "(6,)",
                                                                      std::string(24, 'a'))),
         "y_train.npy", "`<U1`"},
        {"an array in Fortran's order", arrays(),
         set_member("x_train.npy", npy("<f8", "(6, 1, 2, 2)", std::string(192, 0), true)),
         "x_train.npy", "Fortran"},
        {"channels last", arrays(),
         [](DatasetFiles& files) {
             files.dataset.input().stored_dims = files.dataset.input().dims = {2, 3, 1};
             files.member("x_train.npy") = npy("|u1", "(6, 3, 1, 2)", std::string(36, 0));
         },
         "x_train.npy", "transpose"},
        {"an array of another shape", arrays(),
         set_member("x_test.npy", npy("<f8", "(3, 1, 2, 3)", std::string(144, 0))), "x_test.npy",
         "its shape is (3,1,2,3)"},
        {"fewer elements than the shape says", arrays(),
         set_member("x_test.npy", npy("<f8", "(3, 1, 2, 2)", std::string(90, 0))), "x_test.npy",
         "takes 96 bytes; it has 90"},
        {"more labels than samples", arrays(),
         set_member("y_test.npy", npy("<i8", "(4,)", std::string(32, 0))), "y_test.npy",
         "for 3 samples"},
        {"a label out of range in an array", arrays(),
         set_member("y_test.npy", npy("<i8", "(3,)", bytes_of<std::int64_t>({0, 3, 1}))),
         "y_test.npy", "sample 1 is 3"},
        {"a negative label", arrays(),
         set_member("y_test.npy", npy("<i4", "(3,)", bytes_of<std::int32_t>({0, -1, 1}))),
         "y_test.npy", "sample 1 is -1"},
        {"a label that is no whole number", arrays(),
         set_member("y_test.npy", npy("<f4", "(3,)", bytes_of<float>({0, 0.5f, 1}))),
         "y_test.npy", "0.5"},
        {"a sample that is not a number", arrays(),
         set_member("x_test.npy",
                    npy("<f4", "(3, 1, 2, 2)",
                        bytes_of<float>({0, 1, 2, 3, 4, 5, NAN, 7, 8, 9, 1, 2}))),
         "x_test.npy[1]", "not a finite number"},
        {"no array of labels", arrays(),
         [](DatasetFiles& files) { files.members.erase(files.members.begin() + 1); }, "a.npz",
         "`y_train` is not in it"},
        {"an array twice", arrays(),
         [](DatasetFiles& files) { files.members.push_back(files.members[0]); },
         "x_train.npy", "two arrays"},
        {"a deflated array with a bad checksum", arrays(true),
         [](DatasetFiles& files) {
             std::string& file = files.files.at("a.npz");
             file = spoiled(file, file.find("x_train.npy") + 14);  // in the checksum's place: after
             file = spoiled(file, 14);                             // the name; the header's crc
         },
         "a.npz", "corrupt"},
        {"labels that a few bytes say to be 4 GB", arrays(true),
         [](DatasetFiles& files) {
             files.set("cache", std::int64_t{1} << 40);
             files.files["a.npz"] = claiming(zip(files.members, true), "y_train.npy", 4'000'000'000);
         },
         "a.npz", "archive bomb"},
        {"no zip at all", arrays(), set_file("a.npz", "\x93NUMPY"), "a.npz", "no .npz file"},
        {"another number of samples in arrays", arrays(),
         [](DatasetFiles& files) { files.dataset.test_samples = 4; }, "a.npz", "3 test",
         Exit::mismatch},
        // Tables
        {"a table of rows with fewer labels than the plan has", csv_files,
         [](DatasetFiles& files) { files.dataset.target().kind = plan::LabelKind::values; },
         "train.csv", "names 1 columns; the plan's samples have 3 labels", Exit::mismatch},
        {"a table with two columns for one class", csv_files,
         [](DatasetFiles& files) {
             files.set("label_columns", std::vector<std::int64_t>{2, 3});
         },
         "train.csv", "names 2 columns; the plan's samples have 1 labels", Exit::mismatch},
        {"a table with a hole", csv_files,
         [](DatasetFiles& files) { files.files["train.csv"] += "1,,setosa\n"; }, "train.csv:8",
         "column 2 (`width`) is empty: the table has holes (`width` in 1 of 7 lines)"},
        {"a table without a label", csv_files,
         [](DatasetFiles& files) { files.files["train.csv"] += "1,2,\n"; }, "train.csv:8",
         "the label, is empty"},
        {"a table with not-a-number", csv_files,
         [](DatasetFiles& files) { files.files["train.csv"] += "nan,2,setosa\n"; }, "train.csv:8",
         "column 1 (`length`) is `nan`: the table has holes"},
        {"a table with an infinite number", csv_files,
         [](DatasetFiles& files) { files.files["test.csv"] += "1,-inf,setosa\n"; }, "test.csv:5",
         "column 2 (`width`) is `-inf`"},
        {"a table with a number that is too large", csv_files,
         [](DatasetFiles& files) { files.files["test.csv"] += "1,1e999,setosa\n"; }, "test.csv:5",
         "column 2 (`width`) is `1e999`"},
        {"a table with a text among numbers", csv_files,
         [](DatasetFiles& files) { files.files["train.csv"] += "1,two,setosa\n"; }, "train.csv:8",
         "`two`, not a number"},
        {"a table with too many columns", csv_files,
         [](DatasetFiles& files) { files.files["train.csv"] += "1,2,3,setosa\n"; }, "train.csv:8",
         "4 columns"},
        {"a table with another separator", csv_files,
         [](DatasetFiles& files) { files.set("separator", std::string("tab")); }, "train.csv",
         "columns", Exit::mismatch},
        {"a table with an open quote", csv_files,
         [](DatasetFiles& files) { files.files["train.csv"] += "1,2,\"seto\n"; }, "train.csv:8",
         "a quote does not end"},
        {"a table with an empty line", csv_files,
         [](DatasetFiles& files) { files.files["train.csv"] += "\n1,2,setosa\n"; }, "train.csv:8",
         "the line is empty"},
        {"a table of bytes", csv_files, set_file("test.csv", std::string("\x89PNG\0\n", 6)),
         "test.csv:1", "not UTF-8"},
        {"a table with a class that is never trained", csv_files,
         set_file("test.csv", "length,width,kind\n0,1,setosa\n2,3,rosa\n4,5,setosa\n"),
         "test.csv:3", "column 3, the label, is `rosa`, which no training sample has"},
        {"a table with a label past the classes", csv_files,
         [](DatasetFiles& files) {
             files.files["train.csv"] = "length,width,kind\n0,1,0\n2,3,1\n4,5,2\n6,7,0\n8,9,4\n9,9,1\n";
         },
         "train.csv:6", "column 3, the label, is `4`; labels are 0 to 2"},
        // The counts fit, so nothing else would tell that a sample is lost.
        {"a table whose first line is a sample", csv_files,
         [](DatasetFiles& files) {
             files.files["train.csv"].replace(0, files.files["train.csv"].find('\n'), "5.1,3.5,setosa");
         },
         "train.csv:1", "the first line is numbers"},
        {"a table without a header and a sample more than the plan has", csv_files,
         [](DatasetFiles& files) {
             files.files["train.csv"].replace(0, files.files["train.csv"].find('\n'), "7,7,setosa");
             files.dataset.train_samples += 1;
             files.dataset.source_train_samples += 1;
         },
         "train.csv:1", "the first line is numbers"},
        {"a table without samples", csv_files, set_file("test.csv", "length,width,kind\n"),
         "test.csv", "no samples"},
        {"a table with another number of classes", csv_files,
         [](DatasetFiles& files) { files.dataset.target().classes = 5; }, "train.csv", "has 3 classes",
         Exit::mismatch},
        {"no table", csv_files, remove_file("test.csv"), "test.csv", "cannot open"},
        // Series
        {"a series with a hole", series_files,
         [](DatasetFiles& files) { files.files["series.csv"] += "2024-01-09,,south,1\n"; },
         "series.csv:22", "column 2 (`load`) is empty: the table has holes (`load` in 1 of 21 lines)"},
        {"a series with a text", series_files,
         [](DatasetFiles& files) { files.files["series.csv"] += "2024-01-09,much,south,1\n"; },
         "series.csv:22", "`much`, not a number"},
        {"a series whose time is read", series_files,
         [](DatasetFiles& files) { files.dataset.ignored_names.clear(); }, "series.csv:2",
         "column 1 (`time`) is `2024-01-01`, a date"},
        {"a series of a group that comes again", series_files,
         [](DatasetFiles& files) { files.files["series.csv"] += "2024-01-13,12,north,3\n"; },
         "series.csv:22", "column 3, the group, is `north`, and other groups stand between"},
        {"a series without its group", series_files,
         [](DatasetFiles& files) { files.set("group_name", std::string("place")); }, "series.csv:1",
         "no column is called `place`"},
        {"a series whose group is a column too far", series_files,
         [](DatasetFiles& files) {
             files.dataset.attributes.erase("group_name");
             files.set("group_column", std::int64_t{5});
         },
         "series.csv", "it has 4 columns; dataset.group_column names 5"},
        {"a series without what is forecast", series_files,
         [](DatasetFiles& files) { files.dataset.label_names = {"wind"}; }, "series.csv:1",
         "no column is called `wind`"},
        {"a series whose labels are left out", series_files,
         [](DatasetFiles& files) { files.dataset.label_names = {"time"}; }, "series.csv",
         "column 1 is a label, and no feature"},
        {"a series without a feature", series_files,
         [](DatasetFiles& files) {
             files.dataset.ignored_names.clear();
             files.dataset.input().names = {"load", "cold"};
         },
         "series.csv:1", "no column is called `cold`"},
        {"a longer series", series_files,
         [](DatasetFiles& files) { files.files["series.csv"] += "2024-01-09,108,south,27\n"; },
         "series.csv", "has 21 lines of numbers; the plan expects 20", Exit::mismatch},
        {"a series with other numbers of samples", series_files,
         [](DatasetFiles& files) { files.set("test_share", 0.5); }, "series.csv",
         "makes 2 training samples, 2 of them of validation, and 8 of the test; the plan expects "
         "5, 3 and 3",
         Exit::mismatch},
        {"a series with a column less", series_files,
         [](DatasetFiles& files) { files.dataset.ignored_names = {"time", "heat"}; }, "series.csv",
         "are [3,1] with 2 numbers to forecast; the plan expects [3,2] and 2", Exit::mismatch},
        {"a series with more lines than its cache holds", series_files,
         [](DatasetFiles& files) {
             files.set("cache", std::int64_t{1000});
             for (int i = 0; i < 3000; ++i)
                 files.files["series.csv"] += "x,1,south,1\n";
         },
         "series.csv", "dataset.cache is"},
        {"a series without lines", series_files,
         set_file("series.csv", "time,load,sensor,heat\n"), "series.csv", "no samples"},
        {"no series", series_files, remove_file("series.csv"), "series.csv", "cannot open"},
        // ImageNet
        {"no ImageNet", imagenet_files, remove_file("d/ILSVRC2012_devkit_t12.tar.gz"), "/d",
         "not there in any of its forms"},
        {"a devkit without its table", imagenet_files,
         set_file("d/ILSVRC2012_devkit_t12.tar.gz",
                  gzip(tar({{"ILSVRC2012_validation_ground_truth.txt", "1\n"}}))),
         "devkit_t12.tar.gz", "meta.mat"},
        {"a devkit whose table is cut off", imagenet_files,
         set_file("d/ILSVRC2012_devkit_t12.tar.gz",
                  gzip(tar({{"meta.mat", synsets_file({"n01", "n02"}, false).substr(0, 300)},
                            {"ILSVRC2012_validation_ground_truth.txt", "1\n"}}))),
         "meta.mat", "cut off"},
        {"a ground truth with a wrong number", imagenet_files,
         set_file("d/ILSVRC2012_devkit_t12.tar.gz",
                  gzip(tar({{"meta.mat", synsets_file({"n01", "n02", "n03"}, true)},
                            {"ILSVRC2012_validation_ground_truth.txt", "1\n2\n4000\n"}}))),
         "ground_truth.txt", "line 3 is `4000`"},
        {"a training tar of images", imagenet_files,
         set_file("d/ILSVRC2012_img_train.tar", tar({{"a.JPEG", "x"}})), "img_train.tar:a.JPEG",
         "not the uncompressed tar"},
        {"a validation image that the devkit does not count", imagenet_files,
         set_file("d/ILSVRC2012_img_val.tar", tar({{"ILSVRC2012_val_00000009.JPEG", "x"}})),
         "val_00000009.JPEG", "not one of 3"},
        {"a shard without labels", shard_files,
         set_file("d/train/1.npz", zip({{"x.npy", npy("|u1", "(2, 3, 2, 2)",
                                                      std::string(24, 0))}})),
         "train/1.npz", "`y` is not in it"},
        {"a shard with the label 0", shard_files,
         set_file("d/train/1.npz",
                  zip({{"x.npy", npy("|u1", "(2, 3, 2, 2)", std::string(24, 0))},
                       {"y.npy", npy("|u1", "(2, 1)", std::string("\0\1", 2))}})),
         "train/1.npz:y.npy", "labels are 1 to 3"},
        // Masks
        {"an image without a mask", segmentation_files, remove_file("d/train/masks/x1.png"),
         "train/images/x1.png", "the mask of this name is not in masks"},
        {"a mask without an image", segmentation_files, remove_file("d/test/images/x1.png"),
         "test/masks/x1.png", "the image of this name is not in images"},
        {"two images of one stem", segmentation_files,
         set_file("d/train/images/x1.jpg", kPhoto), "train/images", "have one stem"},
        {"a mask of another size", segmentation_files,
         set_file("d/train/masks/x1.png",
                  png(4, 5, PngColours::gray, std::vector<std::uint8_t>(20, 1))),
         "train/masks/x1.png", "4 x 5 pixels"},
        {"a number that is no class", segmentation_files,
         set_file("d/train/masks/x1.png", png(4, 6, PngColours::gray,
                                              {0, 1, 2, 0, 1, 2, 0, 1, 2, 7, 1, 2,
                                               0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2})),
         "train/masks/x1.png", "pixel 3 of row 1 is 7; classes are 0 to 2"},
        {"a number that mask_values does not name", segmentation_files,
         [](DatasetFiles& files) { files.set("mask_values", Dims{0, 1, 255}); },
         "masks/x", "dataset.mask_values are 0, 1, 255"},
        {"a mask of colours", segmentation_files, set_file("d/test/masks/x0.png",
         plain_png(4, 6, 1, 2, 3)), "test/masks/x0.png", "the mask has colours"},
        {"a mask of 16 bits", segmentation_files,
         set_file("d/test/masks/x0.png",
                  png(4, 6, PngColours::gray, std::vector<std::uint8_t>(48, 0), 16)),
         "test/masks/x0.png", "16 bits"},
        {"a mask that is a JPEG", segmentation_files, set_file("d/test/masks/x0.png", kPhoto),
         "test/masks/x0.png", "a mask is a JPEG"},
        {"a mask that is cut off", segmentation_files, cut_file("d/test/masks/x0.png", 20),
         "test/masks/x0.png", "corrupt or cut off"},
        {"masks with another count", segmentation_files,
         [](DatasetFiles& files) { files.dataset.source_train_samples = 5; }, "/d",
         "4 training and 2 test images; the plan expects 5", Exit::mismatch},
        {"no folder of masks", segmentation_files,
         [](DatasetFiles& files) { files.set("mask_folder", std::string("labels")); },
         "train/labels", "read the folder"},
        {"classes of pixels in another shape", pixel_files,
         set_member("y_train.npy", npy("|u1", "(4, 3, 2)", std::string(24, 0))), "a.npz:y_train",
         "(4,2,3)"},
        {"classes of pixels that are none", pixel_files,
         set_member("y_train.npy", npy("|u1", "(4, 2, 3)", std::string(23, 0) + "\3")),
         "a.npz:y_train", "labels are 0 to 2"},
        {"classes of pixels as real numbers", pixel_files,
         set_member("y_test.npy", npy("<f4", "(2, 2, 3)", std::string(48, 0))), "a.npz:y_test",
         "whole numbers"},
        // Samples of several lengths
        {"lengths of other samples", length_files,
         set_member("n_train.npy", npy("|u1", "(3,)", "\1\2\3")), "a.npz:n_train.npy",
         "it has 3 samples"},
        {"lengths that are real numbers", length_files,
         set_member("n_train.npy", npy("<f4", "(4,)", std::string(16, 0))), "a.npz:n_train.npy",
         "its elements are"},
        {"a length beyond the steps", length_files,
         set_member("n_train.npy", npy("|u1", "(4,)", "\1\2\5\4")), "a.npz:n_train.npy[2]",
         "it is 5; a sample has 1 to 4 steps"},
        {"a sample of no steps", length_files,
         set_member("n_test.npy", npy("<i4", "(2,)", std::string("\1\0\0\0\0\0\0\0", 8))),
         "a.npz:n_test.npy[1]", "it is 0; a sample has 1 to 4 steps"},
        {"no lengths", length_files,
         [](DatasetFiles& files) { files.members.pop_back(); }, "a.npz", "`n_test` is not in it"},
        {"a class of a step that counts, and is none", length_files,
         [](DatasetFiles& files) { files.member("y_train.npy").back() = '\3'; },
         "a.npz:y_train.npy", "labels are 0 to 2"},
        // Sequences of labels
        {"a label of a sequence that is no class", sequence_files,
         [](DatasetFiles& files) { files.member("y_test.npy").back() = '\4'; },
         "a.npz:y_test.npy[1,2]", "it is 4; labels are 0 to 3, and -1 stands behind the last"},
        {"a blank among labels", sequence_files,
         [](DatasetFiles& files) { files.member("y_test.npy").back() = '\0'; },
         "a.npz:y_test.npy[1,2]", "it is 0, the blank, which is no label"},
        {"a label behind the end of its sequence", sequence_files,
         [](DatasetFiles& files) { files.member("y_train.npy").back() = '\2'; },
         "a.npz:y_train.npy[3,2]", "the labels of the sample have ended at 0 with -1"},
        {"more labels than the steps of a sample", sequence_files,
         set_member("n_train.npy", npy("|u1", "(4,)", "\3\2\3\1")), "a.npz:y_train.npy[0]",
         "it has 3 labels, which take 4 steps, as equal neighbours have a blank between them, and "
         "the sample has 3"},
        {"more labels than the steps of a model", sequence_files,
         [](DatasetFiles& files) { files.dataset.target().stored_dims = {2}; },
         "a.npz:y_train.npy[0]", "and the model gives 2"},
        {"sequences of labels for another room", sequence_files,
         set_member("y_train.npy", npy("|i1", "(4, 2)", "\1\1\3\377\1\1\377\377")),
         "a.npz:y_train.npy", "it must be whole numbers of (4,3)"},
        {"sequences of labels that are real numbers", sequence_files,
         set_member("y_test.npy", npy("<f4", "(2, 3)", std::string(24, 0))), "a.npz:y_test.npy",
         "it must be whole numbers of (2,3)"},
        // Tables whose columns have names
        {"a label that no column is called", csv_files,
         [](DatasetFiles& files) { files.dataset.label_names = {"king"}; }, "train.csv:1",
         "no column is called `king`"},
        // Text and tokens
        {"a text that is not UTF-8", text_files, set_file("d/b.txt", "fedcb\xFF fedcba"),
         "d/b.txt: byte 5", "no character of UTF-8"},
        {"a text that ends within a character", text_files, set_file("d/b.txt", "fedcba fedcb\xC3"),
         "d/b.txt: byte 12", "no character of UTF-8"},
        {"a text with a character that the plan has not", text_files,
         set_file("d/b.txt", "fedcba fedcbA"), "/d", "the character `A` (U+0041)"},
        {"a test with a character that the plan has not", text_files,
         set_file("test.txt", "fedcb a\u20ac f"), "test.txt", "U+20AC"},
        {"names of characters that are none", text_files,
         [](DatasetFiles& files) { files.dataset.target().names[1] = "ab"; }, "class_names",
         "`ab` among", Exit::mismatch},
        {"a text of another length", text_files, set_file("d/b.txt", "fedcba"), "/d",
         "4 training and 2 test samples of 4 tokens", Exit::mismatch},
        {"no text for the test", text_files, remove_file("test.txt"), "test.txt", "cannot open"},
        {"names that take more than the cache", text_files,
         [](DatasetFiles& files) {
             for (int i = 100; i < 300; ++i)
                 files.files["d/" + std::to_string(i) + ".txt"] = "fedcba fedcba";
             files.dataset.train_samples = files.dataset.source_train_samples = 6 + 3 * 200;
             files.set("cache", std::int64_t{16});
         },
         "/d", "dataset.cache is 16"},
        {"no number of steps", text_files,
         [](DatasetFiles& files) { files.set("steps", std::int64_t{0}); }, "text",
         "a `steps` of 0", Exit::mismatch},
        {"a token past the vocabulary", token_files,
         [](DatasetFiles& files) { files.files["train.bin"][6] = 50; }, "train.bin: token 3",
         "it is 50, and there are 50 tokens"},
        {"half a token", token_files, cut_file("train.bin", 1), "train.bin",
         "no whole number of tokens"},
        {"tokens that are another number", token_files, cut_file("test.bin", 2), "train.bin",
         "5 training and 1 test samples", Exit::mismatch},
        // Shares
        {"a share that leaves nothing to train on", csv_files,
         [](DatasetFiles& files) {
             files.set("test_share", 0.5);
             files.files["train.csv"] = "length,width,kind\n1,2,setosa\n";
         },
         "train.csv", "has 1 samples", Exit::mismatch},
        // Chest X-rays
        {"an unknown finding", chestxray_files,
         [](DatasetFiles& files) {
             files.files["d/Data_Entry_2017_v2020.csv"] += "e.png,Hernia|Cold,0\n";
         },
         "Data_Entry_2017_v2020.csv:6", "`Cold`"},
        {"an image that is listed twice", chestxray_files,
         set_file("d/test_list.txt", "b.png\na.png\n"), "test_list.txt:2", "listed twice"},
        {"a listed image that is not there", chestxray_files,
         remove_file("d/images_001/images/a.png"), "/d", "a.png is listed and not there"},
        {"a listed image without findings", chestxray_files,
         set_file("d/test_list.txt", "b.png\nz.png\n"), "test_list.txt:2", "z.png"},
    };
    return list;
}

}  // namespace dtnn::runtime
