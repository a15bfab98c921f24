#pragma once
/// Samples out of streams of tokens: a stretch of `steps` tokens is a sample, and the class of each
/// step is the token behind it.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/data/formats/content_hash.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sources/source_type.hpp"

namespace dtnn::runtime {

/// A file of tokens, which stays where it is.
class TokenFile {
  public:
    virtual ~TokenFile() = default;

    virtual const std::string& path() const = 0;
    virtual std::int64_t tokens() const = 0;
    /// Tokens `first` and following, by several threads at once. What is no token is a RunError.
    virtual void read(std::int64_t first, std::span<std::int32_t> to) const = 0;
    /// Adds what the tokens depend on; whether these are all of their bytes.
    virtual bool add_to(ContentHash& hash) const = 0;
    /// Bytes that are kept in memory.
    virtual std::int64_t resident_bytes() const { return 0; }
};
using TokenFiles = std::vector<std::unique_ptr<TokenFile>>;

class TokenWindows final : public SampleSource {
  public:
    /// `test` may be empty: then the dataset's `test_share` of all tokens, the last of them, is the
    /// test's, if it has one. RunError where the samples are not those that the plan expects.
    /// `classes`: how many tokens there are; `names`: what they are called, if they have names.
    TokenWindows(const plan::Dataset& dataset, const Asked& asked, TokenFiles train,
                 TokenFiles test, std::int64_t classes, std::vector<std::string> names = {});

    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override { return of(split).samples; }
    std::uint64_t content_hash() const override { return hash_; }
    bool hashes_samples() const override { return hashes_all_; }
    std::int64_t resident_bytes() const override { return resident_; }
    std::string name_of(Split split, std::int64_t index) const override;
    std::vector<std::string> class_names() const override { return names_; }
    std::int64_t found_classes() const override { return classes_; }
    Dims found_shape() const override { return {steps_}; }

  private:
    /// The part of a file that is one split's.
    struct Stretch {
        const TokenFile* file;
        std::int64_t begin, tokens;
        std::int64_t first_sample;
    };
    struct Part {
        std::vector<Stretch> stretches;  ///< those that have samples
        std::int64_t samples = 0;
    };
    void add(Part& part, const TokenFile& file, std::int64_t begin, std::int64_t tokens) const;
    void share(double test);
    void check_counts(const plan::Dataset& dataset, const Asked& asked) const;
    const Part& of(Split split) const { return split == Split::train ? train_ : test_; }
    const Stretch& stretch_of(Split split, std::int64_t index) const;

    std::int64_t steps_, stride_, classes_;
    TokenFiles files_;
    std::vector<std::string> names_;
    Part train_, test_;
    std::uint64_t hash_ = 0;
    bool hashes_all_ = true;
    std::int64_t resident_ = 0;
};

}  // namespace dtnn::runtime
