#include "compiler/frontend/tables/tables.hpp"
#include "plan/forecast/rates.hpp"

namespace dtnn::compiler {

const FieldTable& network_table() {
    static const FieldTable table = {
        {.name = "latency",
         .type = FieldType::quantity,
         .doc = "of a message of no length, one way",
         .minimum = 0,
         .unit = "seconds",
         .optional = true,
         .exclusive_minimum = true},
        {.name = "bandwidth",
         .type = FieldType::quantity,
         .doc = "of one rank that sends and receives; 100Gbit/s are 12.5GB/s",
         .minimum = 0,
         .unit = "bytes/s",
         .optional = true,
         .exclusive_minimum = true},
    };
    return table;
}

const FieldTable& kernel_rate_table() {
    static const FieldTable table = [] {
        FieldTable fields;
        for (const plan::KernelRate& one : plan::kernel_rates()) {
            Field field{.name = one.name, .type = FieldType::quantity};
            field.doc = one.doc;
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

Field gpu_quantity(std::string_view name, std::string_view unit, std::string_view doc) {
    Field field{.name = name, .type = FieldType::quantity};
    field.doc = doc;
    field.minimum = 0;
    field.unit = unit;
    field.optional = true;
    field.exclusive_minimum = true;
    return field;
}

}  // namespace

const FieldTable& gpus_table() {
    static const FieldTable table = {
        {.name = "model",
         .type = FieldType::text,
         .doc = "what they are, for people",
         .optional = true},
        {.name = "count",
         .type = FieldType::integer,
         .doc = "of a node",
         .minimum = 1,
         .maximum = 64},
        gpu_quantity("memory", "bytes", "of one of them"),
        gpu_quantity("library_memory", "bytes",
                     "of it, what the driver and the libraries take for themselves"),
        gpu_quantity("f32_rate", "flop/s",
                     "of products and convolutions of one, in f32, as kernels reach it"),
        gpu_quantity("f64_rate", "flop/s", "likewise in f64"),
        gpu_quantity("tf32_rate", "flop/s", "likewise with `compute: tf32`"),
        gpu_quantity("bf16_rate", "flop/s", "likewise with `compute: bf16` or `fp16`"),
        gpu_quantity("memory_bandwidth", "bytes/s", "what one reads and writes of its memory"),
        gpu_quantity("host_bandwidth", "bytes/s",
                     "of copies from the host's memory to one of them"),
        gpu_quantity("step_overhead", "seconds",
                     "what a step of a captured program takes at least"),
        {.name = "local",
         .type = FieldType::record,
         .doc = "between those of one node: {latency: 5us, bandwidth: 300GB/s}",
         .optional = true,
         .fields = &network_table()},
    };
    return table;
}

const FieldTable& slurm_table() {
    static const FieldTable table = {
        {.name = "setup",
         .type = FieldType::text,
         .doc = "lines of shell that a script runs before the ranks start, such as `module load "
                "mpich`",
         .optional = true},
        {.name = "constraint",
         .type = FieldType::text,
         .doc = "features that nodes must have, as sbatch takes them",
         .optional = true},
        {.name = "qos",
         .type = FieldType::text,
         .doc = "the quality of service that jobs ask for",
         .optional = true},
    };
    return table;
}

const FieldTable& machine_table() {
    static const FieldTable table = {
        {.name = "kind",
         .type = FieldType::choice,
         .doc = "the kind of spec",
         .choices = {"machine"},
         .optional = true},
        {.name = "name",
         .type = FieldType::text,
         .doc = "the machine's name; the file's name when not given",
         .optional = true},
        {.name = "extends",
         .type = FieldType::reference,
         .doc = "a machine that this one is merged over, field by field",
         .optional = true},
        {.name = "description",
         .type = FieldType::text,
         .doc = "what the machine is, and whether its rates were measured, for people",
         .optional = true},
        {.name = "nodes",
         .type = FieldType::integer,
         .fallback = std::int64_t{1},
         .doc = "computers that the ranks of a job are spread over",
         .minimum = 1,
         .maximum = 1'000'000},
        {.name = "cores",
         .type = FieldType::integer,
         .doc = "of a node, without the second threads of a core",
         .minimum = 1,
         .maximum = 4096,
         .unit = "cores",
         .optional = true},
        {.name = "memory",
         .type = FieldType::quantity,
         .doc = "of a node, that jobs may use",
         .minimum = 1,
         .unit = "bytes",
         .optional = true},
        {.name = "isa",
         .type = FieldType::choice,
         .doc = "the instruction set that plans for it may use: each has those before it, the last "
                "two "
                "products of bfloat16",
         .choices = {"baseline", "avx2", "avx512", "avx512_bf16", "amx"},
         .optional = true},
        {.name = "processor",
         .type = FieldType::text,
         .doc = "its processors' model as the system names it: whose measured times choose kernels "
                "for the machine; without it those of the machine that compiles",
         .optional = true},
        {.name = "product_rate",
         .type = FieldType::quantity,
         .doc = "of matrix products, one core, f32, as a run reaches it",
         .minimum = 0,
         .unit = "flop/s",
         .optional = true,
         .exclusive_minimum = true},
        {.name = "convolution_rate",
         .type = FieldType::quantity,
         .doc = "of convolutions, one core, f32, as a run reaches it",
         .minimum = 0,
         .unit = "flop/s",
         .optional = true,
         .exclusive_minimum = true},
        {.name = "memory_bandwidth",
         .type = FieldType::quantity,
         .doc = "what one core reads and writes",
         .minimum = 0,
         .unit = "bytes/s",
         .optional = true,
         .exclusive_minimum = true},
        {.name = "node_memory_bandwidth",
         .type = FieldType::quantity,
         .doc = "what all cores of a node together read and write",
         .minimum = 0,
         .unit = "bytes/s",
         .optional = true,
         .exclusive_minimum = true},
        {.name = "thread_efficiency",
         .type = FieldType::real,
         .doc = "what every further thread of a rank adds, of what the first one does",
         .minimum = 0,
         .maximum = 1,
         .optional = true,
         .exclusive_minimum = true},
        {.name = "step_overhead",
         .type = FieldType::quantity,
         .doc = "what a step of a program takes at least",
         .minimum = 0,
         .unit = "seconds",
         .optional = true,
         .exclusive_minimum = true},
        {.name = "decode_rate",
         .type = FieldType::quantity,
         .doc = "samples of 32x32x3 pixels that one data worker prepares",
         .minimum = 0,
         .unit = "samples/s",
         .optional = true,
         .exclusive_minimum = true},
        {.name = "network",
         .type = FieldType::record,
         .doc = "between ranks of different nodes: {latency: 1.5us, bandwidth: 100Gbit/s}",
         .optional = true,
         .fields = &network_table()},
        {.name = "local",
         .type = FieldType::record,
         .doc = "between ranks of one node: {latency: 500ns, bandwidth: 5GB/s}",
         .optional = true,
         .fields = &network_table()},
        {.name = "kernels",
         .type = FieldType::record,
         .doc = "rates of kernels that reach less, or more, than the rates above, one core, f32: "
                "{weight_gradients: 80Gflop/s}",
         .optional = true,
         .fields = &kernel_rate_table()},
        {.name = "gpus",
         .type = FieldType::record,
         .doc = "of every node, one rank each: {count: 4, memory: 80GB, memory_bandwidth: 2.8TB/s, "
                "f32_rate: 45Tflop/s}",
         .optional = true,
         .fields = &gpus_table()},
        {.name = "compute_error",
         .type = FieldType::real,
         .doc = "by what share programs that were measured differ from what these rates foresee, "
                "in the mean: the error bar of a forecast's computing",
         .minimum = 0,
         .maximum = 10,
         .optional = true,
         .exclusive_minimum = true},
        {.name = "exchange_error",
         .type = FieldType::real,
         .doc = "the same of exchanges between ranks",
         .minimum = 0,
         .maximum = 10,
         .optional = true,
         .exclusive_minimum = true},
        {.name = "slurm",
         .type = FieldType::record,
         .doc =
             "what `dtnnc slurm` writes into every script for it: {setup: \"module load mpich\"}",
         .optional = true,
         .fields = &slurm_table()},
    };
    return table;
}

}  // namespace dtnn::compiler
