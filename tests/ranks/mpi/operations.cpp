#include "tests/ranks/mpi/operations.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tests/ranks/mpi/wire_operations.hpp"

namespace dtnn::runtime {
namespace {

/// Element i of a rank: small whole numbers, so that any order of the sum is exact.
template <typename T>
T element(std::int64_t i, int rank) {
    return T((i % 13) - 6 + rank * 3);
}

template <typename T>
void check_reduction(Communicator& communicator, DType dtype, std::int64_t elements,
                     Reduction reduction) {
    const int ranks = communicator.ranks();
    std::vector<T> memory(std::size_t(elements) + 1, T(77));
    const std::string name = fmt::format("{} of {}", plan::name_of(dtype), elements);
    const auto exchange = communicator.all_reduce(memory.data(), elements, dtype, reduction, name);
    // The same exchange again and again: other values each time.
    for (int round = 0; round < 3; ++round) {
        for (std::int64_t i = 0; i < elements; ++i)
            memory[std::size_t(i)] = element<T>(i + round, communicator.rank());
        exchange->start();
        communicator.progress();
        exchange->wait();
        for (std::int64_t i = 0; i < elements; ++i) {
            T wanted = element<T>(i + round, 0);
            for (int rank = 1; rank < ranks; ++rank) {
                const T other = element<T>(i + round, rank);
                wanted = reduction == Reduction::sum ? wanted + other : std::max(wanted, other);
            }
            require(memory[std::size_t(i)] == wanted, "all_reduce {}: element {} is {}, not {}",
                    name, i, memory[std::size_t(i)], wanted);
        }
        require(memory.back() == T(77), "all_reduce {} writes behind its end", name);
    }
}

template <typename T>
void check_parts(Communicator& communicator, DType dtype, std::int64_t part) {
    const int ranks = communicator.ranks(), own = communicator.rank();
    const std::int64_t all = part * ranks;
    std::vector<T> memory(std::size_t(all) + 1, T(77));
    const std::string name = fmt::format("parts of {} {}", part, plan::name_of(dtype));
    const auto scatter = communicator.reduce_scatter(memory.data(), part, dtype, name);
    const auto gather = communicator.all_gather_parts(memory.data(), part, dtype, name);
    for (int round = 0; round < 3; ++round) {
        const auto wanted = [&](std::int64_t i) {
            T sum = 0;
            for (int rank = 0; rank < ranks; ++rank)
                sum += element<T>(i + round, rank);
            return sum;
        };
        for (std::int64_t i = 0; i < all; ++i)
            memory[std::size_t(i)] = element<T>(i + round, own);
        scatter->start();
        communicator.progress();
        scatter->wait();
        for (std::int64_t i = part * own; i < part * (own + 1); ++i)
            require(memory[std::size_t(i)] == wanted(i),
                    "reduce_scatter {}: element {} is {}, not {}", name, i, memory[std::size_t(i)],
                    wanted(i));
        // The numbers that the others hold now mean nothing, and are not sent.
        for (std::int64_t i = 0; i < all; ++i)
            if (i / std::max<std::int64_t>(part, 1) != own) memory[std::size_t(i)] = T(-1 - own);
        gather->start();
        communicator.progress();
        gather->wait();
        for (std::int64_t i = 0; i < all; ++i)
            require(memory[std::size_t(i)] == wanted(i),
                    "all_gather_parts {}: element {} is {}, not {}", name, i,
                    memory[std::size_t(i)], wanted(i));
        require(memory.back() == T(77), "{}: something is written behind the last", name);
    }
}

/// Parts of one exchange are on their way while another's are waited for.
void check_parts_side_by_side(Communicator& communicator) {
    const int ranks = communicator.ranks(), own = communicator.rank();
    constexpr std::int64_t kPart = 70'001;
    std::vector<float> sums(std::size_t(kPart * ranks), float(own + 1));
    std::vector<float> parts(std::size_t(kPart * ranks), float(own));
    const auto scatter = communicator.reduce_scatter(sums.data(), kPart, DType::f32, "the sums");
    const auto gather = communicator.all_gather_parts(parts.data(), kPart, DType::f32, "the parts");
    scatter->start();
    gather->start();
    communicator.barrier("beside them");
    gather->wait();
    scatter->wait();
    for (std::int64_t i = 0; i < kPart * ranks; ++i)
        require(std::int64_t(parts[std::size_t(i)]) == i / kPart, "a part is another rank's");
    for (std::int64_t i = kPart * own; i < kPart * (own + 1); ++i)
        require(sums[std::size_t(i)] == float(ranks * (ranks + 1)) / 2, "a sum is not of all");
}

/// Numbers whose sum depends on its order: all ranks must have the same bits.
void check_same_bits(Communicator& communicator, std::int64_t elements) {
    std::vector<float> memory(std::size_t(elements), 0.0F);
    for (std::int64_t i = 0; i < elements; ++i)
        memory[std::size_t(i)] =
            float(std::sin(double(i * 7 + communicator.rank() * 1009)) * std::pow(10.0, i % 9));
    const auto exchange =
        communicator.all_reduce(memory.data(), elements, DType::f32, Reduction::sum, "rounded");
    const std::vector<float> before = memory;
    exchange->start();
    exchange->wait();
    const std::vector<float> once = memory;
    memory = before;
    exchange->start();
    exchange->wait();
    const std::size_t bytes = std::size_t(elements) * sizeof(float);
    require(std::memcmp(once.data(), memory.data(), bytes) == 0,
            "the same sum has other bits the second time");
    const auto all = communicator.all_gather(std::as_bytes(std::span(once)), "sums");
    for (const auto& other : all)
        require(other.size() == bytes && std::memcmp(other.data(), once.data(), bytes) == 0,
                "the sum has other bits on another rank");
}

/// Several under way at once, waited for in another order than they were started in.
void check_nested(Communicator& communicator) {
    constexpr int kCount = 6;
    std::vector<std::vector<double>> memory;
    std::vector<std::unique_ptr<Exchange>> exchanges;
    for (int i = 0; i < kCount; ++i)
        memory.emplace_back(std::size_t(i) * 20011 + 1, double(i + communicator.rank()));
    for (int i = 0; i < kCount; ++i)
        exchanges.push_back(communicator.all_reduce(
            memory[std::size_t(i)].data(), std::int64_t(memory[std::size_t(i)].size()), DType::f64,
            Reduction::sum, fmt::format("nested_{}", i)));
    const int ranks = communicator.ranks();
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < kCount; ++i)
            exchanges[std::size_t(i)]->start();
        communicator.progress();
        communicator.barrier("between");
        for (int i = kCount - 1; i >= 0; --i) {
            exchanges[std::size_t(i)]->wait();
            const double wanted = round == 0 ? ranks * i + ranks * (ranks - 1) / 2.0
                                             : ranks * (ranks * i + ranks * (ranks - 1) / 2.0);
            for (const double value : memory[std::size_t(i)])
                require(value == wanted, "nested sum {} is {}, not {}", i, value, wanted);
        }
    }
}

void check_gathers(Communicator& communicator) {
    const auto bytes_of = [](int rank, int round) {
        std::vector<std::byte> bytes(std::size_t(rank * round * 777));
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = std::byte((i * 31 + std::size_t(rank)) & 255);
        return bytes;
    };
    for (const int round : {0, 1, 100}) {
        const auto all = communicator.all_gather(bytes_of(communicator.rank(), round), "bytes");
        require(int(all.size()) == communicator.ranks(), "all_gather gives another rank count");
        for (int rank = 0; rank < communicator.ranks(); ++rank)
            require(all[std::size_t(rank)] == bytes_of(rank, round),
                    "all_gather of round {}: rank {}'s bytes differ", round, rank);
    }
}

/// Pieces of every rank come to rank 0 in their order, and to nobody else.
void check_gathers_to_first(Communicator& communicator) {
    const auto bytes_of = [](int rank, std::size_t most) {
        std::vector<std::byte> bytes(rank % 3 == 1 ? most : std::size_t(rank) * 7);
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = std::byte((i * 29 + std::size_t(rank)) & 255);
        return bytes;
    };
    for (const std::size_t most : {std::size_t(0), kGatherPiece, 2 * kGatherPiece + 5}) {
        std::vector<std::vector<std::byte>> come(std::size_t(communicator.ranks()));
        int latest = 0;
        communicator.gather(bytes_of(communicator.rank(), most), "pieces",
                            [&](int rank, std::span<const std::byte> piece) {
                                require(rank >= latest, "gather gives ranks in another order");
                                require(piece.size() <= kGatherPiece, "a piece is too large");
                                latest = rank;
                                std::vector<std::byte>& all = come[std::size_t(rank)];
                                all.insert(all.end(), piece.begin(), piece.end());
                            });
        for (int rank = 0; rank < communicator.ranks(); ++rank)
            require(
                come[std::size_t(rank)] ==
                    (communicator.rank() == 0 ? bytes_of(rank, most) : std::vector<std::byte>()),
                "gather: rank {}'s bytes differ", rank);
    }
}

void check_broadcasts(Communicator& communicator) {
    for (int root = 0; root < communicator.ranks(); ++root) {
        for (const std::size_t size : {std::size_t(0), std::size_t(1), std::size_t(300'001)}) {
            std::vector<std::byte> bytes(size, std::byte(communicator.rank() + 1));
            communicator.broadcast(bytes, root, "bytes");
            for (const std::byte byte : bytes)
                require(byte == std::byte(root + 1), "broadcast gives other bytes than the root's");
        }
    }
}

}  // namespace

void check_operations(Communicator& communicator) {
    for (const std::int64_t elements : {0, 1, 3, 257, 4099, 100'003}) {
        for (const Reduction reduction : {Reduction::sum, Reduction::maximum}) {
            check_reduction<float>(communicator, DType::f32, elements, reduction);
            check_reduction<double>(communicator, DType::f64, elements, reduction);
            check_reduction<std::int64_t>(communicator, DType::i64, elements, reduction);
        }
    }
    for (const std::int64_t part : {0, 1, 16, 257, 100'003}) {
        check_parts<float>(communicator, DType::f32, part);
        check_parts<double>(communicator, DType::f64, part);
    }
    check_parts_side_by_side(communicator);
    check_same_bits(communicator, 12'345);
    check_same_bits(communicator, 300'001);
    check_nested(communicator);
    check_gathers(communicator);
    check_gathers_to_first(communicator);
    check_broadcasts(communicator);
    check_wires(communicator);
    communicator.barrier("all checked");
}

}  // namespace dtnn::runtime
