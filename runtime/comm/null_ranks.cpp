#include "runtime/comm/null_ranks.hpp"

#include <fmt/format.h>

#include <utility>

#include "runtime/comm/reduce.hpp"

namespace dtnn::runtime {
namespace {

struct Record {
    std::vector<RecordedOperation> operations;
    std::vector<std::string> faults;
};

class RecordedExchange final : public Exchange {
  public:
    RecordedExchange(Record& record, const char* kind, OperationKind start, OperationKind wait,
                     std::string name, std::int64_t bytes)
        : record_(record),
          kind_(kind),
          start_(start),
          wait_(wait),
          name_(std::move(name)),
          bytes_(bytes) {}
    void start() override {
        if (under_way_)
            record_.faults.push_back(
                fmt::format("{} `{}` is started before it was waited for", kind_, name_));
        under_way_ = true;
        record_.operations.push_back({start_, name_, bytes_});
    }
    void wait() override {
        if (!under_way_)
            record_.faults.push_back(
                fmt::format("{} `{}` is waited for, but was not started", kind_, name_));
        under_way_ = false;
        record_.operations.push_back({wait_, name_, bytes_});
    }

  private:
    Record& record_;
    const char* kind_;
    OperationKind start_, wait_;
    std::string name_;
    std::int64_t bytes_;
    bool under_way_ = false;
};

class Null final : public NullRank {
  public:
    Null(int rank, int ranks) : rank_(rank), ranks_(ranks) {}
    int rank() const override { return rank_; }
    int ranks() const override { return ranks_; }
    std::string name_of(int rank) const override { return fmt::format("rank {}", rank); }

    std::unique_ptr<Exchange> all_reduce(void*, std::int64_t elements, DType dtype, Reduction,
                                         const std::string& name) override {
        return recorded("all_reduce", OperationKind::all_reduce_start,
                        OperationKind::all_reduce_wait, elements, dtype, name);
    }
    /// Written down with the bytes that lie in memory, as all others are.
    std::unique_ptr<Exchange> all_reduce_compressed(const GradientCompression&, float*,
                                                    std::int64_t elements,
                                                    const std::string& name) override {
        return recorded("all_reduce_compressed", OperationKind::all_reduce_start,
                        OperationKind::all_reduce_wait, elements, DType::f32, name);
    }
    std::unique_ptr<Exchange> reduce_scatter(void*, std::int64_t part, DType dtype,
                                             const std::string& name) override {
        return recorded("reduce_scatter", OperationKind::reduce_scatter_start,
                        OperationKind::reduce_scatter_wait, part * ranks_, dtype, name);
    }
    std::unique_ptr<Exchange> all_gather_parts(void*, std::int64_t part, DType dtype,
                                               const std::string& name) override {
        return recorded("all_gather_parts", OperationKind::all_gather_parts_start,
                        OperationKind::all_gather_parts_wait, part * ranks_, dtype, name);
    }
    std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine,
                                                   const std::string& name) override {
        note(OperationKind::all_gather, name, std::int64_t(mine.size()));
        return std::vector<std::vector<std::byte>>(
            std::size_t(ranks_), std::vector<std::byte>(mine.begin(), mine.end()));
    }
    void gather(std::span<const std::byte> mine, const std::string& name,
                const TakePiece& take) override {
        note(OperationKind::gather, name, std::int64_t(mine.size()));
        if (rank_ == 0) take_pieces(0, mine, take);
    }
    void broadcast(std::span<std::byte> bytes, int, const std::string& name) override {
        note(OperationKind::broadcast, name, std::int64_t(bytes.size()));
    }
    void barrier(const std::string& name) override { note(OperationKind::barrier, name, 0); }
    void abort(int, const std::string&) override {}
    void set_time_limit(double) override {}

    const std::vector<RecordedOperation>& record() const override { return record_.operations; }
    const std::vector<std::string>& faults() const override { return record_.faults; }
    void clear() override { record_ = {}; }

  private:
    std::unique_ptr<Exchange> recorded(const char* kind, OperationKind start, OperationKind wait,
                                       std::int64_t elements, DType dtype,
                                       const std::string& name) {
        require_reducible(dtype, name);
        return std::make_unique<RecordedExchange>(record_, kind, start, wait, name,
                                                  elements * size_of(dtype));
    }
    void note(OperationKind kind, const std::string& name, std::int64_t bytes) {
        record_.operations.push_back({kind, name, bytes});
    }

    int rank_, ranks_;
    Record record_;
};

}  // namespace

std::unique_ptr<NullRank> make_null(int rank, int ranks) {
    return std::make_unique<Null>(rank, ranks);
}

}  // namespace dtnn::runtime
