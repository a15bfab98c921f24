// Samples through transforms and augmentations, each alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "runtime/data/transforms/colour.hpp"
#include "runtime/data/transforms/geometry.hpp"
#include "runtime/data/transforms/mixing.hpp"
#include "runtime/data/transforms/sample_chain.hpp"
#include "runtime/data/transforms/sample_step.hpp"
#include "tests/unit/runtime/expect_error.hpp"

namespace dtnn::runtime::samples_test {
namespace {

/// Every pixel says where it is: channel, row, column.
Sample marked(std::int64_t channels, std::int64_t height, std::int64_t width) {
    Sample sample;
    sample.input().set_floats(std::array<std::int64_t, 3>{channels, height, width});
    std::size_t i = 0;
    for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t y = 0; y < height; ++y)
            for (std::int64_t x = 0; x < width; ++x)
                sample.input().floats[i++] = float(c * 10000 + y * 100 + x + 1) / 65536;
    return sample;
}

float at(const Sample& sample, std::int64_t c, std::int64_t y, std::int64_t x) {
    return sample.input()
        .floats[std::size_t((c * sample.input().dims[1] + y) * sample.input().dims[2] + x)];
}

Sample augmented(const plan::Component& component, const Sample& sample, const Sighting& sighting,
                 std::uint64_t seed = 1) {
    Sample result = sample;
    SampleScratch scratch;
    Draws draws(Draws::key(seed, 0), sighting);
    make_augmentation(component)->apply(result, scratch, draws);
    return result;
}

Sample transformed(const plan::Component& component, const Sample& sample) {
    Sample result = sample;
    SampleScratch scratch;
    Draws draws(0, {});
    make_transform(component)->apply(result, scratch, draws);
    return result;
}

using Extents = std::vector<std::int64_t>;
const plan::Component kFlip{"flip", {{"probability", 1.0}}};

}  // namespace

// PyDTNN flipped samples in channels, height, width by the wrong axis: upside down.
TEST_CASE("flip mirrors left to right, and never anything else") {
    const Sample before = marked(3, 4, 5);
    const Sample after = augmented(kFlip, before, {});
    const Sample turned = augmented({"vertical_flip", {{"probability", 1.0}}}, before, {});
    for (std::int64_t c = 0; c < 3; ++c) {
        for (std::int64_t y = 0; y < 4; ++y) {
            for (std::int64_t x = 0; x < 5; ++x) {
                CHECK(at(after, c, y, x) == at(before, c, y, 4 - x));
                CHECK(at(turned, c, y, x) == at(before, c, 3 - y, x));
            }
        }
    }
}

TEST_CASE("an augmentation happens as often as it says, and never or always at the ends") {
    const Sample before = marked(1, 2, 3);
    for (const double probability : {0.0, 0.25, 0.5, 1.0}) {
        const plan::Component flip{"flip", {{"probability", probability}}};
        int flipped = 0;
        for (std::int64_t i = 0; i < 2000; ++i)
            flipped += augmented(flip, before, {0, i, 0}).input().floats != before.input().floats;
        CHECK(std::abs(flipped - 2000 * probability) < 5 * std::sqrt(2000 * 0.25) + 1e-9);
        if (probability == 0 || probability == 1) CHECK(flipped == 2000 * probability);
    }
}

// PyDTNN's crop zeroed two corners and rolled the rest round the edges, in channels last along the
// channels: colours changed places.
TEST_CASE("a padded crop shifts the sample, its channels alike, and fills what it uncovers") {
    const Sample before = marked(3, 6, 7);
    const plan::Component component{"random_crop", {{"padding", Extents{2, 3}}, {"fill", 0.25}}};
    std::set<std::pair<std::int64_t, std::int64_t>> shifts;
    for (std::int64_t i = 0; i < 1500; ++i) {
        const Sample after = augmented(component, before, {4, i, 0});
        REQUIRE(after.input().dims[0] == 3);
        REQUIRE(after.input().dims[1] == 6);
        REQUIRE(after.input().dims[2] == 7);
        // The shift follows from where the middle pixel of the first channel comes from.
        const auto code = std::int64_t(at(after, 0, 3, 3) * 65536) - 1;
        const std::int64_t down = code / 100 - 3, right = code % 100 - 3;
        shifts.insert({down, right});
        for (std::int64_t c = 0; c < 3; ++c) {
            for (std::int64_t y = 0; y < 6; ++y) {
                for (std::int64_t x = 0; x < 7; ++x) {
                    const std::int64_t row = y + down, column = x + right;
                    const bool inside = row >= 0 && row < 6 && column >= 0 && column < 7;
                    REQUIRE(at(after, c, y, x) == (inside ? at(before, c, row, column) : 0.25f));
                }
            }
        }
    }
    CHECK(shifts.size() == 5 * 7);  // all of them
}

TEST_CASE("a crop to a size is a part of the sample, from anywhere") {
    const Sample before = marked(1, 5, 6);
    const plan::Component component{
        "random_crop", {{"padding", Extents{0, 0}}, {"size", Extents{3, 4}}, {"fill", 0.0}}};
    std::set<float> corners;
    for (std::int64_t i = 0; i < 500; ++i) {
        const Sample after = augmented(component, before, {0, i, 0});
        REQUIRE(after.input().dims[1] == 3);
        REQUIRE(after.input().dims[2] == 4);
        REQUIRE(at(after, 0, 2, 3) - at(after, 0, 0, 0) == 203.0f / 65536);
        corners.insert(at(after, 0, 0, 0));
    }
    CHECK(corners.size() == 9);
}

TEST_CASE("crop and centre_crop take their part, and refuse samples that lack it") {
    const Sample before = marked(2, 6, 9);
    const Sample part = transformed(
        {"crop", {{"size", Extents{2, 3}}, {"top", std::int64_t{1}}, {"left", std::int64_t{4}}}},
        before);
    CHECK(part.input().floats.size() == 12);
    CHECK(at(part, 1, 1, 2) == at(before, 1, 2, 6));
    const Sample centre = transformed({"centre_crop", {{"size", Extents{2, 3}}}}, before);
    CHECK(at(centre, 0, 0, 0) == at(before, 0, 2, 3));
    const Sample share = transformed({"centre_crop", {{"share", 0.5}}}, before);
    CHECK(share.input().dims[1] == 3);
    CHECK(share.input().dims[2] == 5);
    expect_error(Exit::failed, {"is 2x6x9", "centre_crop", "7x7", "resize"}, [&] {
        transformed({"centre_crop", {{"size", Extents{7, 7}}}}, before);
    });
}

TEST_CASE("random_resized_crop takes parts of the areas and ratios that it is given") {
    // A ramp along both axes: the corners of the result say the part.
    Sample before;
    before.input().set_floats(std::array<std::int64_t, 3>{2, 64, 48});
    for (std::int64_t y = 0; y < 64; ++y) {
        for (std::int64_t x = 0; x < 48; ++x) {
            before.input().floats[std::size_t(y * 48 + x)] = float(y);
            before.input().floats[std::size_t((64 + y) * 48 + x)] = float(x);
        }
    }
    const plan::Component component{"random_resized_crop",
                                    {{"size", Extents{16, 16}},
                                     {"area", std::vector<double>{0.2, 0.6}},
                                     {"ratio", std::vector<double>{0.5, 2.0}},
                                     {"antialias", false}}};
    double least = 1, greatest = 0;
    for (std::int64_t i = 0; i < 400; ++i) {
        const Sample after = augmented(component, before, {0, i, 0});
        REQUIRE(after.input().dims[1] == 16);
        const double height = (at(after, 0, 15, 8) - at(after, 0, 0, 8)) * 16 / 15;
        const double width = (at(after, 1, 8, 15) - at(after, 1, 8, 0)) * 16 / 15;
        const double area = height * width / (64 * 48);
        CHECK(area > 0.2 * 0.93);
        CHECK(area < 0.6 * 1.07);
        CHECK(width / height > 0.5 * 0.93);
        CHECK(width / height < 2.0 * 1.07);
        least = std::min(least, area);
        greatest = std::max(greatest, area);
    }
    CHECK(least < 0.25);
    CHECK(greatest > 0.55);
}

TEST_CASE("what makes another size makes it of evaluated samples too, of their middle") {
    const Sample before = marked(1, 6, 9);
    plan::Plan plan;
    plan.dataset.input().dims = {1, 4, 4};
    const auto plain = [&](plan::Component component) {
        plan.dataset.augmentations = {kFlip, std::move(component)};
        Sample sample = before;
        SampleScratch scratch;
        SampleChain(plan).leave_plain(sample, scratch);
        return sample;
    };
    const Sample part = plain(
        {"random_crop", {{"padding", Extents{0, 0}}, {"size", Extents{4, 4}}, {"fill", 0.0}}});
    REQUIRE(part.input().floats.size() == 16);
    CHECK(at(part, 0, 0, 0) == at(before, 0, 1, 2));
    const Sample resized = plain({"random_resized_crop",
                                  {{"size", Extents{3, 3}},
                                   {"area", std::vector<double>{0.5, 1.0}},
                                   {"ratio", std::vector<double>{1.0, 1.0}},
                                   {"antialias", true}}});
    REQUIRE(resized.input().floats.size() == 9);
    // The middle 6x6 by means weighted 1, 3, 3, 1: of a ramp, its value at the pixel's centre.
    CHECK(at(resized, 0, 1, 1) == doctest::Approx((2.5 * 100 + 3.5 + 1) / 65536));
    CHECK(plain({"random_crop", {{"padding", Extents{2, 2}}, {"fill", 0.0}}}).input().floats ==
          before.input().floats);
}

TEST_CASE("cutout covers a rectangle of all channels about any pixel") {
    Sample before;
    before.input().set_floats(std::array<std::int64_t, 3>{3, 8, 8});
    std::fill(before.input().floats.begin(), before.input().floats.end(), 1.0f);
    const plan::Component component{"cutout",
                                    {{"size", Extents{4, 2}}, {"fill", 0.5}, {"probability", 1.0}}};
    std::set<std::int64_t> rows, columns, areas;
    for (std::int64_t i = 0; i < 300; ++i) {
        const Sample after = augmented(component, before, {0, i, 0});
        std::int64_t top = 8, bottom = -1, left = 8, right = -1, count = 0;
        for (std::int64_t y = 0; y < 8; ++y) {
            for (std::int64_t x = 0; x < 8; ++x) {
                REQUIRE(at(after, 0, y, x) == at(after, 1, y, x));
                REQUIRE(at(after, 0, y, x) == at(after, 2, y, x));
                if (at(after, 0, y, x) == 1.0f) continue;
                REQUIRE(at(after, 0, y, x) == 0.5f);
                top = std::min(top, y), bottom = std::max(bottom, y);
                left = std::min(left, x), right = std::max(right, x);
                ++count;
            }
        }
        CHECK(count == (bottom - top + 1) * (right - left + 1));
        areas.insert(count);
        rows.insert(top);
        columns.insert(left);
    }
    CHECK(*areas.rbegin() == 8);
    CHECK(*areas.begin() < 8);  // cut off at an edge
    CHECK(rows.size() == 6);
    CHECK(columns.size() == 7);
}

// PyDTNN's saturation worked channel by channel, which changes nothing.
TEST_CASE("changes of colour change what they say, and stay between 0 and 1") {
    Sample sample;
    sample.input().set_floats(std::array<std::int64_t, 3>{3, 1, 2});
    const std::vector<float> pixels = {0.5f, 0.9f, 0.25f, 0.1f, 0.75f, 0.3f};
    const float gray = 0.299f * 0.5f + 0.587f * 0.25f + 0.114f * 0.75f;
    const float other = 0.299f * 0.9f + 0.587f * 0.1f + 0.114f * 0.3f;

    sample.input().floats = pixels;
    change_saturation(sample, 0);
    for (const std::size_t i : {0u, 2u, 4u})
        CHECK(sample.input().floats[i] == doctest::Approx(gray));
    sample.input().floats = pixels;
    change_saturation(sample, 1.5f);
    CHECK(sample.input().floats[0] == doctest::Approx(1.5f * 0.5f - 0.5f * gray));
    CHECK(sample.input().floats[1] == 1.0f);

    sample.input().floats = pixels;
    change_brightness(sample, 1.2f);
    CHECK(sample.input().floats[0] == doctest::Approx(0.6f));
    CHECK(sample.input().floats[1] == 1.0f);

    sample.input().floats = pixels;
    change_contrast(sample, 0.5f);
    CHECK(sample.input().floats[2] == doctest::Approx(0.5f * 0.25f + 0.25f * (gray + other)));

    sample.input().floats = pixels;
    to_gray(sample);
    CHECK(sample.input().dims[0] == 1);
    REQUIRE(sample.input().floats.size() == 2);
    CHECK(sample.input().floats[1] == doctest::Approx(other));

    // The factors that are drawn lie on both sides of 1 and within the amount.
    Sample flat;
    flat.input().set_floats(std::array<std::int64_t, 3>{1, 1, 1});
    flat.input().floats = {0.5f};
    float least = 1, greatest = 0;
    for (std::int64_t i = 0; i < 300; ++i) {
        const plan::Component brightness{"brightness", {{"amount", 0.2}, {"probability", 1.0}}};
        const float pixel = augmented(brightness, flat, {0, i, 0}).input().floats[0];
        least = std::min(least, pixel), greatest = std::max(greatest, pixel);
    }
    CHECK(least >= 0.4f);
    CHECK(least < 0.41f);
    CHECK(greatest <= 0.6f);
    CHECK(greatest > 0.59f);
}

// PyDTNN's in-memory datasets began a generator with the same seed for every epoch.
TEST_CASE(
    "what is drawn differs by epoch, sample, occurrence, seed and place, and by nothing else") {
    plan::Plan plan;
    plan.dataset.input().dims = {1, 8, 8};
    plan.dataset.augmentations = {{"random_crop", {{"padding", Extents{4, 4}}, {"fill", 0.0}}},
                                  {"random_crop", {{"padding", Extents{4, 4}}, {"fill", 0.0}}}};
    const auto result = [](const plan::Plan& of, const Sighting& sighting) {
        Sample sample = marked(1, 8, 8);
        SampleScratch scratch;
        SampleChain(of).augment(sample, scratch, sighting);
        return sample.input().floats;
    };
    std::set<std::vector<float>> all;
    const std::vector<float> base = result(plan, {});
    CHECK(result(plan, {}) == base);
    for (std::int64_t epoch = 0; epoch < 6; ++epoch)
        for (std::int64_t index = 0; index < 3; ++index)
            for (std::int64_t occurrence = 0; occurrence < 3; ++occurrence)
                all.insert(result(plan, {epoch, index, occurrence}));
    plan.training.seed = 1;
    all.insert(result(plan, {}));
    CHECK(all.size() > 45);  // of 55, with 81 shifts twice

    // Two of the same kind draw otherwise: the sum of two shifts is not always even.
    plan::Plan one = plan;
    one.dataset.augmentations.pop_back();
    int different = 0;
    for (std::int64_t index = 0; index < 20; ++index) {
        Sample sample = marked(1, 8, 8);
        sample.input().floats = result(one, {0, index, 0});
        SampleScratch scratch;
        SampleChain(one).augment(sample, scratch, {0, index, 0});
        different += sample.input().floats != result(plan, {0, index, 0});
    }
    CHECK(different > 10);
}

TEST_CASE("mixing is exact and symmetric, and partners are neighbours") {
    std::vector<double> rows = {1, 2, 100, 200}, alone = {100, 200};
    mix_row(alone.data(), rows.data(), 2, 0.75);
    mix_pair(rows.data(), rows.data() + 2, 2, 0.75);
    CHECK(rows == std::vector<double>{25.75, 51.5, 75.25, 150.5});
    CHECK(alone == std::vector<double>{75.25, 150.5});
    CHECK(mixing_partner(6) == 7);
    CHECK(mixing_partner(7) == 6);
    // Beta(a, a) has the mean 1/2 and the variance 1 / (4 (2 a + 1)).
    for (const double alpha : {0.2, 1.0, 4.0}) {
        double sum = 0, squares = 0;
        constexpr int kCount = 4000;
        for (std::int64_t i = 0; i < kCount; ++i) {
            Draws draws(7, {0, i, 0});
            const double share = mixing_share(alpha, draws);
            REQUIRE(share >= 0);
            REQUIRE(share <= 1);
            sum += share;
            squares += share * share;
        }
        const double mean = sum / kCount, variance = squares / kCount - mean * mean;
        CHECK(mean == doctest::Approx(0.5).epsilon(0.05));
        CHECK(variance == doctest::Approx(1 / (4 * (2 * alpha + 1))).epsilon(0.1));
    }
}

TEST_CASE("normalize has constants or lists, one number or one for each channel") {
    const Normalization lists = normalization_of(
        {"normalize",
         {{"mean", std::vector<double>{0.5}}, {"deviation", std::vector<double>{1, 2}}}},
        2);
    CHECK(lists.mean == std::vector<double>{0.5, 0.5});
    CHECK(lists.standard_deviation == std::vector<double>{1, 2});
    const Normalization known =
        normalization_of({"normalize", {{"constants", std::string("imagenet")}}}, 3);
    CHECK(known.mean[0] == 0.485);
    CHECK(known.standard_deviation[2] == 0.225);
    expect_error(Exit::mismatch, {"imagenettes", "dtnnc"}, [] {
        normalization_of({"normalize", {{"constants", std::string("imagenettes")}}}, 3);
    });
    expect_error(Exit::mismatch, {"3 numbers for 2 channels"}, [] {
        normalization_of({"normalize", {{"constants", std::string("imagenet")}}}, 2);
    });
}

TEST_CASE("a plan with a step that is unknown is refused") {
    expect_error(Exit::mismatch, {"swirl", "random_crop"}, [] {
        make_augmentation({"swirl", {}});
    });
    expect_error(Exit::mismatch, {"flip", "centre_crop"}, [] { make_transform({"flip", {}}); });
    expect_error(Exit::mismatch, {"random_crop", "padding"}, [] {
        make_augmentation({"random_crop", {}});
    });
}

// A plan's text can be changed by anybody: lists too short, numbers that count backwards, sums that
// overflow. All are refused before a sample is loaded.
TEST_CASE("a step whose fields are out of bounds is refused by its name") {
    constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max() - 2;
    const std::vector<plan::Component> augmentations = {
        {"flip", {{"probability", 0.5}}},
        {"random_crop", {{"padding", Extents{2, 2}}, {"size", Extents{3, 3}}, {"fill", 0.5}}},
        {"random_resized_crop",
         {{"size", Extents{3, 3}},
          {"area", std::vector<double>{0.1, 1}},
          {"ratio", std::vector<double>{0.75, 1.5}},
          {"antialias", true}}},
        {"rotation", {{"degrees", 10.0}, {"fill", 0.0}, {"probability", 1.0}}},
        {"contrast", {{"amount", 0.5}, {"probability", 1.0}}},
        {"cutout", {{"size", Extents{8, 40}}, {"fill", 0.0}, {"probability", 1.0}}}};
    const std::vector<plan::Component> transforms = {
        {"resize", {{"size", Extents{3, 3}}, {"antialias", true}}},
        {"resize", {{"shorter", std::int64_t{3}}, {"antialias", true}}},
        {"crop", {{"size", Extents{3, 3}}, {"top", std::int64_t{1}}, {"left", std::int64_t{1}}}},
        {"centre_crop", {{"size", Extents{3, 3}}}},
        {"centre_crop", {{"share", 0.5}}}};
    int refused = 0;
    const auto mutate = [&](const plan::Component& sound, auto make) {
        CHECK_NOTHROW(make(sound));
        for (const auto& [field, value] : sound.attributes) {
            std::vector<AttributeValue> bad = {std::string("x"), Extents{}};
            if (std::holds_alternative<Extents>(value)) {
                for (const Extents& list : {Extents{3}, Extents{3, 3, 3}, Extents{8, -40},
                                            Extents{-1, 3}, Extents{kHuge, 3}, Extents{3, kHuge}})
                    bad.emplace_back(list);
            } else if (std::holds_alternative<std::vector<double>>(value)) {
                for (const std::vector<double>& list : std::initializer_list<std::vector<double>>{
                         {1.0}, {0.5, 0.5, 0.5}, {-1.0, 1.0}, {0.0, 1.0}, {0.5, 1e300}})
                    bad.emplace_back(list);
            } else if (std::holds_alternative<double>(value)) {
                bad.insert(bad.end(), {-1.0, 1e300});
            } else if (std::holds_alternative<std::int64_t>(value)) {
                bad.insert(bad.end(), {std::int64_t{-1}, kHuge});
            }
            for (const AttributeValue& wrong : bad) {
                plan::Component changed = sound;
                changed.attributes[field] = wrong;
                const std::string& name = field;
                CAPTURE(name);
                expect_error(Exit::mismatch, {sound.type.c_str(), field.c_str()},
                             [&] { make(changed); });
                ++refused;
            }
        }
    };
    for (const plan::Component& one : augmentations)
        mutate(one, [](const plan::Component& step) { return make_augmentation(step); });
    for (const plan::Component& one : transforms)
        mutate(one, [](const plan::Component& step) { return make_transform(step); });
    CHECK(refused > 100);
    expect_error(Exit::mismatch, {"normalize", "deviation"}, [] {
        normalization_of(
            {"normalize",
             {{"mean", std::vector<double>{0.5}}, {"deviation", std::vector<double>{0}}}},
            1);
    });
}

namespace {

/// A mask whose class is that of a pixel's colour: one more than the number of its place, 0 is
/// none.
Sample masked(std::int64_t height, std::int64_t width) {
    Sample sample = marked(1, height, width);
    sample.target().dims = {height, width};
    for (std::int64_t i = 0; i < height * width; ++i) {
        sample.target().integers.push_back(std::int32_t(i + 1));
        sample.input().floats[std::size_t(i)] = float(i + 1) / 4096;
    }
    return sample;
}

/// Whether every pixel still has its label, 0 where it was filled in.
void check_together(const Sample& sample) {
    REQUIRE(sample.target().integers.size() == sample.input().floats.size());
    for (std::size_t i = 0; i < sample.target().integers.size(); ++i)
        CHECK(std::lround(sample.input().floats[i] * 4096) == sample.target().integers[i]);
}

}  // namespace

TEST_CASE("what moves pixels moves their labels alike") {
    const Sample sample = masked(6, 7);
    const plan::Component vertical{"vertical_flip", {{"probability", 1.0}}};
    check_together(augmented(kFlip, sample, {0, 0, 0}));
    CHECK(augmented(kFlip, sample, {0, 0, 0}).target().integers[0] == 7);
    check_together(augmented(vertical, sample, {0, 0, 0}));
    CHECK(augmented(vertical, sample, {0, 0, 0}).target().integers[0] == 36);
    check_together(transformed(
        {"crop", {{"size", Extents{3, 2}}, {"top", std::int64_t{1}}, {"left", std::int64_t{4}}}},
        sample));
    check_together(transformed({"centre_crop", {{"size", Extents{2, 3}}}}, sample));
    // The same size, and twice and half of it without antialias: whole pixels.
    const auto resized = [&](Extents size) {
        return transformed({"resize", {{"size", std::move(size)}, {"antialias", false}}}, sample);
    };
    CHECK(resized({12, 14}).target().integers.size() == 168);
    CHECK(resized({12, 14}).target().integers[15] == 1);
    CHECK(resized({12, 14}).target().integers[16] == 2);
    CHECK(resized({3, 7}).target().integers ==
          std::vector<std::int32_t>{8,  9,  10, 11, 12, 13, 14, 22, 23, 24, 25,
                                    26, 27, 28, 36, 37, 38, 39, 40, 41, 42});
    for (std::int64_t index = 0; index < 20; ++index) {
        const Sample moved = augmented(
            {"random_crop", {{"size", Extents{5, 6}}, {"padding", Extents{3, 3}}, {"fill", 0.0}}},
            sample, {0, index, 0});
        check_together(moved);
        const Sample part = augmented({"random_resized_crop",
                                       {{"size", Extents{4, 4}},
                                        {"area", std::vector<double>{0.2, 1.0}},
                                        {"ratio", std::vector<double>{0.75, 1.333}},
                                        {"antialias", true}}},
                                      sample, {0, index, 0});
        CHECK(part.target().integers.size() == 16);
        // Rows and columns in their order, and nothing filled in.
        for (std::size_t i = 0; i < part.target().integers.size(); ++i) {
            CHECK(part.target().integers[i] >= 1);
            if (i % 4 > 0) CHECK(part.target().integers[i] >= part.target().integers[i - 1]);
            if (i >= 4) CHECK(part.target().integers[i] >= part.target().integers[i - 4]);
        }
    }
}

TEST_CASE("a turned mask is of the classes that there were") {
    Sample sample;
    sample.input().set_floats(std::array<std::int64_t, 3>{1, 32, 32});
    sample.target().dims = {32, 32};
    // A disc about the centre turns into itself; what comes from outside is of class 0.
    for (int y = 0; y < 32; ++y) {
        for (int x = 0; x < 32; ++x) {
            const double far = std::hypot(y - 15.5, x - 15.5);
            sample.target().integers.push_back(far < 10 ? 2 : 1);
            sample.input().floats[std::size_t(y) * 32 + std::size_t(x)] = far < 10 ? 1.0f : 0.5f;
        }
    }
    for (std::int64_t index = 0; index < 10; ++index) {
        const Sample turned =
            augmented({"rotation", {{"degrees", 45.0}, {"fill", 0.0}}}, sample, {0, index, 0});
        int apart = 0;
        for (std::size_t i = 0; i < turned.target().integers.size(); ++i) {
            CHECK(turned.target().integers[i] >= 0);
            CHECK(turned.target().integers[i] <= 2);
            apart +=
                std::abs(double(turned.input().floats[i]) - turned.target().integers[i] / 2.0) > 0.3
                    ? 1
                    : 0;
        }
        CHECK(apart < 40);
    }
}

}  // namespace dtnn::runtime::samples_test
