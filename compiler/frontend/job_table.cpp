#include "compiler/frontend/tables.hpp"

namespace dtnn::compiler {

const FieldTable& job_table() {
    static const FieldTable table = {
        {.name = "kind",
         .type = FieldType::choice,
         .doc = "the kind of spec",
         .choices = {"job"},
         .optional = true},
        {.name = "name",
         .type = FieldType::text,
         .doc = "the job's name; the file's name when not given",
         .optional = true},
        {.name = "extends",
         .type = FieldType::reference,
         .doc = "a job that this one is merged over, field by field",
         .optional = true},
        {.name = "description",
         .type = FieldType::text,
         .doc = "what the job is, for people",
         .optional = true},
        {.name = "model",
         .type = FieldType::reference,
         .doc = "the model: a name, a path, or the model itself"},
        {.name = "dataset",
         .type = FieldType::reference,
         .doc = "the dataset: a name, a path, or the dataset itself"},
        {.name = "training",
         .type = FieldType::reference,
         .doc = "the training: a name, a path, or the training itself"},
        {.name = "threads",
         .type = FieldType::integer,
         .fallback = std::int64_t{0},
         .doc = "threads to plan workspaces for; 0 leaves it to the compiler",
         .minimum = 0,
         .maximum = 1024,
         .unit = "threads"},
        {.name = "data_workers",
         .type = FieldType::integer,
         .fallback = std::int64_t{1},
         .doc = "threads that prepare batches beside those that compute",
         .minimum = 1,
         .maximum = 256,
         .unit = "threads"},
        {.name = "memory_budget",
         .type = FieldType::text,
         .doc = "the most memory a rank may use, such as 4GiB",
         .optional = true},
    };
    return table;
}

}  // namespace dtnn::compiler
