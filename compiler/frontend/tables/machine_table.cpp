#include "compiler/frontend/specs.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "plan/forecast/rates.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kCheckedAgainst = "it is what the job is checked against";
constexpr std::string_view kForeseen = "it is what times are foreseen from";

FieldTable network_fields(FieldMember latency, FieldMember bandwidth) {
    return {
        {.name = "latency",
         .type = FieldType::quantity,
         .doc = "of a message of no length, one way",
         .change = performance(kForeseen),
         .minimum = 0,
         .unit = "seconds",
         .optional = true,
         .exclusive_minimum = true,
         .member = latency},
        {.name = "bandwidth",
         .type = FieldType::quantity,
         .doc = "of one rank that sends and receives; 100Gbit/s are 12.5GB/s",
         .change = performance(kForeseen),
         .minimum = 0,
         .unit = "bytes/s",
         .optional = true,
         .exclusive_minimum = true,
         .member = bandwidth},
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
            Field field{.name = one.name,
                        .type = FieldType::quantity,
                        .doc = one.doc,
                        .change = performance(kForeseen)};
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
    Field field{
        .name = name, .type = FieldType::quantity, .doc = doc, .change = performance(reason)};
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
        {.name = "model",
         .type = FieldType::text,
         .doc = "what they are, for people",
         .change = performance("it names them"),
         .optional = true,
         .member = fills<&MachineSpec::machine, &plan::Machine::gpus, &plan::Gpus::model>()},
        {.name = "count",
         .type = FieldType::integer,
         .doc = "of a node",
         .change = performance(kCheckedAgainst),
         .minimum = 1,
         .maximum = 64,
         .member = fills<&MachineSpec::machine, &plan::Machine::gpus, &plan::Gpus::count>()},
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
        {.name = "local",
         .type = FieldType::record,
         .doc = "between those of one node: {latency: 5us, bandwidth: 300GB/s}",
         .change = performance(kForeseen),
         .optional = true,
         .fields = &gpus_local_table()},
    };
    return table;
}

const FieldTable& slurm_table() {
    static const FieldTable table = {
        {.name = "setup",
         .type = FieldType::text,
         .doc = "lines of shell that a script runs before the ranks start, such as `module load "
                "mpich`",
         .change = performance("batch scripts are written with it"),
         .optional = true},
        {.name = "constraint",
         .type = FieldType::text,
         .doc = "features that nodes must have, as sbatch takes them",
         .change = performance("batch scripts are written with it"),
         .optional = true},
        {.name = "qos",
         .type = FieldType::text,
         .doc = "the quality of service that jobs ask for",
         .change = performance("batch scripts are written with it"),
         .optional = true},
    };
    return table;
}

const FieldTable& machine_table() {
    static const FieldTable table = {
        kind_field("machine"),
        name_field("the machine's name; the file's name when not given", "it names the machine"),
        extends_field("a machine that this one is merged over, field by field"),
        description_field("what the machine is, and whether its rates were measured, for people"),
        {.name = "nodes",
         .type = FieldType::integer,
         .fallback = std::int64_t{1},
         .doc = "computers that the ranks of a job are spread over",
         .change = performance(kCheckedAgainst),
         .minimum = 1,
         .maximum = 1'000'000,
         .member = fills<&MachineSpec::machine, &plan::Machine::nodes>()},
        {.name = "cores",
         .type = FieldType::integer,
         .doc = "of a node, without the second threads of a core",
         .change = performance(kCheckedAgainst),
         .minimum = 1,
         .maximum = 4096,
         .unit = "cores",
         .optional = true,
         .member = fills<&MachineSpec::machine, &plan::Machine::cores>()},
        {.name = "memory",
         .type = FieldType::quantity,
         .doc = "of a node, that jobs may use",
         .change = performance(kCheckedAgainst),
         .minimum = 1,
         .unit = "bytes",
         .optional = true,
         .member = fills<&MachineSpec::machine, &plan::Machine::memory_bytes>()},
        {.name = "isa",
         .type = FieldType::choice,
         .doc = "the instruction set that plans for it may use: each has those before it, the last "
                "two "
                "products of bfloat16",
         .change = performance("the same values but for rounding"),
         .choices = {"baseline", "avx2", "avx512", "avx512_bf16", "amx"},
         .optional = true,
         .member = fills<&MachineSpec::machine, &plan::Machine::isa>()},
        {.name = "processor",
         .type = FieldType::text,
         .doc = "its processors' model as the system names it: whose measured times choose kernels "
                "for the machine; without it those of the machine that compiles",
         .change = performance("it says whose times choose kernels"),
         .optional = true,
         .member = fills<&MachineSpec::processor>()},
        {.name = "product_rate",
         .type = FieldType::quantity,
         .doc = "of matrix products, one core, f32, as a run reaches it",
         .change = performance(kForeseen),
         .minimum = 0,
         .unit = "flop/s",
         .optional = true,
         .exclusive_minimum = true,
         .member = fills<&MachineSpec::machine, &plan::Machine::product_rate>()},
        {.name = "convolution_rate",
         .type = FieldType::quantity,
         .doc = "of convolutions, one core, f32, as a run reaches it",
         .change = performance(kForeseen),
         .minimum = 0,
         .unit = "flop/s",
         .optional = true,
         .exclusive_minimum = true,
         .member = fills<&MachineSpec::machine, &plan::Machine::convolution_rate>()},
        {.name = "memory_bandwidth",
         .type = FieldType::quantity,
         .doc = "what one core reads and writes",
         .change = performance(kForeseen),
         .minimum = 0,
         .unit = "bytes/s",
         .optional = true,
         .exclusive_minimum = true,
         .member = fills<&MachineSpec::machine, &plan::Machine::memory_bandwidth>()},
        {.name = "node_memory_bandwidth",
         .type = FieldType::quantity,
         .doc = "what all cores of a node together read and write",
         .change = performance(kForeseen),
         .minimum = 0,
         .unit = "bytes/s",
         .optional = true,
         .exclusive_minimum = true,
         .member = fills<&MachineSpec::machine, &plan::Machine::node_memory_bandwidth>()},
        {.name = "step_overhead",
         .type = FieldType::quantity,
         .doc = "what a step of a program takes at least",
         .change = performance(kForeseen),
         .minimum = 0,
         .unit = "seconds",
         .optional = true,
         .exclusive_minimum = true,
         .member = fills<&MachineSpec::machine, &plan::Machine::step_overhead>()},
        {.name = "decode_rate",
         .type = FieldType::quantity,
         .doc = "samples of 32x32x3 pixels that one data worker prepares",
         .change = performance(kForeseen),
         .minimum = 0,
         .unit = "samples/s",
         .optional = true,
         .exclusive_minimum = true,
         .member = fills<&MachineSpec::machine, &plan::Machine::decode_rate>()},
        {.name = "network",
         .type = FieldType::record,
         .doc = "between ranks of different nodes: {latency: 1.5us, bandwidth: 100Gbit/s}",
         .change = performance(kForeseen),
         .optional = true,
         .fields = &network_table()},
        {.name = "local",
         .type = FieldType::record,
         .doc = "between ranks of one node: {latency: 500ns, bandwidth: 5GB/s}",
         .change = performance(kForeseen),
         .optional = true,
         .fields = &local_table()},
        {.name = "thread_efficiency",
         .type = FieldType::real,
         .doc = "what every further thread of a rank adds, of what the first one does",
         .change = performance(kForeseen),
         .minimum = 0,
         .maximum = 1,
         .optional = true,
         .exclusive_minimum = true,
         .member = fills<&MachineSpec::machine, &plan::Machine::thread_efficiency>()},
        {.name = "compute_error",
         .type = FieldType::real,
         .doc = "by what share programs that were measured differ from what these rates foresee, "
                "in the mean: the error bar of a forecast's computing",
         .change = performance(kForeseen),
         .minimum = 0,
         .maximum = 10,
         .optional = true,
         .exclusive_minimum = true,
         .member = fills<&MachineSpec::machine, &plan::Machine::compute_error>()},
        {.name = "exchange_error",
         .type = FieldType::real,
         .doc = "the same of exchanges between ranks",
         .change = performance(kForeseen),
         .minimum = 0,
         .maximum = 10,
         .optional = true,
         .exclusive_minimum = true,
         .member = fills<&MachineSpec::machine, &plan::Machine::exchange_error>()},
        {.name = "kernels",
         .type = FieldType::record,
         .doc = "rates of kernels that reach less, or more, than the rates above, one core, f32: "
                "{weight_gradients: 80Gflop/s}",
         .change = performance(kForeseen),
         .optional = true,
         .fields = &kernel_rate_table()},
        {.name = "gpus",
         .type = FieldType::record,
         .doc = "of every node, one rank each: {count: 4, memory: 80GB, memory_bandwidth: 2.8TB/s, "
                "f32_rate: 45Tflop/s}",
         .change = performance(kForeseen),
         .optional = true,
         .fields = &gpus_table()},
        {.name = "slurm",
         .type = FieldType::record,
         .doc =
             "what `dtnnc slurm` writes into every script for it: {setup: \"module load mpich\"}",
         .change = performance("batch scripts are written with it"),
         .optional = true,
         .fields = &slurm_table()},
    };
    return table;
}

}  // namespace dtnn::compiler
