/// How jemalloc, where dtnnc is linked with it, treats memory that is free: a compilation runs for
/// seconds and uses again what it gives back, so nothing goes back to the system (which would clear
/// every page anew; by default every block of 8 MiB and more does), and large pages save most of
/// the faults. Small blocks may be cut from free ones of up to 2^12 times their size (2^6 by
/// default): a list that has grown leaves large ones behind, which nothing else would use. Without
/// jemalloc nobody reads this.

extern "C" {
// The name and the type are jemalloc's (jemalloc(3), "TUNING").
extern const char* malloc_conf;
const char* malloc_conf =
    "dirty_decay_ms:-1,muzzy_decay_ms:-1,oversize_threshold:0,lg_extent_max_active_fit:12,"
    "thp:always,metadata_thp:auto";
}
