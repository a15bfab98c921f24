#pragma once
/// The embedded dataset: ten classes of 28x28 glyphs, drawn from strokes.

#include <atomic>
#include <vector>

#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

inline constexpr int kGlyphSide = 28;
inline constexpr int kGlyphPixels = kGlyphSide * kGlyphSide;

/// Sample i of a split shows the digit i % 10: one of its shapes with every control point moved a
/// little, rotated, sheared, scaled and shifted, drawn with a pen of some width, with noise. A pure
/// function of (seed, split, index). Rendered when first asked for and kept as bytes.
class Digits final : public SampleSource {
  public:
    Digits(std::uint64_t seed, std::int64_t train_samples, std::int64_t test_samples);
    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override { return of(split).samples; }
    std::uint64_t content_hash() const override;
    std::int64_t resident_bytes() const override;
    std::vector<std::string> class_names() const override;

  private:
    enum class State : std::uint8_t { none, in_work, done };
    struct Rendered {
        explicit Rendered(std::int64_t count)
            : samples(count),
              pixels(std::size_t(count) * kGlyphPixels),
              states(std::size_t(count)) {}
        std::int64_t samples;
        std::vector<std::uint8_t> pixels;
        std::vector<std::atomic<State>>
            states;  ///< what has been drawn of `pixels`, sample by sample
    };
    const Rendered& of(Split split) const { return split == Split::train ? train_ : test_; }

    std::uint64_t seed_;
    mutable Rendered train_;
    mutable Rendered test_;
};

/// Draws one glyph: 28x28 bytes, row-major, 0 is empty and 255 ink.
void render_digit(std::uint64_t seed, Split split, std::int64_t index,
                  std::span<std::uint8_t> pixels);

}  // namespace dtnn::runtime
