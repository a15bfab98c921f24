#include "base/files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>

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
    const Descriptor file(::open(path.c_str(), O_RDONLY));
    std::string text;
    CHECK(read_all(file.number(), text) == 0);
    return text;
}

int put(const std::string& path, std::string_view text) {
    return replace_file(place_of_file(path), ".part",
                        [&](int file) { return write_all(file, text); });
}

}  // namespace

TEST_CASE("a file is replaced as a whole, or not at all") {
    const Folder folder;
    const std::string path = folder / "a";
    CHECK(put(path, "old") == 0);
    CHECK(put(path, std::string(200'000, 'n')) == 0);
    CHECK(content(path) == std::string(200'000, 'n'));
    CHECK(replace_file(path, ".part", [](int file) {
              write_all(file, "half");
              return ENOSPC;
          }) == ENOSPC);
    CHECK_THROWS_AS(replace_file(path, ".part", [](int) -> int { throw std::runtime_error(""); }),
                    std::runtime_error);
    CHECK(content(path).size() == 200'000);
    CHECK(!fs::exists(path + ".part"));
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

TEST_CASE("reading goes behind what is there, and a folder is no file") {
    const Folder folder;
    REQUIRE(put(folder / "a", "text") == 0);
    const Descriptor file(::open((folder / "a").c_str(), O_RDONLY));
    std::string text = "some ";
    CHECK(read_all(file.number(), text) == 0);
    CHECK(text == "some text");
    const Descriptor place(::open((folder / "").c_str(), O_RDONLY));
    CHECK(read_all(place.number(), text) == EISDIR);
    CHECK(read_all(-1, text) == EBADF);
}

}  // namespace files_test
