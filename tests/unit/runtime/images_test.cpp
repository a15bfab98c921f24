#include <doctest/doctest.h>

#include <cmath>

#include "runtime/data/formats/image.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/image_files.hpp"

namespace dtnn::runtime::images_test {
namespace {

std::span<const std::uint8_t> bytes(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Sample decoded(const std::string& file, std::int64_t channels) {
    Sample sample;
    decode_image(bytes(file), "a.png", {channels, 1000000}, sample);
    const ImageHeader header = read_image_header(bytes(file), "a.png", {channels, 1000000});
    CHECK(header.height == sample.height);
    CHECK(header.width == sample.width);
    CHECK(sample.channels == channels);
    return sample;
}

/// Pixels as bytes would have them.
std::vector<int> values(const Sample& sample) {
    std::vector<int> result;
    for (const float pixel : sample.pixels)
        result.push_back(int(std::lround(pixel * 255)));
    return result;
}

const std::vector<std::uint8_t> kColours = {255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30};

}  // namespace

TEST_CASE("PNG of every colour type becomes planes of one or three channels") {
    CHECK(values(decoded(png(2, 2, PngColours::rgb, kColours), 3)) ==
          std::vector<int>{255, 0, 0, 10, 0, 255, 0, 20, 0, 0, 255, 30});
    CHECK(values(decoded(png(2, 2, PngColours::rgb, kColours, 8, true), 3)) ==
          std::vector<int>{255, 0, 0, 10, 0, 255, 0, 20, 0, 0, 255, 30});
    // 0.299, 0.587, 0.114
    CHECK(values(decoded(png(2, 2, PngColours::rgb, kColours), 1)) ==
          std::vector<int>{76, 150, 29, 18});
    CHECK(values(decoded(png(1, 2, PngColours::gray, {7, 9}), 1)) == std::vector<int>{7, 9});
    CHECK(values(decoded(png(1, 2, PngColours::gray, {7, 9}), 3)) ==
          std::vector<int>{7, 9, 7, 9, 7, 9});
    CHECK(values(decoded(png(1, 2, PngColours::gray_alpha, {7, 0, 9, 128}), 1)) ==
          std::vector<int>{7, 9});
    CHECK(values(decoded(png(1, 1, PngColours::rgb_alpha, {1, 2, 3, 0}), 3)) ==
          std::vector<int>{1, 2, 3});
    CHECK(values(decoded(png(1, 2, PngColours::palette, {0, 5}), 3)) ==
          std::vector<int>{0, 5, 0, 10, 255, 250});
    // One bit a pixel: 0, 1, 1.
    CHECK(values(decoded(png(1, 3, PngColours::gray, {0x60}, 1), 1)) ==
          std::vector<int>{0, 255, 255});
    const Sample wide = decoded(png(1, 2, PngColours::gray, {0x01, 0x02, 0xFF, 0xFF}, 16), 1);
    CHECK(wide.pixels == std::vector<float>{float(0x0102) / 65535.0f, 1.0f});
}

TEST_CASE("JPEG of gray, colours and CMYK, baseline and progressive") {
    std::vector<std::uint8_t> rows;
    for (int i = 0; i < 16 * 24; ++i)
        rows.insert(rows.end(), {200, 100, 50});
    for (const bool progressive : {false, true}) {
        const Sample colours = decoded(jpeg(16, 24, 3, rows, progressive), 3);
        CHECK(colours.height == 16);
        CHECK(colours.width == 24);
        CHECK(std::abs(colours.pixels[5] * 255 - 200) < 3);
        CHECK(std::abs(colours.pixels[384 + 5] * 255 - 100) < 3);
        CHECK(std::abs(colours.pixels[768 + 5] * 255 - 50) < 3);
    }
    CHECK(values(decoded(jpeg(8, 8, 1, std::vector<std::uint8_t>(64, 90)), 1))[7] == 90);
    CHECK(values(decoded(jpeg(8, 8, 1, std::vector<std::uint8_t>(64, 90)), 3))[135] == 90);
    // Adobe's inverted CMYK: 255 is no ink. (255, 128, 0, 128): red half dark, green a quarter.
    std::vector<std::uint8_t> ink;
    for (int i = 0; i < 64; ++i)
        ink.insert(ink.end(), {255, 128, 0, 128});
    const std::vector<int> printed = values(decoded(jpeg(8, 8, 4, ink), 3));
    CHECK(std::abs(printed[0] - 128) < 3);
    CHECK(std::abs(printed[64] - 64) < 3);
    CHECK(std::abs(printed[128]) < 3);
}

TEST_CASE("a sample is used again without traces of the last one") {
    Sample sample;
    decode_image(bytes(plain_png(9, 9, 1, 2, 3)), "a", {3, 1000}, sample);
    decode_image(bytes(plain_png(1, 2, 7, 8, 9)), "b", {3, 1000}, sample);
    CHECK(values(sample) == std::vector<int>{7, 7, 8, 8, 9, 9});
}

TEST_CASE("images that are broken or too large are refused by name") {
    const auto decode = [](const std::string& file, std::int64_t most = 1000) {
        return [file, most] {
            Sample sample;
            decode_image(bytes(file), "x/y.jpg", {3, most}, sample);
        };
    };
    const std::string good = plain_png(20, 20, 1, 2, 3);
    const std::string photo = jpeg(16, 16, 1, std::vector<std::uint8_t>(256, 3));
    expect_error(Exit::failed, {"x/y.jpg", "20 x 20", "399", "dataset.most_pixels"},
                 decode(good, 399));
    // Cut at every length: an error, or nothing that mattered was lost (JPEG's end mark).
    for (std::size_t size = 0; size < good.size(); ++size)
        expect_error(Exit::failed, {"x/y.jpg"}, decode(good.substr(0, size)));
    for (std::size_t size = 0; size + 2 < photo.size(); ++size)
        expect_error(Exit::failed, {"x/y.jpg"}, decode(photo.substr(0, size)));
    std::string corrupt = good;
    corrupt[good.find("IDAT") + 8] = char(corrupt[good.find("IDAT") + 8] ^ 0x55);
    expect_error(Exit::failed, {"x/y.jpg", "PNG data is corrupt"}, decode(corrupt));
}

}  // namespace dtnn::runtime::images_test
