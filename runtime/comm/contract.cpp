#include "runtime/comm/contract.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>
#include <map>
#include <set>

#include "runtime/base/run_error.hpp"
#include "runtime/base/text_bytes.hpp"

namespace dtnn::runtime {
namespace {

std::vector<std::byte> encode(const std::vector<Fact>& facts) {
    std::vector<std::byte> bytes;
    for (const Fact& fact : facts) {
        append_text(bytes, fact.name);
        append_text(bytes, fact.value);
    }
    return bytes;
}

std::vector<Fact> decode(std::span<const std::byte> bytes) {
    std::vector<Fact> facts;
    const std::vector<std::string> texts = texts_of(bytes);
    for (std::size_t i = 0; i + 1 < texts.size(); i += 2)
        facts.push_back({texts[i], texts[i + 1]});
    return facts;
}

/// "rank 1", "ranks 0-2, 5"
std::string ranks_text(const std::vector<int>& ranks) {
    std::string text;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        std::size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
            ++last;
        if (!text.empty()) text += ", ";
        text +=
            last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
        i = last;
    }
    return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

/// The first of them by their names, which say host and process.
std::string named(const Communicator& communicator, const std::vector<int>& ranks) {
    constexpr std::size_t kMost = 4;
    if (ranks.size() > kMost) return ranks_text(ranks);
    std::vector<std::string> names;
    names.reserve(ranks.size());
    for (const int rank : ranks)
        names.push_back(communicator.name_of(rank));
    return fmt::format("{}", fmt::join(names, ", "));
}

using Lists = std::vector<std::vector<Fact>>;  // by rank

std::string value_of(const std::vector<Fact>& facts, const std::string& name) {
    for (const Fact& fact : facts)
        if (fact.name == name) return fact.value;
    return "none";
}

/// Every fact's name, in the order in which the ranks name them.
std::vector<std::string> names_of(const Lists& lists) {
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const std::vector<Fact>& facts : lists)
        for (const Fact& fact : facts)
            if (seen.insert(fact.name).second) names.push_back(fact.name);
    return names;
}

RunError difference(const Communicator& communicator, const Lists& lists) {
    for (const std::string& name : names_of(lists)) {
        std::map<std::string, std::vector<int>> by_value;
        for (std::size_t rank = 0; rank < lists.size(); ++rank)
            by_value[value_of(lists[rank], name)].push_back(int(rank));
        if (by_value.size() == 1) continue;
        // Most ranks are right, or the half with rank 0.
        const auto* usual = &*by_value.begin();
        for (const auto& entry : by_value)
            if (entry.second.size() > usual->second.size() ||
                (entry.second.size() == usual->second.size() && entry.second.front() == 0))
                usual = &entry;
        std::vector<std::string> others;
        for (const auto& entry : by_value)
            if (&entry != usual)
                others.push_back(fmt::format("{} {} {} {}", named(communicator, entry.second),
                                             entry.second.size() == 1 ? "has" : "have", name,
                                             entry.first));
        return {Exit::mismatch,
                fmt::format("the ranks of the job differ: {}; {} {} {}", fmt::join(others, "; "),
                            ranks_text(usual->second), usual->second.size() == 1 ? "has" : "have",
                            usual->first),
                "start all ranks with the same program, plan and data"};
    }
    return {Exit::internal, "the ranks' facts have different hashes, but no fact differs",
            "please report this"};
}

}  // namespace

void check_contract(Communicator& communicator, const std::vector<Fact>& facts) {
    const std::vector<std::byte> mine = encode(facts);
    const XXH64_hash_t hash = XXH64(mine.data(), mine.size(), 0);
    const auto hashes = communicator.all_gather(std::as_bytes(std::span(&hash, 1)), "contract");
    bool same = true;
    for (const std::vector<std::byte>& other : hashes)
        same = same && other.size() == sizeof hash &&
               std::memcmp(other.data(), &hash, sizeof hash) == 0;
    // All ranks see the same hashes, so all come to the same answer.
    if (same) return;
    const auto all = communicator.all_gather(mine, "facts");
    Lists lists;
    for (const std::vector<std::byte>& bytes : all)
        lists.push_back(decode(bytes));
    throw difference(communicator, lists);
}

}  // namespace dtnn::runtime
