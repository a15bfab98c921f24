/// Code that is kept on disk and run again: only what this user has put there, whole.

#include "runtime/device/code_cache.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "runtime/base/plugin.hpp"
#include "runtime/device/generated_code.hpp"
#include "tests/codegen/random_loops.hpp"
#include "tests/unit/runtime/file_text.hpp"
#include "tests/unit/runtime/temporary_folder.hpp"

namespace dtnn::codegen_test::code_cache_test {

namespace fs = std::filesystem;
using runtime::CodeCache;
using runtime::GeneratedCode;
using runtime::TemporaryFolder;

namespace {

/// Counts what it is asked for; its code does nothing and returns.
class CountingGenerator final : public kernels::Generator {
  public:
    explicit CountingGenerator(std::string object) : object_(std::move(object)) {}
    std::string name() const override { return "a test"; }
    std::string generate(const kernels::Loop&, kernels::CodeForm) const override {
        ++asked;
        return object_;
    }
    mutable int asked = 0;

  private:
    std::string object_;
};

std::string only_entry(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
        names.push_back(entry.path());
    REQUIRE(names.size() == 1);
    return names.front();
}

const std::string kCode(5000, 'c');

}  // namespace

TEST_CASE("code comes back under its key, and under no other") {
    const TemporaryFolder folder;
    const CodeCache cache(folder / "deep/er/codegen");
    CHECK_FALSE(cache.find("a").has_value());
    cache.put("a", kCode);
    cache.put("b", "other");
    CHECK(cache.find("a") == kCode);
    CHECK(cache.find("b") == "other");
    CHECK_FALSE(cache.find("c").has_value());
    struct stat status {};
    REQUIRE(stat((folder / "deep/er/codegen").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
    CHECK_FALSE(CodeCache("").find("a").has_value());
    CodeCache("").put("a", kCode);
}

TEST_CASE("an entry that was cut short, changed, or put under another name is not used") {
    const TemporaryFolder folder;
    const std::string place = folder / "codegen";
    const CodeCache cache(place);
    cache.put("a", kCode);
    const std::string entry = only_entry(place);
    const std::string whole = runtime::file_text(entry);
    for (const std::size_t length :
         {std::size_t(0), std::size_t(5), whole.size() / 2, whole.size() - 1}) {
        runtime::write_text(entry, whole.substr(0, length));
        CHECK_FALSE(cache.find("a").has_value());
    }
    for (std::size_t at = 0; at < whole.size(); at += 97) {
        std::string changed = whole;
        changed[at] = char(changed[at] ^ 1);
        runtime::write_text(entry, changed);
        CHECK_FALSE(cache.find("a").has_value());
    }
    runtime::write_text(entry, whole + "x");
    CHECK_FALSE(cache.find("a").has_value());
    runtime::write_text(entry, std::string(std::size_t{3} << 20, 'x'));
    CHECK_FALSE(cache.find("a").has_value());
    // Swapped: b's file under a's name.
    runtime::write_text(entry, whole);
    CHECK(cache.find("a") == kCode);
    fs::remove(entry);
    cache.put("b", "of b");
    fs::rename(only_entry(place), entry);
    CHECK_FALSE(cache.find("a").has_value());
    // It is made anew in its place.
    cache.put("a", kCode);
    CHECK(cache.find("a") == kCode);
}

TEST_CASE("what others could have written is not used") {
    const TemporaryFolder folder;
    const std::string place = folder / "codegen";
    const CodeCache cache(place);
    cache.put("a", kCode);
    const std::string entry = only_entry(place);
    for (const mode_t mode : {0620, 0602, 0666}) {
        REQUIRE(chmod(entry.c_str(), mode) == 0);
        CHECK_FALSE(cache.find("a").has_value());
    }
    REQUIRE(chmod(entry.c_str(), 0600) == 0);
    for (const mode_t mode : {0770, 0707, 01777}) {
        REQUIRE(chmod(place.c_str(), mode) == 0);
        CHECK_FALSE(cache.find("a").has_value());
        cache.put("b", kCode);
        CHECK(only_entry(place) == entry);
    }
    REQUIRE(chmod(place.c_str(), 0700) == 0);
    CHECK(cache.find("a") == kCode);
    // Links, a pipe, a folder in its place.
    fs::rename(entry, folder / "elsewhere");
    fs::create_symlink(folder / "elsewhere", entry);
    CHECK_FALSE(cache.find("a").has_value());
    fs::remove(entry);
    REQUIRE(mkfifo(entry.c_str(), 0600) == 0);
    CHECK_FALSE(cache.find("a").has_value());
    fs::remove(entry);
    fs::create_directory(entry);
    CHECK_FALSE(cache.find("a").has_value());
    cache.put("a", kCode);
    CHECK_FALSE(cache.find("a").has_value());
    CHECK(only_entry(place) == entry);  // and nothing is left behind
    fs::create_directory_symlink(place, folder / "link");
    CHECK_FALSE(CodeCache(folder / "link").find("a").has_value());
    if (geteuid() != 0) {
        MESSAGE("skipped: only root can give files away");
        return;
    }
    fs::remove(entry);
    cache.put("a", kCode);
    REQUIRE(chown(entry.c_str(), 12345, 12345) == 0);
    CHECK_FALSE(cache.find("a").has_value());
    REQUIRE(chown(entry.c_str(), 0, 0) == 0);
    CHECK(cache.find("a") == kCode);
    REQUIRE(chown(place.c_str(), 12345, 12345) == 0);
    CHECK_FALSE(cache.find("a").has_value());
}

TEST_CASE("where nothing can be written, nothing is kept and nothing fails") {
    CodeCache("/proc/self/nowhere").put("a", kCode);
    CodeCache("/dev/null/codegen").put("a", kCode);
    CHECK_FALSE(CodeCache("/dev/null/codegen").find("a").has_value());
    const TemporaryFolder folder;
    const std::string place = folder / "codegen";
    const CodeCache cache(place);
    cache.put("small", "x");
    // A full disk, as a limit on the size of files: in another process, which it would not leave.
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{1000, 1000};
        setrlimit(RLIMIT_FSIZE, &limit);
        cache.put("a", kCode);
        _exit(cache.find("a").has_value() ? 1 : 0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(cache.find("small") == "x");
    only_entry(place);  // no part of what was not written
    if (geteuid() == 0) {
        MESSAGE("skipped: permissions do not bind root");
        return;
    }
    REQUIRE(chmod(place.c_str(), 0500) == 0);
    cache.put("a", kCode);
    CHECK_FALSE(cache.find("a").has_value());
    CHECK(cache.find("small") == "x");
    REQUIRE(chmod(place.c_str(), 0700) == 0);
}

TEST_CASE("many that write and read at once see whole entries or none") {
    const TemporaryFolder folder;
    const std::string place = folder / "codegen";
    std::vector<std::thread> threads;
    std::vector<int> broken(4);
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            const CodeCache cache(place);
            for (int i = 0; i < 50; ++i) {
                cache.put("a", kCode);
                const auto found = cache.find("a");
                if (found && *found != kCode) ++broken[std::size_t(t)];
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    CHECK(broken == std::vector<int>(4));
    CHECK(CodeCache(place).find("a") == kCode);
    only_entry(place);
}

TEST_CASE("code is made once, found by the next run, and made again where what is kept is none") {
    // One that returns at once.
    std::string mistake;
    const Plugin plugin = open_plugin(kernels::kCodegenLibrary);
    if (plugin.handle == nullptr) {
        MESSAGE("skipped: no LLVM here (Debian: llvm-19-dev)");
        return;
    }
    const auto* const real =
        runtime::plugin_function<kernels::Generator*()>(plugin, kernels::kCodegenOpenEntry)();
    const kernels::Isa isa = known_sets().back();
    const CountingGenerator counting(
        real->generate(loop_of("x0 2 mul", DType::f32, isa), kernels::CodeForm::object));
    kernels::Problem problem;
    problem.op = "elementwise";
    problem.isa = isa;
    problem.attributes["expression"] = std::string("x0 2 mul");
    const TemporaryFolder folder;
    const std::string place = folder / "codegen";
    {
        GeneratedCode code(CodeCache(place), &counting);
        const kernels::LoopFunction loop = code.loop_for(problem);
        REQUIRE(bool(loop));
        CHECK((code.loop_for(problem) == loop));
        CHECK(counting.asked == 1);
        CHECK(code.figures().made == 1);
        problem.attributes["expression"] = std::string("no expression");
        CHECK_FALSE(bool(code.loop_for(problem)));
        problem.attributes["expression"] = std::string("x0 2 mul");
        problem.dtype = DType::bf16;
        CHECK_FALSE(bool(code.loop_for(problem)));
        problem.dtype = DType::f32;
    }
    {
        GeneratedCode code(CodeCache(place), &counting);
        const kernels::LoopFunction loop = code.loop_for(problem);
        REQUIRE(bool(loop));
        CHECK(counting.asked == 1);
        CHECK(code.figures().found == 1);
        float value = 21;
        const void* source = &value;
        loop(&value, &source, 0, 1, kernels::vector_functions(isa, DType::f32));
        CHECK(value == 42);
    }
    // A sound file, whose code is none.
    const std::string entry = only_entry(place);
    std::string text = runtime::file_text(entry);
    const std::string key = text.substr(text.find('\n') + 1,
                                        text.find('\n', text.find('\n') + 1) - text.find('\n') - 1);
    CodeCache(place).put(key,
                         "\x7f"
                         "ELF but not more");
    GeneratedCode code(CodeCache(place), &counting);
    CHECK(bool(code.loop_for(problem)));
    CHECK(counting.asked == 2);
    CHECK(CodeCache(place).find(key)->size() > 100);
}

}  // namespace dtnn::codegen_test::code_cache_test
