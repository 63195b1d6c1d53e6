/* What numba's machine code asks of its surroundings, without numba: memory that is counted.
 * And two questions of the loader: whether this processor runs the code, and whether arrays are read rightly. */
#include <cpuid.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define PUBLIC __attribute__((visibility("default")))

/* The machine code itself reads the counter and the address of the data: the order of the first fields is numba's. */
typedef struct {
    size_t count;
    void (*destroy)(void *, size_t, void *);
    void *destroy_info;
    void *data;
    size_t size;
} Memory;

Memory *NRT_MemInfo_alloc_aligned(size_t size, uint32_t align) {
    if (size > SIZE_MAX / 2 || align == 0) return NULL;
    Memory *memory = malloc(sizeof(Memory) + size + align);
    if (memory == NULL) return NULL;
    uintptr_t data = (uintptr_t)(memory + 1);
    data += (align - data % align) % align;
    *memory = (Memory){.count = 1, .data = (void *)data, .size = size};
    return memory;
}

Memory *NRT_MemInfo_alloc_safe_aligned(size_t size, uint32_t align) { return NRT_MemInfo_alloc_aligned(size, align); }

Memory *NRT_MemInfo_alloc(size_t size) { return NRT_MemInfo_alloc_aligned(size, 16); }

Memory *NRT_MemInfo_alloc_safe(size_t size) { return NRT_MemInfo_alloc_aligned(size, 16); }

void *NRT_Allocate(size_t size) { return malloc(size); }

void NRT_Free(void *memory) { free(memory); }

void NRT_MemInfo_call_dtor(Memory *memory) {
    if (memory->destroy) memory->destroy(memory->data, memory->size, memory->destroy_info);
    free(memory);
}

/* Lists: their memory can grow, and stands apart from its counter. */
static void destroy_list(void *data, size_t size, void *items) {
    if (items) ((void (*)(void *, size_t, void *))items)(data, size, NULL);
    free(data);
}

Memory *NRT_MemInfo_new_varsize_dtor(size_t size, void (*items)(void *, size_t, void *)) {
    Memory *memory = malloc(sizeof(Memory));
    void *data = malloc(size ? size : 1);
    if (memory == NULL || data == NULL) {
        free(memory);
        free(data);
        return NULL;
    }
    *memory = (Memory){1, destroy_list, (void *)items, data, size};
    return memory;
}

Memory *NRT_MemInfo_new_varsize(size_t size) { return NRT_MemInfo_new_varsize_dtor(size, NULL); }

void *NRT_MemInfo_varsize_realloc(Memory *memory, size_t size) {
    void *data = realloc(memory->data, size ? size : 1);
    if (data == NULL) return NULL;
    memory->data = data;
    memory->size = size;
    return data;
}

PUBLIC void shoal_release(Memory *memory) {
    if (memory && __atomic_sub_fetch(&memory->count, 1, __ATOMIC_ACQ_REL) == 0) NRT_MemInfo_call_dtor(memory);
}

/* Strides of another shape for the same memory. numba reshapes arrays in one piece only. */
int numba_attempt_nocopy_reshape(ptrdiff_t old_axes, const ptrdiff_t *old_shape, const ptrdiff_t *old_strides,
                                 ptrdiff_t axes, const ptrdiff_t *shape, ptrdiff_t *strides, ptrdiff_t item,
                                 int fortran) {
    ptrdiff_t old_size = item, size = item;
    for (ptrdiff_t t = 0; t < old_axes; t++) {
        ptrdiff_t i = fortran ? t : old_axes - 1 - t;
        if (old_shape[i] != 1 && old_strides[i] != old_size) return 0;
        old_size *= old_shape[i];
    }
    for (ptrdiff_t t = 0; t < axes; t++) {
        ptrdiff_t i = fortran ? t : axes - 1 - t;
        strides[i] = size;
        size *= shape[i];
    }
    return size == old_size && size != 0;
}

/* Where the text of an exception depends on numbers, numba writes it with Python's functions, which are not for code
 * that runs without the interpreter's lock. They fail here, and an exception without the numbers is raised instead. */
void *PyExc_RuntimeError;
void *PyUnicode_FromKindAndData(int kind, const void *buffer, ptrdiff_t size) {
    (void)kind, (void)buffer, (void)size;
    return NULL;
}
ptrdiff_t PyObject_Hash(void *object) {
    (void)object;
    return -1;
}
void *PyTuple_Pack(ptrdiff_t size, ...) {
    (void)size;
    return NULL;
}
void PyErr_SetString(void *kind, const char *text) { (void)kind, (void)text; }

/* x86-64-v3: AVX2 and what came with it, and an operating system that keeps its registers. */
PUBLIC int shoal_runs_here(void) {
    const unsigned basic = bit_FMA | bit_MOVBE | bit_OSXSAVE | bit_AVX | bit_F16C | bit_POPCNT | bit_SSE4_2;
    const unsigned later = bit_BMI | bit_AVX2 | bit_BMI2, extended = bit_ABM;
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & basic) != basic) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & later) != later) return 0;
    if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || (c & extended) != extended) return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 6) == 6;
}

PUBLIC void shoal_read_array(const char *array, int64_t *found) {
    const int64_t *shape = *(int64_t **)(array + 32), *strides = *(int64_t **)(array + 40);
    int dimensions = *(int *)(array + 24);
    *found++ = *(int64_t *)(array + 16);
    for (int i = 0; i < dimensions; i++) *found++ = shape[i];
    for (int i = 0; i < dimensions; i++) *found++ = strides[i];
}
