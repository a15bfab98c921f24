#include "runtime/exec/collectives.hpp"

#include <fmt/format.h>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {

bool alike(const plan::Collective& a, const plan::Collective& b) {
    return a.name == b.name && a.kind == b.kind && a.bytes == b.bytes && a.dtype == b.dtype &&
           a.parameters == b.parameters && a.compression == b.compression &&
           a.density == b.density && a.residual == b.residual;
}

}  // namespace

std::optional<std::string> collectives_mistake(const plan::Plan& plan) {
    // A program whose step ends in an update, and one whose gradients are only added up.
    const plan::Program *first_update = nullptr, *first_sum = nullptr;
    for (const plan::Program& program : plan.programs) {
        if (!plan.parallel.data && !program.collectives.empty())
            return fmt::format("program `{}` has exchanges, and the plan is for one rank",
                               program.name);
        for (const plan::Collective& one : program.collectives) {
            if (one.dtype != DType::f32 && one.dtype != DType::f64 && one.dtype != DType::i64)
                return fmt::format(
                    "program `{}`: the exchange `{}` is of {}, which is not added up", program.name,
                    one.name, plan::name_of(one.dtype));
        }
        const bool trains = program.kind == plan::ProgramKind::train;
        if (!trains && program.kind != plan::ProgramKind::accumulate) continue;
        const plan::Program*& first = trains ? first_update : first_sum;
        if (first == nullptr) first = &program;
        bool same = program.collectives.size() == first->collectives.size();
        for (std::size_t i = 0; same && i < program.collectives.size(); ++i)
            same = alike(program.collectives[i], first->collectives[i]);
        if (!same)
            return fmt::format(
                "the programs `{}` and `{}`, which ranks run in the same step, do "
                "not have the same exchanges",
                first->name, program.name);
    }
    return std::nullopt;
}

std::unique_ptr<Exchange> bind_exchange(Communicator& communicator, const plan::Plan& plan,
                                        const plan::Collective& collective, std::byte* arena) {
    const auto memory = [&](int buffer) {
        return arena == nullptr ? nullptr : arena + plan.buffers[std::size_t(buffer)].offset;
    };
    std::byte* const data =
        arena == nullptr ? nullptr : memory(collective.buffer) + collective.offset;
    const std::int64_t elements = collective.bytes / size_of(collective.dtype);
    const std::int64_t part = elements / communicator.ranks();
    if (collective.compression != plan::Compression::full) {
        GradientCompression compression{collective.compression, collective.density, nullptr, {}};
        if (collective.residual >= 0)
            compression.residual = reinterpret_cast<float*>(memory(collective.residual));
        if (arena != nullptr)
            compression.scratch = {
                memory(collective.scratch),
                std::size_t(plan.buffers[std::size_t(collective.scratch)].bytes)};
        return communicator.all_reduce_compressed(compression, reinterpret_cast<float*>(data),
                                                  elements, collective.name);
    }
    if (collective.kind == plan::CollectiveKind::reduce_scatter)
        return communicator.reduce_scatter(data, part, collective.dtype, collective.name);
    if (collective.kind == plan::CollectiveKind::all_gather)
        return communicator.all_gather_parts(data, part, collective.dtype, collective.name);
    return communicator.all_reduce(data, elements, collective.dtype, Reduction::sum,
                                   collective.name);
}

std::unique_ptr<Exchange> bind_exchange(Device& device, Communicator& communicator,
                                        const plan::Plan& plan, const plan::Collective& collective,
                                        std::byte* arena) {
    if (device.is_host()) return bind_exchange(communicator, plan, collective, arena);
    if (collective.compression != plan::Compression::full)
        throw RunError(
            Exit::mismatch,
            fmt::format("the exchange `{}` travels as {}, which is done on the CPU alone",
                        collective.name, plan::name_of(collective.compression)),
            "compile the job with parallel.wire: full, or with --target cpu");
    const bool parts = collective.kind != plan::CollectiveKind::all_reduce;
    const std::int64_t elements = collective.bytes / size_of(collective.dtype);
    return device.bind_exchange(
        collective.kind,
        arena + plan.buffers[std::size_t(collective.buffer)].offset + collective.offset,
        parts ? elements / communicator.ranks() : elements, collective.dtype);
}

std::vector<Gap> gaps_of(const plan::Program& program, const plan::Collective& collective) {
    std::vector<Gap> gaps;
    if (collective.kind != plan::CollectiveKind::reduce_scatter &&
        collective.compression == plan::Compression::full)
        return gaps;
    std::int64_t end = 0;
    for (const int source : program.steps[std::size_t(collective.start)].sources) {
        const plan::Tensor& tensor = program.tensors[std::size_t(source)];
        const std::int64_t offset = tensor.offset - collective.offset;
        if (offset > end) gaps.push_back({end, offset - end});
        end = offset + element_count(tensor.dims) * size_of(tensor.dtype);
    }
    if (end < collective.bytes) gaps.push_back({end, collective.bytes - end});
    return gaps;
}

}  // namespace dtnn::runtime
