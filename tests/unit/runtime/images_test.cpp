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
    CHECK(header.height == sample.input().dims[1]);
    CHECK(header.width == sample.input().dims[2]);
    CHECK(sample.input().dims[0] == channels);
    return sample;
}

/// Pixels as bytes would have them.
std::vector<int> values(const Sample& sample) {
    std::vector<int> result;
    for (const float pixel : sample.input().floats)
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
    CHECK(wide.input().floats == std::vector<float>{float(0x0102) / 65535.0f, 1.0f});
}

TEST_CASE("JPEG of gray, colours and CMYK, baseline and progressive") {
    std::vector<std::uint8_t> rows;
    for (int i = 0; i < 16 * 24; ++i)
        rows.insert(rows.end(), {200, 100, 50});
    for (const bool progressive : {false, true}) {
        const Sample colours = decoded(jpeg(16, 24, 3, rows, progressive), 3);
        CHECK(colours.input().dims[1] == 16);
        CHECK(colours.input().dims[2] == 24);
        CHECK(std::abs(colours.input().floats[5] * 255 - 200) < 3);
        CHECK(std::abs(colours.input().floats[384 + 5] * 255 - 100) < 3);
        CHECK(std::abs(colours.input().floats[768 + 5] * 255 - 50) < 3);
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

namespace {

std::string number(std::uint32_t value, std::size_t count, bool little) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
        text += char(value >> 8 * (little ? i : count - 1 - i));
    return text;
}

/// EXIF whose first directory has a tag before the orientation, and one behind it.
std::string exif(std::uint32_t orientation, bool little) {
    const auto entry = [&](std::uint32_t tag, std::uint32_t value) {
        return number(tag, 2, little) + number(3, 2, little) + number(1, 4, little) +
               number(value, 2, little) + number(0, 2, little);
    };
    return std::string("Exif\0\0", 6) + (little ? "II" : "MM") + number(42, 2, little) +
           number(8, 4, little) + number(3, 2, little) + entry(0x0100, 7) +
           entry(0x0112, orientation) + entry(0x0128, 2) + number(0, 4, little);
}

/// The JPEG with a segment behind its beginning.
std::string with_segment(const std::string& photo, char kind, const std::string& content) {
    return photo.substr(0, 2) + '\xFF' + kind +
           number(std::uint32_t(content.size() + 2), 2, false) + content + photo.substr(2);
}

/// A photograph of 16 x 8 pixels (height x width) in four parts: dark to light, as one reads.
std::string quarters() {
    std::vector<std::uint8_t> rows;
    for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 8; ++x)
            rows.push_back(std::uint8_t(40 + 60 * (2 * (y / 8) + x / 4)));
    return jpeg(16, 8, 1, rows);
}

/// Which of the four parts is in each corner: top left, top right, bottom left, bottom right.
std::vector<int> corners(const Sample& sample) {
    std::vector<int> result;
    for (const std::int64_t y : {std::int64_t{1}, sample.input().dims[1] - 2})
        for (const std::int64_t x : {std::int64_t{1}, sample.input().dims[2] - 2})
            result.push_back(int(std::lround(
                (double(sample.input().floats[std::size_t(y * sample.input().dims[2] + x)]) * 255 -
                 40) /
                60)));
    return result;
}

}  // namespace

TEST_CASE("photographs are turned and mirrored as their EXIF says") {
    // The pixels top left, top right, bottom left and bottom right of the image as it is to be
    // seen, of each orientation; CIPA DC-008 has the table of rows and columns.
    const std::vector<std::vector<int>> seen = {{0, 1, 2, 3}, {1, 0, 3, 2}, {3, 2, 1, 0},
                                                {2, 3, 0, 1}, {0, 2, 1, 3}, {2, 0, 3, 1},
                                                {3, 1, 2, 0}, {1, 3, 0, 2}};
    const std::string photo = quarters();
    for (const bool little : {false, true}) {
        for (std::uint32_t orientation = 1; orientation <= 8; ++orientation) {
            CAPTURE(orientation);
            const std::string turned = with_segment(photo, '\xE1', exif(orientation, little));
            for (const std::int64_t channels : {1, 3}) {
                const Sample sample = decoded(turned, channels);
                CHECK(sample.input().dims[1] == (orientation < 5 ? 16 : 8));
                CHECK(sample.input().dims[2] == (orientation < 5 ? 8 : 16));
                CHECK(corners(sample) == seen[orientation - 1]);
            }
            // Behind another segment, and behind one that only looks like it.
            const std::string later =
                with_segment(with_segment(photo, '\xE1', exif(orientation, little)), '\xE0',
                             std::string("JFXX\0", 5));
            CHECK(corners(decoded(later, 1)) == seen[orientation - 1]);
            CHECK(corners(decoded(with_segment(turned, '\xE1', "http://ns.adobe.com"), 1)) ==
                  seen[orientation - 1]);
        }
    }
}

TEST_CASE("EXIF that is damaged turns nothing, and harms nothing") {
    const std::string photo = quarters();
    const std::vector<int> upright = {0, 1, 2, 3};
    for (const std::uint32_t orientation : {0u, 9u, 65535u})
        CHECK(corners(decoded(with_segment(photo, '\xE1', exif(orientation, true)), 1)) == upright);
    const std::string whole = exif(6, true);
    for (std::size_t size = 0; size < whole.size() - 18; ++size)
        CHECK(corners(decoded(with_segment(photo, '\xE1', whole.substr(0, size)), 1)) == upright);
    // The place of the directory, its length, and the tag's type.
    for (const auto& [at, bytes] :
         {std::pair{10, std::string(4, '\xFF')}, std::pair{14, std::string(2, '\0')},
          std::pair{30, std::string(1, '\4')}}) {
        std::string broken = whole;
        broken.replace(std::size_t(at), bytes.size(), bytes);
        CHECK(corners(decoded(with_segment(photo, '\xE1', broken), 1)) == upright);
    }
    // More entries than there are: those that are there count.
    std::string many = whole;
    many[14] = '\xFF';
    CHECK(corners(decoded(with_segment(photo, '\xE1', many), 1)) == std::vector<int>{2, 0, 3, 1});
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
