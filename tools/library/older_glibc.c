/* Functions that the libraries of the system that builds take from glibc 2.35 and 2.36, for those
   before: libstdc++ and libarchive want random numbers, libgcc the tables by which exceptions find
   their handlers. Whoever makes a package has the copies of these libraries ask for an old version
   (bundled_libraries.py), and the loader then takes the functions from here. */

#define _GNU_SOURCE
#include <features.h>
#if __GLIBC_PREREQ(2, 35)
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN void arc4random_buf(void* bytes, size_t count) {
    char* next = bytes;
    while (count > 0) {
        const ssize_t got = getrandom(next, count, 0);
        if (got < 0 && errno != EINTR) abort();
        if (got <= 0) continue;
        next += got;
        count -= (size_t)got;
    }
}

SHOWN uint32_t arc4random(void) {
    uint32_t number;
    arc4random_buf(&number, sizeof number);
    return number;
}

struct Search {
    uintptr_t address;
    struct dl_find_object* found;
};

/* Nothing goes on where the object that has the address is found. */
static int look_at(struct dl_phdr_info* object, size_t size, void* data) {
    (void)size;
    const struct Search* search = data;
    uintptr_t begin = UINTPTR_MAX, end = 0;
    void* tables = NULL;
    int holds = 0;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)* part = &object->dlpi_phdr[i];
        const uintptr_t first = object->dlpi_addr + part->p_vaddr, last = first + part->p_memsz;
        if (part->p_type == PT_GNU_EH_FRAME) tables = (void*)first;
        if (part->p_type != PT_LOAD) continue;
        if (first < begin) begin = first;
        if (last > end) end = last;
        if (search->address >= first && search->address < last) holds = 1;
    }
    if (!holds || tables == NULL) return 0;
    memset(search->found, 0, sizeof *search->found);
    search->found->dlfo_map_start = (void*)begin;
    search->found->dlfo_map_end = (void*)end;
    search->found->dlfo_eh_frame = tables;
    return 1;
}

SHOWN int _dl_find_object(void* address, struct dl_find_object* found) {
    struct Search search = {(uintptr_t)address, found};
    return dl_iterate_phdr(look_at, &search) == 1 ? 0 : -1;
}
#endif
