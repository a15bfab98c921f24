#include "tests/ranks/threads/compression_in_memory.hpp"

#include <array>
#include <vector>

#include "plan/rules/compression.hpp"
#include "runtime/comm/compression_rounding.hpp"
#include "runtime/comm/compression_selection.hpp"

namespace dtnn::runtime {
namespace {

void round_and_add(Rounding rounding, std::int64_t elements, std::span<void* const> data,
                   std::span<const GradientCompression* const> compressions) {
    for (std::size_t rank = 0; rank < data.size(); ++rank)
        pack(rounding, static_cast<const float*>(data[rank]), 0, elements,
             compressions[rank]->scratch.data());
    auto* const sum = static_cast<float*>(data[0]);
    std::fill_n(sum, elements, 0.0F);
    for (const GradientCompression* compression : compressions)
        add_packed(rounding, compression->scratch.data(), elements, sum);
    std::byte* const packed = compressions[0]->scratch.data();
    pack(rounding, sum, 0, elements, packed);
    for (void* const own : data)
        unpack(rounding, packed, 0, elements, static_cast<float*>(own));
}

void select_and_add(std::int64_t elements, std::span<void* const> data,
                    std::span<const GradientCompression* const> compressions) {
    const Deal deal{elements, int(data.size())};
    const std::int64_t count = plan::selected_of(elements, compressions[0]->density);
    const auto own = [&](std::size_t rank) {
        return reinterpret_cast<Entry*>(compressions[rank]->scratch.data());
    };
    std::array<std::int32_t, plan::kSelectionBins> bins{};
    std::vector<std::int64_t> ends(data.size());
    for (std::size_t rank = 0; rank < data.size(); ++rank)
        select_own(deal, static_cast<const float*>(data[rank]), compressions[rank]->residual, count,
                   own(rank), ends.data(), bins.data());
    auto* const sum = static_cast<float*>(data[0]);
    std::fill_n(sum, elements, 0.0F);
    for (std::size_t rank = 0; rank < data.size(); ++rank)
        add_entries({own(rank), std::size_t(count)}, sum);

    Selection selection(count);
    for (int round = 0; round < plan::kSelectionRounds; ++round) {
        bins.fill(0);
        selection.count(sum, elements, bins.data());
        selection.narrow(bins);
    }
    std::int64_t at = selection.at_threshold();
    Entry* const result = own(0) + count;  // where ranks keep what comes
    Entry* end = result;
    for (int rank = 0; rank < deal.ranks; ++rank)
        end = take_selected(deal, rank, sum, selection.threshold(), at, end);
    for (std::size_t rank = 0; rank < data.size(); ++rank)
        take_result(deal, {result, std::size_t(end - result)}, {own(rank), std::size_t(count)},
                    static_cast<float*>(data[rank]), compressions[rank]->residual);
}

}  // namespace

void sum_compressed_in_memory(std::int64_t elements, std::span<void* const> data,
                              std::span<const GradientCompression* const> compressions) {
    if (data.size() < 2 || elements == 0) return;
    if (compressions[0]->form == plan::Compression::top_k)
        return select_and_add(elements, data, compressions);
    round_and_add(
        compressions[0]->form == plan::Compression::fp16 ? Rounding::fp16 : Rounding::bf16,
        elements, data, compressions);
}

double compressed_bytes(const GradientCompression& compression, std::int64_t elements) {
    if (compression.form == plan::Compression::top_k)
        return double(plan::selected_of(elements, compression.density) * plan::kEntryBytes);
    return double(plan::packed_bytes(compression.form == plan::Compression::fp16, elements));
}

}  // namespace dtnn::runtime
