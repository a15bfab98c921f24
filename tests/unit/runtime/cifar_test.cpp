#include "runtime/data/sources/cifar.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <thread>

#include "runtime/data/sources/digits.hpp"
#include "tests/unit/runtime/archive_files.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime::cifar_test {
namespace {

/// Records whose pixels all are `shade`, and rise by one from record to record.
std::string records(int count, int shade, std::size_t labels = 1, int classes = 10) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        for (std::size_t label = 0; label < labels; ++label)
            text += char((i + int(label)) % classes);
        text += std::string(3072, char(shade + i));
    }
    return text;
}

Members ten() {
    Members files;
    for (int number = 5; number >= 1; --number) {  // not in the order that they are read in
        files.emplace_back("c/data_batch_" + std::to_string(number) + ".bin",
                           records(2, 10 * number));
    }
    files.emplace_back("c/test_batch.bin", records(3, 100));
    files.emplace_back("c/batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
    return files;
}

void put(const TemporaryFolder& folder, const Members& files) {
    for (const auto& [path, content] : files)
        write_text(folder / path.substr(path.find('/') + 1), content);
}

void check_ten(const Cifar& cifar) {
    CHECK(cifar.size(Split::train) == 10);
    CHECK(cifar.size(Split::test) == 3);
    CHECK(cifar.resident_bytes() == 13 * 3073);
    CHECK(cifar.class_names().size() == 10);
    std::set<float> seen;
    Sample sample;
    for (std::int64_t i = 0; i < 10; ++i) {
        cifar.load(Split::train, i, sample);
        CHECK(sample.input().dims[0] == 3);
        CHECK(sample.input().floats.size() == 3072);
        const auto byte = 10 * (i / 2 + 1) + i % 2;
        CHECK(sample.input().floats[0] == float(byte) / 255.0f);
        CHECK(sample.target().integers == std::vector<std::int32_t>{std::int32_t(i % 2)});
        seen.insert(sample.input().floats[3071]);
    }
    CHECK(seen.size() == 10);  // every file was read, none twice
    cifar.load(Split::test, 2, sample);
    CHECK(sample.input().floats[0] == 102.0f / 255.0f);
}

}  // namespace

TEST_CASE("cifar10 reads a folder, a tar and a tar.gz alike") {
    const TemporaryFolder folder;
    put(folder, ten());
    write_text(folder / "c.tar", tar(ten()));
    write_text(folder / "c.tar.gz", gzip(tar(ten())));
    const Cifar plain(Cifar::Kind::ten, folder.path(), 10, 3);
    check_ten(plain);
    for (const char* name : {"c.tar", "c.tar.gz"}) {
        const Cifar packed(Cifar::Kind::ten, folder / name, 10, 3);
        check_ten(packed);
        CHECK(packed.content_hash() == plain.content_hash());
    }
    Members changed = ten();
    changed[2].second[5] = 'x';
    put(folder, changed);
    CHECK(Cifar(Cifar::Kind::ten, folder.path(), 10, 3).content_hash() != plain.content_hash());
}

TEST_CASE("cifar100 has two labels, of which the dataset names one") {
    const TemporaryFolder folder;
    write_text(folder / "train.bin", records(5, 0, 2, 20));
    write_text(folder / "test.bin", records(4, 50, 2, 20));
    Sample sample;
    const Cifar fine(Cifar::Kind::fine, folder.path(), 5, 4);
    fine.load(Split::train, 3, sample);
    CHECK(sample.target().integers[0] == 4);
    CHECK(sample.input().floats[0] == 3.0f / 255.0f);
    CHECK(fine.class_names().empty());
    const Cifar coarse(Cifar::Kind::coarse, folder.path(), 5, 4);
    coarse.load(Split::train, 3, sample);
    CHECK(sample.target().integers[0] == 3);
    CHECK(coarse.resident_bytes() == 9 * 3074);
}

TEST_CASE("threads load the same samples as one") {
    const Digits digits(3, 64, 8);
    const Digits alone(3, 64, 8);
    std::vector<std::vector<float>> got(4 * 64);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            Sample sample;
            for (std::size_t i = 0; i < 64; ++i) {
                digits.load(Split::train, std::int64_t(i), sample);
                got[t * 64 + i] = sample.input().floats;
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    Sample sample;
    for (std::size_t i = 0; i < got.size(); ++i) {
        alone.load(Split::train, std::int64_t(i % 64), sample);
        CHECK(got[i] == sample.input().floats);
    }
    CHECK(digits.content_hash() == alone.content_hash());
    CHECK(digits.content_hash() != Digits(4, 64, 8).content_hash());
}

TEST_CASE("cifar names file, fact and remedy") {
    const TemporaryFolder folder;
    put(folder, ten());
    const auto open = [&](std::int64_t train = 10) {
        return [&folder, train] { const Cifar cifar(Cifar::Kind::ten, folder.path(), train, 3); };
    };
    SUBCASE("another count") {
        expect_error(Exit::mismatch, {"10 training", "11", "dataset.train_samples=10"}, open(11));
        expect_error(Exit::mismatch, {"data_batch_1.bin", "2 samples alone"}, open(1));
    }
    SUBCASE("cut off") {
        write_text(folder / "data_batch_3.bin", records(2, 0).substr(1));
        expect_error(Exit::failed, {"data_batch_3.bin", "6145 bytes", "3073"}, open());
    }
    SUBCASE("a label out of range") {
        std::string bad = records(2, 0);
        bad[3073] = 10;
        write_text(folder / "data_batch_4.bin", bad);
        expect_error(Exit::failed, {"data_batch_4.bin", "record 1 is 10", "0 to 9"}, open());
    }
    SUBCASE("no file") {
        std::filesystem::remove(folder / "data_batch_5.bin");
        expect_error(Exit::failed, {"data_batch_5.bin", "cannot open"}, open());
    }
}

}  // namespace dtnn::runtime::cifar_test
