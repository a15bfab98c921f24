#include "tools/dtnnc_runtime/same_samples.hpp"

#include <fmt/format.h>

#include <memory>

#include "runtime/base/run_error.hpp"
#include "runtime/data/sample_source.hpp"

namespace dtnn::tools {
namespace {

/// A dataset as far as it could be read.
struct Content {
    std::uint64_t hash = 0;
    bool of_bytes = false;  ///< the hash is of the samples themselves
    std::string fault;      ///< why it could not be opened; empty: it was
};

Content content_of(const plan::Plan& plan, const std::string& name) {
    try {
        const auto source =
            runtime::open_source(plan.dataset, runtime::Counts::exact, plan.target.dtype);
        return {source->content_hash(), source->hashes_samples(), ""};
    } catch (const runtime::RunError& error) {
        return {0, false,
                fmt::format("the dataset of {} cannot be read here: {}", name, error.what())};
    }
}

}  // namespace

void settle_samples(const plan::Plan& a, const plan::Plan& b, const std::string& name_a,
                    const std::string& name_b, std::vector<plan::Change>& changes) {
    const auto open = [](const plan::Change& change) {
        return change.meaning == plan::Meaning::unread;
    };
    const Content s = content_of(a, name_a);
    const Content t = s.fault.empty() ? content_of(b, name_b) : Content();
    for (plan::Change& change : changes) {
        if (!open(change)) continue;
        if (const std::string& fault = s.fault.empty() ? t.fault : s.fault; !fault.empty()) {
            change.reason = fault;
        } else if (s.of_bytes && s.of_bytes == t.of_bytes && s.hash == t.hash) {
            change.meaning = plan::Meaning::performance;
            change.reason =
                fmt::format("both were read, and the samples are the same: xxh3:{:016x}", s.hash);
        } else if (s.of_bytes == t.of_bytes && s.hash != t.hash) {
            change.meaning = plan::Meaning::mathematics;
            change.reason = fmt::format(
                "both were read, and the {} differ: xxh3:{:016x}, xxh3:{:016x}",
                s.of_bytes ? "samples" : "names or sizes of their files", s.hash, t.hash);
        } else {
            change.reason = s.of_bytes == t.of_bytes
                                ? "the files on both sides have the same names and sizes; their "
                                  "content, more than dataset.cache holds, was not read"
                                : "the files of one side are more than its dataset.cache holds, "
                                  "and their content was not read";
        }
    }
    plan::sort_changes(changes);
}

}  // namespace dtnn::tools
