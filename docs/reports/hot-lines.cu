// What an atomic on a word that all warps change costs beside other accesses, by how far apart they are.
// nvcc -O3 -arch=sm_90 hot-lines.cu -o hot-lines && ./hot-lines
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

const uint32_t OPERATIONS = 1 << 20; // each by one lane of a warp
const uint32_t EACH = 16;            // one after the other
const uint32_t LANES = 256;          // of a block

enum What { LOADS, ADDITION, LOADS_AND_ADDITION, TWO_ADDITIONS };

__device__ uint32_t load(const uint32_t* word) {
    uint32_t value;
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

__device__ uint32_t add(uint32_t* word) {
    uint32_t before;
    asm volatile("atom.relaxed.gpu.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(word) : "memory");
    return before;
}

template <What WHAT>
__global__ void operate(uint32_t* near, uint32_t* far, uint32_t* out) {
    uint32_t seen = 0;
    if (threadIdx.x % 32 == 0) {
        for (uint32_t i = 0; i < EACH; i++) {
            if (WHAT == LOADS || WHAT == LOADS_AND_ADDITION) seen += load(near);
            if (WHAT != LOADS) seen += add(far);
            if (WHAT == TWO_ADDITIONS) seen += add(near);
            asm volatile("fence.acq_rel.gpu;" ::: "memory");
            if (WHAT == LOADS || WHAT == LOADS_AND_ADDITION) seen += load(near + 1);
        }
    }
    if (seen == UINT32_MAX) *out = seen;
}

template <What WHAT>
float nanoseconds(uint32_t* near, uint32_t* far, uint32_t* out) {
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 1e9;
    for (int run = 0; run < 5; run++) {
        cudaEventRecord(begin);
        operate<WHAT><<<OPERATIONS / EACH / (LANES / 32), LANES>>>(near, far, out);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float milliseconds;
        cudaEventElapsedTime(&milliseconds, begin, end);
        best = milliseconds < best ? milliseconds : best;
    }
    return best * 1e6f / OPERATIONS;
}

int main() {
    uint32_t *words, *out;
    cudaMalloc(&words, 1 << 20);
    cudaMalloc(&out, 4);
    cudaMemset(words, 0, 1 << 20);
    printf("two loads      %5.2f ns\n", nanoseconds<LOADS>(words, words, out));
    printf("one addition   %5.2f ns\n", nanoseconds<ADDITION>(words, words, out));
    printf("words apart    two loads and an addition    two additions\n");
    for (uint32_t apart : {4, 8, 16, 24, 32, 64, 96, 128, 160, 192, 224, 256, 1024}) {
        float mixed = nanoseconds<LOADS_AND_ADDITION>(words, words + apart, out);
        float twice = nanoseconds<TWO_ADDITIONS>(words, words + apart, out);
        printf("%11u %25.2f ns %13.2f ns\n", apart, mixed, twice);
    }
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) fprintf(stderr, "%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
