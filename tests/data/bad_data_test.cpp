// Broken datasets: each is refused with a message that names the file and the remedy, in time, and
// no sample that is broken comes out.

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <set>

#include "plan/dataset_types.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/sample_source.hpp"
#include "tests/data/bad_cases.hpp"
#include "tests/data/dataset_files.hpp"

namespace dtnn::runtime {
namespace bad_data_test {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kSeconds = 60;  ///< what hangs is killed

/// Opens the dataset and loads every sample; the error, if there is one.
std::optional<RunError> trouble(DatasetFiles files, const BadCase& bad) {
    const TemporaryFolder folder;
    files.write(folder);
    if (bad.spoil_folder) bad.spoil_folder(folder);
    try {
        const auto source = open_source(files.dataset);
        Sample sample;
        for (const Split split : {Split::train, Split::test})
            for (std::int64_t i = 0; i < source->size(split); ++i)
                source->load(split, i, sample);
    } catch (const RunError& error) {
        return error;
    }
    return std::nullopt;
}

}  // namespace

TEST_CASE("what is broken is refused with file and remedy") {
    CHECK(bad_cases().size() >= 40);
    check_refused(bad_cases());
}

TEST_CASE("every type of dataset that reads files has cases of broken ones") {
    std::set<std::string, std::less<>> types{"digits", "grammar", "synthetic"};  // read none
    for (const BadCase& bad : bad_cases())
        types.insert(bad.sound().dataset.type);
    for (const plan::DatasetType& type : plan::dataset_types())
        CHECK_MESSAGE(types.contains(type.name), type.name);
}

TEST_CASE("a folder that may not be read is refused by its name") {
    if (::geteuid() == 0) {
        MESSAGE("skipped: root may read every folder");
        return;
    }
    DatasetFiles files = folder_files();
    const BadCase bad = {
        "", nullptr, nullptr, "", "", Exit::failed, [](const TemporaryFolder& folder) {
            fs::permissions(folder / "d/train/red", fs::perms::none);
        }};
    const auto error = trouble(files, bad);
    REQUIRE(error.has_value());
    CHECK(std::string(error->what()).find("train/red") != std::string::npos);
    CHECK(error->help().find("permissions") != std::string::npos);
}

}  // namespace bad_data_test

void check_refused(const std::vector<BadCase>& cases) {
    using bad_data_test::trouble;
    std::set<std::string> titles;
    for (const BadCase& bad : cases) {
        CAPTURE(bad.title);
        CHECK(titles.insert(bad.title).second);
        DatasetFiles files = bad.sound();
        CHECK_FALSE(trouble(files, {}).has_value());  // it is the spoiling that is refused
        bad.spoil(files);
        ::alarm(bad_data_test::kSeconds);
        const auto error = trouble(files, bad);
        ::alarm(0);
        if (!error) {
            FAIL_CHECK("nothing was refused");
            continue;
        }
        const std::string text = error->render(false);
        CAPTURE(text);
        CHECK(int(error->exit()) == int(bad.exit));
        CHECK(text.find(bad.file) != std::string::npos);
        CHECK(text.find(bad.fact) != std::string::npos);
        CHECK_FALSE(error->help().empty());
        for (const char byte : text)
            CHECK((std::uint8_t(byte) >= 0x20 || byte == '\n'));
    }
}

}  // namespace dtnn::runtime
