#include "runtime/data/sources/class_folders.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "runtime/base/run_error.hpp"
#include "runtime/base/text_bytes.hpp"
#include "runtime/data/sample_source.hpp"
#include "tests/data/dataset_files.hpp"
#include "tests/unit/runtime/expect_error.hpp"

namespace class_folders_test {

using namespace dtnn;
using namespace dtnn::runtime;

TEST_CASE("what one rank finds in folders of images another one opens without looking") {
    const TemporaryFolder folder;
    DatasetFiles files = folder_files();
    files.write(folder);
    const std::vector<std::byte> listed = list_files(files.dataset);
    REQUIRE(!listed.empty());
    const auto own = open_source(files.dataset);
    const std::string path = std::get<std::string>(files.dataset.attributes.at("path"));
    // Behind the list's back: who looks finds it.
    std::filesystem::create_directories(path + "/train/zebra");
    std::ofstream(path + "/train/zebra/one.png") << "no image";
    const auto told = open_source(files.dataset, Counts::exact, DType::f32, listed);
    CHECK(told->content_hash() == own->content_hash());
    CHECK(told->class_names() == own->class_names());
    CHECK_THROWS_AS(open_source(files.dataset), RunError);
    CHECK(list_files(mnist_files().dataset).empty());
}

TEST_CASE("a rank whose folder is another one than rank 0's says so") {
    const TemporaryFolder folder;
    DatasetFiles files = folder_files();
    files.write(folder);
    const std::vector<std::byte> listed = list_files(files.dataset);
    const std::string path = std::get<std::string>(files.dataset.attributes.at("path"));
    const auto first = std::filesystem::recursive_directory_iterator(path + "/test");
    for (const auto& entry : first) {
        if (!entry.is_regular_file()) continue;
        std::filesystem::remove(entry.path());
        break;
    }
    expect_error(Exit::mismatch, {"is not there, and rank 0 has it"},
                 [&] { open_source(files.dataset, Counts::exact, DType::f32, listed); });
}

TEST_CASE("lists of files travel as bytes, and what is none is refused") {
    const SplitFolders folders = {
        {"train",
         {{{"a", {{"1.png", 7}, {"2.png", 0}}}, {"b c", {{"F.png", 9}}}}, {"train/x.txt"}}},
        {"val", {}}};
    CHECK(split_folders_of(bytes_of(folders)) == folders);
    const std::vector<std::vector<std::string>> broken = {{"Ftrain"},
                                                          {"Strain", "F1.png", "7"},
                                                          {"Strain", "Ca", "F1.png"},
                                                          {"Strain", "Ca", "F1.png", "x"},
                                                          {"Strain", "Q"}};
    for (const std::vector<std::string>& texts : broken) {
        std::vector<std::byte> bytes;
        for (const std::string& text : texts)
            append_text(bytes, text);
        expect_error(Exit::mismatch, {"no list of files"},
                     [&] { static_cast<void>(split_folders_of(bytes)); });
    }
}

}  // namespace class_folders_test
