#include "compiler/frontend/specs.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/support/field_rows.hpp"
#include "plan/forecast/rates.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kCheckedAgainst = "it is what the job is checked against";
constexpr std::string_view kForeseen = "it is what times are foreseen from";

FieldTable network_fields(FieldMember latency, FieldMember bandwidth) {
    return {
        quantity_field("latency", kMayBeAbsent, above(0).in("seconds"),
                       "of a message of no length, one way", performance(kForeseen), latency),
        quantity_field("bandwidth", kMayBeAbsent, above(0).in("bytes/s"),
                       "of one rank that sends and receives; 100Gbit/s are 12.5GB/s",
                       performance(kForeseen), bandwidth),
    };
}

}  // namespace

const FieldTable& network_table() {
    static const FieldTable table =
        network_fields(fills<&MachineSpec::machine, &plan::Machine::network_latency>(),
                       fills<&MachineSpec::machine, &plan::Machine::network_bandwidth>());
    return table;
}

const FieldTable& local_table() {
    static const FieldTable table =
        network_fields(fills<&MachineSpec::machine, &plan::Machine::local_latency>(),
                       fills<&MachineSpec::machine, &plan::Machine::local_bandwidth>());
    return table;
}

const FieldTable& gpus_local_table() {
    static const FieldTable table = network_fields(
        fills<&MachineSpec::machine, &plan::Machine::gpus, &plan::Gpus::latency>(),
        fills<&MachineSpec::machine, &plan::Machine::gpus, &plan::Gpus::bandwidth>());
    return table;
}

const FieldTable& kernel_rate_table() {
    static const FieldTable table = [] {
        FieldTable fields;
        for (const plan::KernelRate& one : plan::kernel_rates()) {
            Field field =
                quantity_field(one.name, kMustBeGiven, Bounds{}, one.doc, performance(kForeseen));
            field.minimum = 0;
            field.unit = one.unit == plan::RateUnit::flops ? "flop/s" : "bytes/s";
            field.optional = true;
            field.exclusive_minimum = true;
            fields.push_back(field);
        }
        return fields;
    }();
    return table;
}

namespace {

template <auto Member>
Field gpu_quantity(std::string_view name, std::string_view unit, std::string_view doc,
                   std::string_view reason = kForeseen) {
    Field field = quantity_field(name, kMustBeGiven, Bounds{}, doc, performance(reason));
    field.minimum = 0;
    field.unit = unit;
    field.optional = true;
    field.exclusive_minimum = true;
    field.member = fills<&MachineSpec::machine, &plan::Machine::gpus, Member>();
    return field;
}

}  // namespace

const FieldTable& gpus_table() {
    static const FieldTable table = {
        text_field("model", kMayBeAbsent, "what they are, for people", performance("it names them"),
                   fills<&MachineSpec::machine, &plan::Machine::gpus, &plan::Gpus::model>()),
        integer_field("count", kMustBeGiven, between(1, 64), "of a node",
                      performance(kCheckedAgainst),
                      fills<&MachineSpec::machine, &plan::Machine::gpus, &plan::Gpus::count>()),
        gpu_quantity<&plan::Gpus::memory_bytes>("memory", "bytes", "of one of them",
                                                kCheckedAgainst),
        gpu_quantity<&plan::Gpus::library_bytes>(
            "library_memory", "bytes",
            "of it, what the driver and the libraries take for themselves", kCheckedAgainst),
        gpu_quantity<&plan::Gpus::f32_rate>(
            "f32_rate", "flop/s",
            "of products and convolutions of one, in f32, as kernels reach it"),
        gpu_quantity<&plan::Gpus::f64_rate>("f64_rate", "flop/s", "likewise in f64"),
        gpu_quantity<&plan::Gpus::tf32_rate>("tf32_rate", "flop/s",
                                             "likewise with `compute: tf32`"),
        gpu_quantity<&plan::Gpus::bf16_rate>("bf16_rate", "flop/s",
                                             "likewise with `compute: bf16` or `fp16`"),
        gpu_quantity<&plan::Gpus::memory_bandwidth>("memory_bandwidth", "bytes/s",
                                                    "what one reads and writes of its memory"),
        gpu_quantity<&plan::Gpus::host_bandwidth>(
            "host_bandwidth", "bytes/s", "of copies from the host's memory to one of them"),
        gpu_quantity<&plan::Gpus::step_overhead>(
            "step_overhead", "seconds", "what a step of a captured program takes at least"),
        record_field("local", gpus_local_table(),
                     "between those of one node: {latency: 5us, bandwidth: 300GB/s}",
                     performance(kForeseen)),
    };
    return table;
}

const FieldTable& slurm_table() {
    static const FieldTable table = {
        text_field(
            "setup", kMayBeAbsent,
            "lines of shell that a script runs before the ranks start, such as `module load mpich`",
            performance("batch scripts are written with it")),
        text_field("constraint", kMayBeAbsent,
                   "features that nodes must have, as sbatch takes them",
                   performance("batch scripts are written with it")),
        text_field("qos", kMayBeAbsent, "the quality of service that jobs ask for",
                   performance("batch scripts are written with it")),
    };
    return table;
}

const FieldTable& machine_table() {
    static const FieldTable table = {
        kind_field("machine"),
        name_field("the machine's name; the file's name when not given", "it names the machine"),
        extends_field("a machine that this one is merged over, field by field"),
        description_field("what the machine is, and whether its rates were measured, for people"),
        integer_field(
            "nodes", 1, between(1, 1'000'000), "computers that the ranks of a job are spread over",
            performance(kCheckedAgainst), fills<&MachineSpec::machine, &plan::Machine::nodes>()),
        integer_field("cores", kMayBeAbsent, between(1, 4096).in("cores"),
                      "of a node, without the second threads of a core",
                      performance(kCheckedAgainst),
                      fills<&MachineSpec::machine, &plan::Machine::cores>()),
        quantity_field("memory", kMayBeAbsent, at_least(1).in("bytes"),
                       "of a node, that jobs may use", performance(kCheckedAgainst),
                       fills<&MachineSpec::machine, &plan::Machine::memory_bytes>()),
        choice_field("isa", kMayBeAbsent, {"baseline", "avx2", "avx512", "avx512_bf16", "amx"},
                     "the instruction set that plans for it may use: each has those before it, the "
                     "last two products of bfloat16",
                     performance("the same values but for rounding"),
                     fills<&MachineSpec::machine, &plan::Machine::isa>()),
        text_field("processor", kMayBeAbsent,
                   "its processors' model as the system names it: whose measured times choose "
                   "kernels for the machine; without it those of the machine that compiles",
                   performance("it says whose times choose kernels"),
                   fills<&MachineSpec::processor>()),
        quantity_field("product_rate", kMayBeAbsent, above(0).in("flop/s"),
                       "of matrix products, one core, f32, as a run reaches it",
                       performance(kForeseen),
                       fills<&MachineSpec::machine, &plan::Machine::product_rate>()),
        quantity_field("convolution_rate", kMayBeAbsent, above(0).in("flop/s"),
                       "of convolutions, one core, f32, as a run reaches it",
                       performance(kForeseen),
                       fills<&MachineSpec::machine, &plan::Machine::convolution_rate>()),
        quantity_field("memory_bandwidth", kMayBeAbsent, above(0).in("bytes/s"),
                       "what one core reads and writes", performance(kForeseen),
                       fills<&MachineSpec::machine, &plan::Machine::memory_bandwidth>()),
        quantity_field("node_memory_bandwidth", kMayBeAbsent, above(0).in("bytes/s"),
                       "what all cores of a node together read and write", performance(kForeseen),
                       fills<&MachineSpec::machine, &plan::Machine::node_memory_bandwidth>()),
        quantity_field("step_overhead", kMayBeAbsent, above(0).in("seconds"),
                       "what a step of a program takes at least", performance(kForeseen),
                       fills<&MachineSpec::machine, &plan::Machine::step_overhead>()),
        quantity_field("decode_rate", kMayBeAbsent, above(0).in("samples/s"),
                       "samples of 32x32x3 pixels that one data worker prepares",
                       performance(kForeseen),
                       fills<&MachineSpec::machine, &plan::Machine::decode_rate>()),
        record_field("network", network_table(),
                     "between ranks of different nodes: {latency: 1.5us, bandwidth: 100Gbit/s}",
                     performance(kForeseen)),
        record_field("local", local_table(),
                     "between ranks of one node: {latency: 500ns, bandwidth: 5GB/s}",
                     performance(kForeseen)),
        real_field("thread_efficiency", kMayBeAbsent, above(0).up_to(1),
                   "what every further thread of a rank adds, of what the first one does",
                   performance(kForeseen),
                   fills<&MachineSpec::machine, &plan::Machine::thread_efficiency>()),
        real_field("compute_error", kMayBeAbsent, above(0).up_to(10),
                   "by what share programs that were measured differ from what these rates "
                   "foresee, in the mean: the error bar of a forecast's computing",
                   performance(kForeseen),
                   fills<&MachineSpec::machine, &plan::Machine::compute_error>()),
        real_field("exchange_error", kMayBeAbsent, above(0).up_to(10),
                   "the same of exchanges between ranks", performance(kForeseen),
                   fills<&MachineSpec::machine, &plan::Machine::exchange_error>()),
        record_field("kernels", kernel_rate_table(),
                     "rates of kernels that reach less, or more, than the rates above, one core, "
                     "f32: {weight_gradients: 80Gflop/s}",
                     performance(kForeseen)),
        record_field("gpus", gpus_table(),
                     "of every node, one rank each: {count: 4, memory: 80GB, memory_bandwidth: "
                     "2.8TB/s, f32_rate: 45Tflop/s}",
                     performance(kForeseen)),
        record_field(
            "slurm", slurm_table(),
            "what `dtnnc slurm` writes into every script for it: {setup: \"module load mpich\"}",
            performance("batch scripts are written with it")),
    };
    return table;
}

}  // namespace dtnn::compiler
