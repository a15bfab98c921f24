#pragma once
/// How sums over many elements are cut: for the kernels, and for those who book their memory.

#include <cstdint>

namespace dtnn::kernels::cuda {

/// Elements of a chunk where one sum goes over very many.
inline constexpr std::int64_t kSumChunk = 4096;

/// Neighbouring chunks whose sums are added before those of all chunks.
inline constexpr std::int64_t kChunkTeam = 32;

/// Neighbouring columns that a thread may have together (packs.hpp).
inline constexpr int kChannelPack = 8;

/// How sums by column are cut, over the rows of each of `sets` matrices [rows, columns]. A group of
/// threads has up to kColumnLanes neighbouring columns, or packs of them, of one chunk of rows. The
/// cut follows from the shape alone.
struct ColumnCut {
    std::int64_t sets, rows, columns;
    std::int64_t width;  ///< columns of a group: a power of two
    std::int64_t chunk;  ///< rows of a chunk
    std::int64_t chunks;

    constexpr std::int64_t blocks() const { return (columns + width - 1) / width; }
    constexpr std::int64_t teams() const { return (chunks + kChunkTeam - 1) / kChunkTeam; }
};

inline constexpr std::int64_t kColumnLanes = 32;
/// Groups that fill a device: beyond, chunks grow.
inline constexpr std::int64_t kColumnGroups = 1024;

/// The least power of two that is not less than `count`, or `most`, which is one.
constexpr std::int64_t lanes_for(std::int64_t count, std::int64_t most) {
    std::int64_t lanes = 1;
    while (lanes < count && lanes < most)
        lanes *= 2;
    return lanes;
}

constexpr ColumnCut cut_columns(std::int64_t sets, std::int64_t rows, std::int64_t columns) {
    const std::int64_t most_columns =
        columns % kChannelPack == 0 ? kColumnLanes * kChannelPack : kColumnLanes;
    ColumnCut cut{sets, rows, columns, lanes_for(columns, most_columns), 1, 1};
    const std::int64_t alike = sets * cut.blocks();
    const std::int64_t most = alike < kColumnGroups ? kColumnGroups / (alike > 0 ? alike : 1) : 1;
    const std::int64_t wanted = (rows * cut.width + kSumChunk - 1) / kSumChunk;
    const std::int64_t chunks = wanted < most ? wanted : most;
    if (chunks <= 1) {
        cut.chunk = rows;
        return cut;
    }
    cut.chunk = (rows + chunks - 1) / chunks;
    cut.chunks = (rows + cut.chunk - 1) / cut.chunk;
    return cut;
}

/// Doubles of every channel that batch norm has before the sums of its chunks.
inline constexpr std::int64_t kBatchNormNumbers = 6;

/// Numbers of the sums of chunks and teams where there are `sums` of every column.
constexpr std::int64_t column_sums_of(std::int64_t sums, std::int64_t sets, std::int64_t rows,
                                      std::int64_t columns) {
    const ColumnCut cut = cut_columns(sets, rows, columns);
    return cut.chunks > 1 ? sums * sets * (cut.chunks + cut.teams()) * columns : 0;
}

/// The same where one sum goes over all of `count` elements.
constexpr std::int64_t chunk_sums_of(std::int64_t count) {
    return column_sums_of(1, 1, count, 1);
}

}  // namespace dtnn::kernels::cuda
