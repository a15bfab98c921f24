#include "base/files.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/folders.hpp"
#include "base/input_file.hpp"

namespace files_test {

using namespace dtnn;
namespace fs = std::filesystem;

namespace {

class Folder {
  public:
    Folder() { path_ = ::mkdtemp(name_); }
    ~Folder() { fs::remove_all(path_); }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  private:
    char name_[32] = "/tmp/dtnn_base_XXXXXX";
    std::string path_;
};

std::string content(const std::string& path) {
    std::string text;
    CHECK_FALSE(bool(read_input(path, 1 << 20, "a file of a test", text)));
    return text;
}

int put(const std::string& path, std::string_view text) {
    return replace_file(place_of_file(path), [&](int file) { return write_all(file, text); });
}

}  // namespace

TEST_CASE("a file is replaced as a whole, or not at all") {
    const Folder folder;
    const std::string path = folder / "a";
    CHECK(put(path, "old") == 0);
    CHECK(put(path, std::string(200'000, 'n')) == 0);
    CHECK(content(path) == std::string(200'000, 'n'));
    CHECK(replace_file(path, [](int file) {
              write_all(file, "half");
              return ENOSPC;
          }) == ENOSPC);
    CHECK_THROWS_AS(replace_file(path, [](int) -> int { throw std::runtime_error(""); }),
                    std::runtime_error);
    CHECK(content(path).size() == 200'000);
    CHECK(names_in(folder / "") == std::vector<std::string>{"a"});
}

TEST_CASE("a link is followed, and a file that cannot be made says why") {
    const Folder folder;
    CHECK(put(folder / "target", "old") == 0);
    fs::create_symlink("target", folder / "link");
    CHECK(put(folder / "link", "new") == 0);
    CHECK(fs::is_symlink(folder / "link"));
    CHECK(content(folder / "target") == "new");
    CHECK(put(folder / "absent/a", "text") == ENOENT);
    CHECK(place_of_file("/dev/null").empty());
    CHECK(write_into("/dev/null", [](int file) { return write_all(file, "text"); }) == 0);
}

TEST_CASE("a file aside follows no link, and takes its place only when it is put there") {
    const Folder folder;
    CHECK(put(folder / "target", "target") == 0);
    fs::create_symlink("target", folder / "link");
    {
        FileAside file(folder / "link");
        REQUIRE(file.error() == 0);
        CHECK(write_all(file.descriptor(), "new") == 0);
        CHECK(names_in(folder / "").size() == 3);
        CHECK(file.put() == 0);
    }
    CHECK(!fs::is_symlink(folder / "link"));
    CHECK(content(folder / "link") == "new");
    CHECK(content(folder / "target") == "target");
    const std::string long_name(250, 'x');
    CHECK(put(folder / long_name, "text") == 0);
    CHECK(content(folder / long_name) == "text");
    { const FileAside dropped(folder / "dropped"); }
    CHECK(names_in(folder / "") == std::vector<std::string>{"link", "target", long_name});
}

TEST_CASE("a folder aside takes its place whole, and replaces only what it may") {
    const Folder folder;
    for (const char* text : {"old", "new"}) {
        FolderAside aside((folder / "place") + "/");
        REQUIRE(aside.error() == 0);
        CHECK(put(aside.path() + "/file", text) == 0);
        CHECK(aside.put(FolderAside::Existing::replaced) == 0);
        CHECK(content(folder / "place/file") == text);
    }
    {
        FolderAside aside(folder / "place");
        CHECK(put(aside.path() + "/file", "newest") == 0);
        const int error = aside.put(FolderAside::Existing::kept);
        CHECK((error == ENOTEMPTY || error == EEXIST));
    }
    CHECK(content(folder / "place/file") == "new");
    CHECK(names_in(folder / "") == std::vector<std::string>{"place"});
    CHECK(FolderAside(folder / "absent/place").error() == ENOENT);
}

TEST_CASE("only regular files are read, without waiting, and no more of them than wanted") {
    const Folder folder;
    REQUIRE(put(folder / "a", "text") == 0);
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    fs::create_symlink("/dev/zero", folder / "zero");
    std::string text = "what was there";
    const auto reason = [&](const std::string& name, std::int64_t most) {
        return read_input(folder / name, most, "a plan", text).reason();
    };
    CHECK_FALSE(bool(read_input(folder / "a", 4, "a plan", text)));
    CHECK(text == "text");
    CHECK(reason("a", 3) == "it has 4 bytes; a plan has at most 3");
    CHECK(reason("", 3) == "it is a folder, not a regular file");
    CHECK(reason("pipe", 3) == "it is a pipe, not a regular file");
    CHECK(reason("zero", 3) == "it is a device or a socket, not a regular file");
    CHECK(reason("absent", 3) == "No such file or directory");
    CHECK(read_input(folder / "absent", 3, "a plan", text).error == ENOENT);
}

TEST_CASE(
    "a file that is cut off while it is read is a fault, and between pieces reading may end") {
    const Folder folder;
    REQUIRE(put(folder / "a", std::string(20 << 20, 'x')) == 0);
    const InputFile file(folder / "a");
    REQUIRE(file.size() == 20 << 20);
    std::string text;
    int asked = 0;
    CHECK_THROWS_AS(static_cast<void>(file.read_all(1 << 30, "a file", text,
                                                    [&] {
                                                        if (++asked == 2)
                                                            throw std::runtime_error("enough");
                                                    })),
                    std::runtime_error);
    fs::resize_file(folder / "a", 5);
    CHECK(file.read_all(1 << 30, "a file", text).reason() ==
          "it ends after 5 bytes; it had 20971520 when it was opened");
}

}  // namespace files_test
