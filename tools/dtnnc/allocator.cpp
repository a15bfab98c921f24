/// How jemalloc, where dtnnc is linked with it, treats memory that is free: a compilation runs for
/// seconds and uses again what it gives back, so nothing goes back to the system (which would clear
/// every page anew; by default every block of 8 MiB and more does), and large pages save most of
/// the faults. Without jemalloc nobody reads this.

extern "C" {
// The name and the type are jemalloc's (jemalloc(3), "TUNING").
extern const char* malloc_conf;
const char* malloc_conf =
    "dirty_decay_ms:-1,muzzy_decay_ms:-1,oversize_threshold:0,thp:always,metadata_thp:auto";
}
