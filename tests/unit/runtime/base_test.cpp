#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/files.hpp"
#include "base/folders.hpp"
#include "runtime/base/arrangement.hpp"
#include "runtime/base/environment.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/device/arena.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/file_text.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime::base_test {

TEST_CASE("OMP_NUM_THREADS is a number or a list of numbers") {
    CHECK(parse_thread_count("1") == 1);
    CHECK(parse_thread_count("16") == 16);
    CHECK(parse_thread_count(" 4 , 2,1 ") == 4);
    for (const char* garbage : {"", " ", "0", "-1", "many", "4x", "4,", ",4", "1.5", "4 2",
                                "99999999999999999999", "65537", "0x4"}) {
        CAPTURE(garbage);
        expect_error(Exit::usage, {"OMP_NUM_THREADS", garbage, "help:"},
                     [&] { parse_thread_count(garbage); });
    }
}

TEST_CASE("a run uses no more threads than its plan has workspace for") {
    CHECK(choose_threads(4, std::nullopt).threads == 4);
    CHECK(choose_threads(4, 2).threads == 2);
    CHECK(choose_threads(4, 2).warning.empty());
    const ThreadChoice more = choose_threads(2, 8);
    CHECK(more.threads == 2);
    CHECK(more.warning.find("--threads 8") != std::string::npos);
}

TEST_CASE("files are written whole or not at all, and failures name path and remedy") {
    const TemporaryFolder folder;
    write_file(folder / "a.txt", "one");
    write_file(folder / "a.txt", "two");
    CHECK(file_text(folder / "a.txt") == "two");
    CHECK(names_in(folder.path()) == std::vector<std::string>{"a.txt"});
    expect_error(Exit::failed, {"no/such", "No such file", "help:"},
                 [&] { write_file(folder / "no/such/file", "x"); });
    expect_error(Exit::mismatch, {"absent"}, [&] { file_text(folder / "absent", Exit::mismatch); });
    expect_error(Exit::failed, {"is a folder", "help:"}, [&] { file_text(folder.path()); });
    expect_error(Exit::failed, {"a.txt/under", "help:"},
                 [&] { create_folders(folder / "a.txt/under"); });
    expect_error(Exit::failed, {"a.txt"}, [&] { create_folders(folder / "a.txt"); });
}

TEST_CASE("a disk that fills up is reported, and the half-written file removed") {
    const TemporaryFolder folder;
    write_text(folder / "weights", "old");
    // A limit on file size stands for the full disk.
    struct rlimit before {};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small { 1000, before.rlim_max };
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    std::string message;
    try {
        write_file(folder / "weights", std::string(5000, 'x'));
    } catch (const RunError& error) {
        message = error.what();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    CHECK(message.find("weights") != std::string::npos);
    CHECK(file_text(folder / "weights") == "old");
    CHECK(names_in(folder.path()) == std::vector<std::string>{"weights"});
    if (std::filesystem::exists("/dev/full")) {
        expect_error(Exit::failed, {"/dev/full", "No space left", "another disk"}, [] {
            LineFile file("/dev/full");
            file.add("a line");
        });
    }
}

TEST_CASE("a line file keeps every line at once") {
    const TemporaryFolder folder;
    LineFile file(folder / "history.jsonl");
    file.add("{}");
    CHECK(file_text(folder / "history.jsonl") == "{}\n");
    file.add("{1}");
    file.close();
    CHECK(file_text(folder / "history.jsonl") == "{}\n{1}\n");
}

TEST_CASE("a line file that was removed or moved away is put back with all its lines") {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "run");
    const std::string path = folder / "run/history.jsonl";
    LineFile file(path);
    file.add("one");
    CHECK_FALSE(file.put_back());
    std::filesystem::remove_all(folder / "run");
    CHECK(file.put_back());
    file.add("two");
    CHECK(file_text(path) == "one\ntwo\n");
    // Another file of that name is replaced, unless someone writes it.
    std::filesystem::rename(folder / "run", folder / "moved");
    std::filesystem::create_directory(folder / "run");
    write_text(path, "somebody's, longer than ours\n");
    CHECK(file.put_back());
    CHECK(file_text(path) == "one\ntwo\n");
    std::filesystem::remove(path);
    {
        const LineFile other(path);
        expect_error(Exit::failed, {"another process writes"}, [&] { file.put_back(); });
    }
    CHECK(file.put_back());
    file.add("three");
    file.close();
    CHECK(file_text(path) == "one\ntwo\nthree\n");
    CHECK(file_text(folder / "moved/history.jsonl") == "one\ntwo\n");
}

TEST_CASE("what others print goes to standard error, and answers to standard output") {
    const TemporaryFolder folder;
    std::fflush(nullptr);  // what the tests have printed so far is the parent's
    const pid_t child = fork();
    if (child == 0) {
        const int out = open((folder / "out").c_str(), O_WRONLY | O_CREAT, 0600);
        const int error = open((folder / "error").c_str(), O_WRONLY | O_CREAT, 0600);
        if (dup2(out, STDOUT_FILENO) < 0 || dup2(error, STDERR_FILENO) < 0) _exit(1);
        const bool written =
            keep_answers_apart() == 0 && write(STDOUT_FILENO, "a library\n", 10) == 10;
        print_out("{\"answer\": \"\x1b[31m\"}\n");
        _exit(written ? 0 : 1);
    }
    REQUIRE(child > 0);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(file_text(folder / "out") == "{\"answer\": \"\\x1B[31m\"}\n");
    CHECK(file_text(folder / "error") == "a library\n");
}

TEST_CASE("the arena is zeroed, aligned, exactly as large as asked") {
    for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{4097}, std::int64_t{5} << 20}) {
        const Arena arena(bytes, "a test");
        REQUIRE(arena.data() != nullptr);
        CHECK(arena.bytes() == bytes);
        CHECK(reinterpret_cast<std::uintptr_t>(arena.data()) % 64 == 0);
        bool zero = true;
        for (std::int64_t i = 0; i < bytes; ++i)
            zero = zero && arena.data()[i] == std::byte{0};
        CHECK(zero);
        arena.data()[bytes - 1] = std::byte{1};
    }
    CHECK(Arena(0, "nothing").data() == nullptr);
    expect_error(Exit::failed, {"4194304.0 TiB", "the plan's arena", "help:"},
                 [] { const Arena arena(std::int64_t{1} << 62, "the plan's arena"); });
}

TEST_CASE("an arrangement is a bijection that follows the order") {
    const Arrangement nhwc({2, 3, 4, 5}, {0, 2, 3, 1});
    // Logical [1,2,3,4] is at ((1*4 + 3)*5 + 4)*3 + 2.
    CHECK(nhwc.physical(((1 * 3 + 2) * 4 + 3) * 5 + 4) == ((1 * 4 + 3) * 5 + 4) * 3 + 2);
    std::vector<int> seen(std::size_t(nhwc.elements()), 0);
    std::int64_t expected = 7;
    nhwc.for_each(7, nhwc.elements(), [&](std::int64_t logical, std::int64_t place) {
        CHECK(logical == expected++);
        CHECK(place == nhwc.physical(logical));
        ++seen[std::size_t(place)];
    });
    CHECK(expected == nhwc.elements());
    CHECK(Arrangement({4, 1, 3, 3}, {0, 2, 3, 1}).identity());
    CHECK(Arrangement({}, {}).elements() == 1);
    CHECK_FALSE(nhwc.identity());
}

TEST_CASE("a signal ends the reading of a file, but not where a training is under way") {
    const TemporaryFolder folder;
    write_text(folder / "plan.json", "{}");
    request_stop(SIGTERM);
    expect_error(Exit::interrupted, {"stopped by a signal", "plan.json"},
                 [&] { file_text(folder / "plan.json"); });
    {
        const UnderWay training;
        CHECK(file_text(folder / "plan.json") == "{}");
    }
    request_stop(0);
    CHECK(file_text(folder / "plan.json") == "{}");
}

TEST_CASE("the first signal asks to stop") {
    install_signal_handlers();
    CHECK(stop_requested() == 0);
    std::raise(SIGTERM);
    CHECK(stop_requested() == SIGTERM);
    request_stop(0);
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

}  // namespace dtnn::runtime::base_test
