#include "tests/kernel/conformance.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "base/tensor/members.hpp"
#include "kernels/cuda/dispatch.hpp"
#include "kernels/reduced.hpp"
#include "kernels/thread_team.hpp"
#include "tests/kernel/device_run.hpp"
#include "tests/sanitized.hpp"

namespace dtnn::kernels::conformance {
namespace {

std::map<std::string, std::vector<Case> (*)()>& grids() {
    static std::map<std::string, std::vector<Case> (*)()> registered;
    return registered;
}

const std::vector<Case>& cases_of(const std::string& op) {
    static std::map<std::string, std::vector<Case>> built;
    const auto found = built.find(op);
    return found != built.end() ? found->second : built[op] = grids().at(op)();
}

/// With operands of the dtype, those of one axis at most with `short_ones`, the first result with
/// `of_first`.
Problem with_types(Problem problem, DType dtype, DType short_ones, DType of_first) {
    problem.dtype = dtype;
    const std::size_t each =
        problem.destinations.size() / std::size_t(member_count(problem.attributes));
    for (auto* tensors : {&problem.sources, &problem.destinations}) {
        for (TensorType& tensor : *tensors) {
            if (tensor.dtype != DType::f32) continue;
            const bool first = tensors == &problem.destinations &&
                               std::size_t(&tensor - tensors->data()) % each == 0;
            tensor.dtype = first ? of_first : tensor.dims.size() < 2 ? short_ones : dtype;
        }
    }
    return problem;
}

/// The problem in that precision: of the ways to have wide operands beside values of 16 bits, the
/// one that the operator takes.
Problem in_precision(const Problem& problem, DType dtype) {
    Problem same = with_types(problem, dtype, dtype, dtype);
    if (!is_reduced(dtype)) return same;
    for (const DType first : {dtype, DType::f32})
        for (const DType short_ones : {DType::f32, dtype}) {
            Problem mixed = with_types(problem, dtype, short_ones, first);
            if (!operand_mistake(mixed)) return mixed;
        }
    return same;
}

std::vector<Buffer> make_sources(const Case& item, const Problem& problem) {
    std::vector<Buffer> sources = allocate(problem.sources);
    for (std::size_t s = 0; s < sources.size(); ++s) {
        const TensorType& tensor = sources[s].tensor();
        for (std::int64_t i = 0; i < tensor.elements(); ++i) {
            const double random = noise(s, std::uint64_t(i));
            const bool floating = tensor.dtype == DType::f32 || tensor.dtype == DType::f64 ||
                                  is_reduced(tensor.dtype);
            sources[s].set(i, floating
                                  ? 2 * random - 1
                                  : (tensor.dtype == DType::u8 ? std::floor(random * 256) : 0));
        }
    }
    if (item.prepare) item.prepare(sources);
    return sources;
}

/// The data that all kernels of an operator share: the sources of a case, and what the reference
/// makes of them.
struct Prepared {
    std::vector<Buffer> sources, wanted;
};

/// Makes infinite what rounds to no number of 16 bits.
void overflow(Buffer& wanted) {
    constexpr double kFirstInfinite = 65520;
    for (std::int64_t i = 0; i < wanted.tensor().elements(); ++i)
        if (std::abs(wanted.get(i)) >= kFirstInfinite)
            wanted.set(i, std::copysign(HUGE_VAL, wanted.get(i)));
}

/// A convolution's statistics are of what it stores (kernels/arguments/conv2d.hpp): of rounded
/// results, here.
void sum_rounded(const TensorType& stored, std::vector<Buffer>& wanted) {
    const std::int64_t filters = stored.dims[1], pixels = stored.dims[2] * stored.dims[3];
    Buffer rounded(stored);
    std::vector<double> sums(std::size_t(2 * filters));
    for (std::int64_t i = 0; i < stored.elements(); ++i) {
        const std::int64_t f = stored.order.empty() ? i / pixels % filters : i % filters;
        rounded.set(i, wanted[0].get(i));
        const double distance = rounded.get(i) - wanted[1].get(2 * filters + f);
        sums[std::size_t(f)] += distance;
        sums[std::size_t(filters + f)] += distance * distance;
    }
    for (std::int64_t i = 0; i < 2 * filters; ++i)
        wanted[1].set(i, sums[std::size_t(i)]);
}

void make_wanted(const Case& item, const Problem& problem, Prepared& of) {
    if (!is_reduced(problem.dtype)) {
        of.wanted = allocate(problem.destinations);
        run_reference(problem, of.sources, of.wanted);
        return;
    }
    // The same numbers in floats.
    const Problem wide = in_precision(item.problem, DType::f32);
    std::vector<Buffer> sources = allocate(wide.sources);
    for (std::size_t s = 0; s < sources.size(); ++s)
        for (std::int64_t i = 0; i < sources[s].tensor().elements(); ++i)
            sources[s].set(i, of.sources[s].get(i));
    of.wanted = allocate(wide.destinations);
    run_reference(wide, sources, of.wanted);
    for (std::size_t d = 0; d < problem.destinations.size(); ++d)
        if (problem.destinations[d].dtype == DType::fp16) overflow(of.wanted[d]);
    if (problem.op == "conv2d" && problem.flag("statistics"))
        sum_rounded(problem.destinations[0], of.wanted);
}

/// Without what is wanted where nobody compares it.
const Prepared& prepared(const Case& item, const Problem& problem, bool compared) {
    static std::map<std::pair<const Case*, DType>, Prepared> all;
    const auto [found, fresh] = all.try_emplace({&item, problem.dtype});
    if (fresh) found->second.sources = make_sources(item, problem);
    if (compared && found->second.wanted.empty()) make_wanted(item, problem, found->second);
    return found->second;
}

ThreadTeam& team_of(int threads) {
    static std::map<int, std::unique_ptr<ThreadTeam>> teams;
    std::unique_ptr<ThreadTeam>& team = teams[threads];
    if (!team) team = std::make_unique<ThreadTeam>(threads);
    return *team;
}

std::string describe(const Problem& problem) {
    std::string text = problem.op;
    for (const auto* tensors : {&problem.sources, &problem.destinations}) {
        text += tensors == &problem.sources ? " (" : " -> (";
        for (const TensorType& tensor : *tensors) {
            text += "[";
            for (const std::int64_t dim : tensor.dims)
                text += std::to_string(dim) + " ";
            text += "]";
        }
        text += ")";
    }
    for (const auto& [name, value] : problem.attributes) {
        text += " " + name + "=";
        if (const auto* values = std::get_if<std::vector<std::int64_t>>(&value)) {
            for (const std::int64_t number : *values)
                text += std::to_string(number) + ",";
        } else if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
            for (const double number : *reals)
                text += std::to_string(number) + ",";
        } else if (const auto* string = std::get_if<std::string>(&value)) {
            text += *string;
        } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
            text += std::to_string(*whole);
        } else if (const auto* real = std::get_if<double>(&value)) {
            text += std::to_string(*real);
        } else {
            text += std::get<bool>(value) ? "true" : "false";
        }
    }
    return text;
}

/// Half a unit in the last place, and as much for a value between that an operator keeps as its
/// operands are kept.
double rounding_of(DType dtype) {
    return dtype == DType::bf16 ? 0x1p-8 : dtype == DType::fp16 ? 0x1p-11 : 0;
}

/// How many times the roundings of a plain sum those of kernels that transform may be.
constexpr double kTransformed = 8;

/// The least tolerance of kernels on a device.
constexpr double kDeviceF32 = 1e-5, kDeviceF64 = 1e-12;

/// The player that runs the kernels of devices.
enum class Player { host, device };

/// A bound kernel of any device.
class Bound {
  public:
    Bound(const KernelInfo& kernel, const Problem& problem, std::span<const void* const> from,
          std::span<void* const> to, std::span<std::byte> workspace, Player player) {
        if (kernel.device == "cpu")
            cpu_ = kernels::bind(kernel, problem, from, to, workspace);
        else if (player == Player::host)
            played_ = cuda::bind(kernel, problem, from, to, workspace);
        else
            device_ = OnDevice::bind(kernel, problem, from, to, workspace, Buffer::kGuard);
        REQUIRE_MESSAGE((cpu_ || played_ || device_), "bind refused what `refusal` accepted");
    }
    /// Runs the kernels; what a device runs at the same time runs in another order the second time.
    void run(ThreadTeam& team, bool again) const {
        if (cpu_)
            cpu_->run(team);
        else if (device_)
            device_->run();
        else
            played_->run({again ? cuda::HostOrder::backward : cuda::HostOrder::forward});
    }

  private:
    std::unique_ptr<BoundKernel> cpu_;
    std::unique_ptr<cuda::BoundDeviceKernel> played_;
    std::unique_ptr<OnDevice> device_;
};

/// Binds and runs a kernel once more on fresh destinations and compares with `wanted`. `in_place`:
/// the one pair to overlay.
void run_and_compare(const KernelInfo& kernel, const Case& item, const Problem& problem,
                     ThreadTeam& team, const std::pair<int, int>* in_place, Player player) {
    const bool compared = player == Player::host || !launches_only();
    const auto& [untouched, wanted] = prepared(item, problem, compared);
    std::vector<Buffer> sources = copies_of(untouched);
    std::vector<Buffer> destinations = allocate(problem.destinations);
    std::vector<void*> to = destination_pointers(destinations);
    if (in_place != nullptr) {
        to[std::size_t(in_place->first)] = sources[std::size_t(in_place->second)].data();
    }
    TensorType scratch;
    scratch.dtype = DType::u8;
    scratch.dims = {workspace_bytes(kernel, problem)};
    Buffer workspace(scratch);
    const std::vector<const void*> from = source_pointers(sources);
    const Bound bound(kernel, problem, from, to, workspace.contents(), player);
    bound.run(team, false);
    if (!compared) return;

    // Transformed values are larger than what becomes of them: their roundings weigh more.
    const double of_values =
        (problem.dtype == DType::f64 ? item.f64_tolerance : item.f32_tolerance) *
        (kernel.transforms ? kTransformed : 1);
    // Libraries and the device's own functions round in their own ways.
    const double of_device = player != Player::device      ? 0
                             : problem.dtype == DType::f64 ? kDeviceF64
                                                           : kDeviceF32;
    for (std::size_t d = 0; d < destinations.size(); ++d) {
        const bool overlaid = in_place != nullptr && std::size_t(in_place->first) == d;
        Buffer& result = overlaid ? sources[std::size_t(in_place->second)] : destinations[d];
        // Sums over what is stored are off by what is rounded otherwise.
        const DType stored = problem.flag("statistics") ? problem.dtype : result.tensor().dtype;
        const double tolerance = std::max(of_values, of_device) + rounding_of(stored);
        const std::string off = difference(result, wanted[d], tolerance);
        CHECK_MESSAGE(off.empty(), "destination " << d << ": " << off);
        CHECK_MESSAGE(result.guards_are_intact(), "destination " << d << " was overrun");
    }
    for (std::size_t s = 0; s < sources.size(); ++s) {
        CHECK_MESSAGE(sources[s].guards_are_intact(), "source " << s << " was overrun");
        if (in_place != nullptr && std::size_t(in_place->second) == s) continue;
        CHECK_MESSAGE(same_bytes(sources[s], untouched[s]), "source " << s << " was changed");
    }
    CHECK_MESSAGE(workspace.guards_are_intact(), "the workspace was overrun");
    if (in_place != nullptr) return;

    // Again, with the workspace as the first run left it: the same bits.
    std::vector<Buffer> first = allocate(problem.destinations);
    for (std::size_t d = 0; d < destinations.size(); ++d) {
        std::memcpy(first[d].data(), destinations[d].data(),
                    std::size_t(destinations[d].tensor().bytes()));
    }
    bound.run(team, true);
    for (std::size_t d = 0; d < destinations.size(); ++d) {
        CHECK_MESSAGE(same_bytes(first[d], destinations[d]), "a second run differs in " << d);
    }
}

/// Whether the kernel did the case.
bool check_case(const KernelInfo& kernel, const Case& item, DType dtype, Isa isa,
                Player player = Player::host) {
    Problem problem = in_precision(item.problem, dtype);
    problem.isa = isa;
    // A run must not refuse what a kernel is tested with, and one operand less must be noticed.
    const auto mistake = operand_mistake(problem);
    CHECK_MESSAGE(!mistake, describe(problem), ": ", mistake.value_or(""));
    Problem short_of_one = problem;
    short_of_one.sources.pop_back();
    const bool variadic =
        problem.op == "concat" || problem.op == "elementwise" || problem.op == "gradient_scale";
    CHECK_MESSAGE((variadic || operand_mistake(short_of_one)), "a missing operand goes unseen");
    if (const auto reason = refusal(kernel, problem)) {
        CHECK_MESSAGE(!reason->empty(), "a refusal without a reason");
        return false;
    }
    static int turn = 0;
    const int only = kThreadSanitized ? 2 + ++turn % 2 : 1 + ++turn % 3;
    for (const int threads : {1, 2, 3}) {
        if (threads > 1 && kernel.device != "cpu") break;
        if (kSanitized && kernel.device == "cpu" && threads != only) continue;
        // Workspaces may be booked for more threads than run.
        problem.threads = threads == 2 ? 3 : threads;
        INFO("kernel ", kernel.name, " ", name_of(isa), " ", name_of(dtype), " ", threads,
             " threads: ", describe(problem));
        run_and_compare(kernel, item, problem, team_of(threads), nullptr, player);
        for (const auto& pair : item.in_place) {
            INFO("destination ", pair.first, " on source ", pair.second);
            run_and_compare(kernel, item, problem, team_of(threads), &pair, player);
        }
    }
    return true;
}

}  // namespace

TensorType tensor(Dims dims, DType dtype) {
    TensorType result{dtype, std::move(dims), {}};
    if (result.dims.size() == 4) result.order = {0, 2, 3, 1};
    return result;
}

TensorType row_major(Dims dims, DType dtype) {
    return {dtype, std::move(dims), {}};
}

Problem problem(std::string op, std::vector<TensorType> sources,
                std::vector<TensorType> destinations, Attributes attributes) {
    Problem result;
    result.op = std::move(op);
    result.sources = std::move(sources);
    result.destinations = std::move(destinations);
    result.attributes = std::move(attributes);
    return result;
}

Problem widened(Problem problem) {
    problem.dtype = wide_of(problem.dtype);
    for (auto* tensors : {&problem.sources, &problem.destinations})
        for (TensorType& tensor : *tensors)
            tensor.dtype = wide_of(tensor.dtype);
    return problem;
}

void run_reference(const Problem& problem, std::vector<Buffer>& sources,
                   std::vector<Buffer>& destinations) {
    Problem plain = problem;
    plain.isa = Isa::baseline;
    plain.threads = 1;
    const KernelInfo* kernel = find_kernel(problem.op, "reference");
    REQUIRE_MESSAGE(kernel != nullptr, problem.op << " has no reference kernel");
    const auto from = source_pointers(sources);
    const auto to = destination_pointers(destinations);
    const std::vector<Problem> members = members_of(plain);
    for (std::size_t m = 0; m < members.size(); ++m) {
        const auto bound = kernels::bind(*kernel, members[m], of_member(from, m, members.size()),
                                         of_member(to, m, members.size()), {});
        REQUIRE(bound != nullptr);
        bound->run(team_of(1));
    }
}

Registration::Registration(std::string op, std::vector<Case> (*grid)()) {
    grids()[std::move(op)] = grid;
}

TEST_CASE("every operator of the catalogue ends with its reference and has a grid") {
    std::set<std::string> seen;
    for (const KernelInfo& kernel : catalogue()) {
        const std::string op(kernel.op);
        INFO("operator ", op);
        CHECK(kernels_of(op).back().name == "reference");
        CHECK(find_kernel(op, kernel.name) == &kernel);
        CHECK_MESSAGE(grids().count(op) == 1, "add GRID(" << op << ") to tests/kernel");
        seen.insert(op);
    }
    for (const auto& one : grids()) {
        const std::string& op = one.first;
        CHECK_MESSAGE(seen.count(op) == 1, "a grid for " << op << ", which has no kernel");
    }
}

namespace {

/// Whether DTNN_KERNEL, where it is set, names the kernel or its operator.
bool is_wanted(const KernelInfo& kernel) {
    const char* const only = std::getenv("DTNN_KERNEL");
    return only == nullptr || kernel.name == only || kernel.op == only;
}

}  // namespace

TEST_CASE("kernels agree with the reference") {
    for (const KernelInfo& kernel : catalogue()) {
        if (kernel.name == "reference" || grids().count(std::string(kernel.op)) == 0) continue;
        if (!is_wanted(kernel)) continue;
        for (const DType dtype : {DType::f32, DType::f64}) {
            if (!takes(kernel, dtype)) continue;
            for (const Isa isa :
                 {Isa::baseline, Isa::avx2, Isa::avx512, Isa::avx512_bf16, Isa::amx}) {
                if (isa < kernel.needs || isa > host_isa() || !is_built(isa)) continue;
                if (isa != vectors_of(isa) && !kernel.rounds) continue;  // the same functions
                int done = 0;
                for (const Case& item : cases_of(std::string(kernel.op))) {
                    done += check_case(kernel, item, dtype, isa) ? 1 : 0;
                }
                CHECK_MESSAGE(done > 0, kernel.op << ": " << kernel.name
                                                  << " refuses every case of the grid");
            }
        }
    }
}

namespace {

struct StoredCase {
    const Case* as_on_cpu;
    Case item;
};

/// The cases whose filters are stored as plans for CPUs do, with filters as plans for devices store
/// them (F,KH,KW,C).
const std::vector<StoredCase>& stored_cases_of(const std::string& op) {
    static std::map<std::string, std::vector<StoredCase>> all;
    const auto [found, fresh] = all.try_emplace(op);
    if (!fresh) return found->second;
    for (const Case& on_cpu : cases_of(op)) {
        StoredCase stored{&on_cpu, on_cpu};
        bool changed = false;
        for (auto* tensors : {&stored.item.problem.sources, &stored.item.problem.destinations}) {
            for (TensorType& tensor : *tensors) {
                if (tensor.order != Order{2, 3, 1, 0}) continue;
                tensor.order = {0, 2, 3, 1};
                changed = true;
            }
        }
        if (changed) found->second.push_back(std::move(stored));
    }
    return found->second;
}

/// The buffers of a case, to be filled as members' cases fill them.
void prepare_members(const std::vector<const Case*>& members, std::vector<Buffer>& buffers) {
    const std::size_t each = buffers.size() / members.size();
    std::vector<Buffer> prepared;
    for (std::size_t m = 0; m < members.size(); ++m) {
        std::vector<Buffer> own;
        for (std::size_t i = 0; i < each; ++i)
            own.push_back(std::move(buffers[m * each + i]));
        if (members[m]->prepare) members[m]->prepare(own);
        for (Buffer& buffer : own)
            prepared.push_back(std::move(buffer));
    }
    buffers.swap(prepared);
}

/// Cases of the same attributes, as members of one.
const std::vector<Case>& joined_cases_of(const std::string& op) {
    static std::map<std::string, std::vector<Case>> all;
    const auto [found, fresh] = all.try_emplace(op);
    if (!fresh) return found->second;
    std::map<Attributes::Map, std::vector<const Case*>> alike;
    for (const Case& item : cases_of(op))
        alike[item.problem.attributes.map()].push_back(&item);
    for (const auto& [attributes, members] : alike) {
        if (members.size() < 2) continue;
        Case joined = *members[0];
        joined.prepare = [members = members](std::vector<Buffer>& buffers) {
            prepare_members(members, buffers);
        };
        for (std::size_t m = 1; m < members.size(); ++m) {
            const Problem& more = members[m]->problem;
            for (const auto& [result, source] : members[m]->in_place)
                joined.in_place.emplace_back(int(m * more.destinations.size()) + result,
                                             int(m * more.sources.size()) + source);
            Problem& problem = joined.problem;
            problem.sources.insert(problem.sources.end(), more.sources.begin(), more.sources.end());
            problem.destinations.insert(problem.destinations.end(), more.destinations.begin(),
                                        more.destinations.end());
        }
        joined.problem.attributes[kMembers] = std::int64_t(members.size());
        found->second.push_back(std::move(joined));
    }
    return found->second;
}

void check_device_kernels(Player player) {
    for (const KernelInfo& kernel : catalogue("cuda")) {
        if (!is_wanted(kernel)) continue;
        INFO(kernel.op, ": ", kernel.name);
        REQUIRE(find_kernel(kernel.op, kernel.name, "cuda") == &kernel);
        REQUIRE(grids().count(std::string(kernel.op)) == 1);
        for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::fp16}) {
            if (!takes(kernel, dtype)) continue;
            int done = 0;
            for (const Case& item : cases_of(std::string(kernel.op)))
                done += check_case(kernel, item, dtype, Isa::baseline, player) ? 1 : 0;
            // Kernels that take any order have done them already; where the host plays a library,
            // the reference would be held against itself.
            const bool itself = kernel.library && player == Player::host;
            for (const auto& [as_on_cpu, item] : stored_cases_of(std::string(kernel.op)))
                if (!itself && refusal(kernel, in_precision(as_on_cpu->problem, dtype)))
                    done += check_case(kernel, item, dtype, Isa::baseline, player) ? 1 : 0;
            CHECK_MESSAGE(done > 0, "it refuses every case of the grid");
            if (!kernel.joins) continue;
            int joined = 0;
            for (const Case& item : joined_cases_of(std::string(kernel.op)))
                joined += check_case(kernel, item, dtype, Isa::baseline, player) ? 1 : 0;
            CHECK_MESSAGE(joined > 0, "it joins no cases of the grid");
        }
    }
}

}  // namespace

TEST_CASE("kernels for devices agree with the reference, run by the host") {
    if (kThreadSanitized) {
        MESSAGE(
            "skipped: the host runs them in one thread, which the thread sanitizer does not look "
            "at");
        return;
    }
    check_device_kernels(Player::host);
}

TEST_CASE("kernels for devices agree with the reference, run by a device") {
    if (!no_device().empty()) {
        MESSAGE("skipped: no device runs kernels here: ", no_device());
        return;
    }
    check_device_kernels(Player::device);
}

TEST_CASE("every operator has a kernel for devices") {
    for (const KernelInfo& kernel : catalogue())
        CHECK_MESSAGE(!kernels_of(kernel.op, "cuda").empty(),
                      kernel.op << " has no line in kernels/cuda/catalogue.def");
}

}  // namespace dtnn::kernels::conformance
