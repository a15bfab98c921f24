#include "runtime/data/sources/digits.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/philox.hpp"
#include "runtime/data/formats/content_hash.hpp"
#include "runtime/data/sources/glyphs.hpp"
#include "runtime/data/sources/source_type.hpp"

namespace dtnn::runtime {
namespace {

namespace philox = kernels::philox;

// Only additions, products, quotients and square roots: they are rounded alike everywhere, so a
// sample is the same on every machine.

/// The numbers of one sample, in order.
class DigitDraws {
  public:
    DigitDraws(std::uint64_t seed, Split split, std::int64_t index)
        : key_(philox::key_of(seed, philox::Purpose::data, split == Split::train ? 0 : 1)),
          step_(std::uint64_t(index)) {}
    std::uint32_t word() {
        if (next_ % 4 == 0) block_ = philox::block(key_, step_, next_ / 4);
        return block_[next_++ % 4];
    }
    float uniform(float low, float high) {
        return low + (high - low) * philox::uniform_float(word());
    }

  private:
    std::uint64_t key_;
    std::uint64_t step_;
    std::uint64_t next_ = 0;
    philox::Block block_{};
};

/// From unit coordinates to pixels.
struct Affine {
    float xx = 1, xy = 0, yx = 0, yy = 1, dx = 0, dy = 0;
    Point operator()(Point p) const { return {xx * p.x + xy * p.y + dx, yx * p.x + yy * p.y + dy}; }
};

Affine draw_affine(DigitDraws& draws) {
    const float width = draws.uniform(11.5f, 18.0f);
    const float height = draws.uniform(16.5f, 21.5f);
    const float shear = draws.uniform(-0.28f, 0.28f);
    // A rotation by its half angle's tangent: up to 17 degrees either way.
    const float t = draws.uniform(-0.15f, 0.15f);
    const float cosine = (1 - t * t) / (1 + t * t), sine = 2 * t / (1 + t * t);
    Affine affine;
    // Scale and shear about the middle, then rotate.
    const float sx = width, kx = -shear * height, sy = height;
    affine.xx = cosine * sx;
    affine.xy = cosine * kx - sine * sy;
    affine.yx = sine * sx;
    affine.yy = sine * kx + cosine * sy;
    const float middle_x = 0.5f * float(kGlyphSide - 1) + draws.uniform(-2.2f, 2.2f);
    const float middle_y = 0.5f * float(kGlyphSide - 1) + draws.uniform(-2.2f, 2.2f);
    affine.dx = middle_x - 0.5f * (affine.xx + affine.xy);
    affine.dy = middle_y - 0.5f * (affine.yx + affine.yy);
    return affine;
}

using Distances = std::array<float, kGlyphPixels>;  ///< squared, from the nearest stroke

/// Lowers the distances within `reach` of a line from a to b.
void draw_line(Distances& distances, Point a, Point b, float reach) {
    const auto first = [](float v) { return std::max(0, int(std::ceil(v))); };
    const auto last = [](float v) { return std::min(kGlyphSide - 1, int(std::floor(v))); };
    const int left = first(std::min(a.x, b.x) - reach), right = last(std::max(a.x, b.x) + reach);
    const int top = first(std::min(a.y, b.y) - reach), bottom = last(std::max(a.y, b.y) + reach);
    const float ux = b.x - a.x, uy = b.y - a.y;
    const float length = ux * ux + uy * uy;
    const float inverse = length > 0 ? 1 / length : 0;
    for (int y = top; y <= bottom; ++y) {
        for (int x = left; x <= right; ++x) {
            const float px = float(x) - a.x, py = float(y) - a.y;
            const float along = std::clamp((px * ux + py * uy) * inverse, 0.0f, 1.0f);
            const float ex = px - along * ux, ey = py - along * uy;
            float& distance = distances[std::size_t(y) * kGlyphSide + std::size_t(x)];
            distance = std::min(distance, ex * ex + ey * ey);
        }
    }
}

Point on_curve(const Point* p, float t) {
    const float s = 1 - t;
    const float a = s * s * s, b = 3 * s * s * t, c = 3 * s * t * t, d = t * t * t;
    return {a * p[0].x + b * p[1].x + c * p[2].x + d * p[3].x,
            a * p[0].y + b * p[1].y + c * p[2].y + d * p[3].y};
}

void draw_stroke(Distances& distances, std::span<const Point> points, float reach) {
    constexpr int kPieces = 6;
    for (std::size_t begin = 0; begin + 3 < points.size(); begin += 3) {
        Point from = points[begin];
        for (int piece = 1; piece <= kPieces; ++piece) {
            const Point to = on_curve(&points[begin], float(piece) / float(kPieces));
            draw_line(distances, from, to, reach);
            from = to;
        }
    }
}

}  // namespace

void render_digit(std::uint64_t seed, Split split, std::int64_t index,
                  std::span<std::uint8_t> pixels) {
    DigitDraws draws(seed, split, index);
    const std::span<const Glyph> shapes = shapes_of(int(index % 10));
    const Glyph& glyph = shapes[std::size_t(std::uint64_t(draws.word()) * shapes.size() >> 32)];
    const Affine affine = draw_affine(draws);
    const float half_width = draws.uniform(0.7f, 1.7f);
    const float ink = draws.uniform(190.0f, 255.0f);
    const float grain = draws.uniform(4.0f, 24.0f);

    Distances distances;
    const float far = half_width + 1.0f;
    distances.fill(far * far);
    std::array<Point, kMostPoints> moved;
    for (const Stroke& stroke : glyph.strokes) {
        for (std::size_t i = 0; i < stroke.points.size(); ++i) {
            Point point = stroke.points[i];
            point.x += draws.uniform(-0.05f, 0.05f);
            point.y += draws.uniform(-0.04f, 0.04f);
            moved[i] = affine(point);
        }
        draw_stroke(distances, {moved.data(), stroke.points.size()}, far);
    }
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        // Ink falls off over the width of one pixel at the stroke's edge.
        const float cover = std::clamp(half_width + 0.5f - std::sqrt(distances[i]), 0.0f, 1.0f);
        const std::uint32_t word = draws.word();
        // The sum of two uniform numbers, centred.
        const float noise = (float(word & 0xFFFFu) + float(word >> 16)) / 65535.0f - 1.0f;
        const float value = ink * cover + grain * noise;
        // Rounded as every version has rounded it: the samples are to stay the same.
        // NOLINTNEXTLINE(bugprone-incorrect-roundings)
        pixels[i] = std::uint8_t(std::clamp(value, 0.0f, 255.0f) + 0.5f);
    }
}

Digits::Digits(std::uint64_t seed, std::int64_t train_samples, std::int64_t test_samples)
    : seed_(seed), train_(train_samples), test_(test_samples) {}

void Digits::load(Split split, std::int64_t index, Sample& sample) const {
    Rendered& rendered = split == Split::train ? train_ : test_;
    const std::span<std::uint8_t> kept(rendered.pixels.data() + index * kGlyphPixels, kGlyphPixels);
    std::atomic<State>& state = rendered.states[std::size_t(index)];
    sample.target().set_class(std::int32_t(index % 10));
    State found = state.load(std::memory_order_acquire);
    if (found == State::none && state.compare_exchange_strong(found, State::in_work)) {
        render_digit(seed_, split, index, kept);
        state.store(State::done, std::memory_order_release);
        found = State::done;
    }
    if (found == State::done) {
        sample.input().set_image({1, kGlyphSide, kGlyphSide}, kept.data());
        return;
    }
    // Another thread is drawing it: the same pixels once more are cheaper than waiting.
    sample.scratch.resize(kGlyphPixels);
    render_digit(seed_, split, index, sample.scratch);
    sample.input().set_image({1, kGlyphSide, kGlyphSide}, sample.scratch.data());
}

std::uint64_t Digits::content_hash() const {
    ContentHash hash;
    hash.add("digits").add(seed_).add(std::uint64_t(train_.samples));
    hash.add(std::uint64_t(test_.samples));
    // One of each digit stands for how they are drawn.
    std::array<std::uint8_t, kGlyphPixels> pixels;
    for (std::int64_t index = 0; index < 10; ++index) {
        render_digit(seed_, Split::train, index, pixels);
        hash.add({reinterpret_cast<const char*>(pixels.data()), pixels.size()});
    }
    return hash.value();
}

std::int64_t Digits::resident_bytes() const {
    return (train_.samples + test_.samples) * (kGlyphPixels + 1);
}

std::vector<std::string> Digits::class_names() const {
    std::vector<std::string> names;
    for (int digit = 0; digit < 10; ++digit)
        names.push_back(std::to_string(digit));
    return names;
}

SourceType digits_source() {
    return {.open = [](const plan::Dataset& dataset, const Asked&) -> Source {
        check_fixed(dataset, {1, kGlyphSide, kGlyphSide}, 10);
        return std::make_unique<Digits>(seed_of(dataset), source_train_samples(dataset),
                                        dataset.test_samples);
    }};
}

}  // namespace dtnn::runtime
