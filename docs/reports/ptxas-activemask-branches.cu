// Masks from `activemask` go wrong in a kernel that calls nothing: two branches in a loop, with a loop in each that takes a mask.
// See ptxas-activemask.md. nvcc -O3 -arch=sm_90 ptxas-activemask-branches.cu -o plain && ./plain
// -DOWN_BIT: the workaround. -DTOGETHER: the warp comes together at the end of each round. The exit code is 1 if a vote is wrong.
#include <cstdio>

__device__ unsigned lane() {
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

__device__ unsigned active() {
    unsigned mask = __activemask();
#ifdef OWN_BIT
    unsigned own;
    asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(own));
    mask |= own;
#endif
    return mask;
}

__device__ unsigned hash(unsigned x) {
    x = (x ^ x >> 16) * 0x9e3779b1u;
    x = (x ^ x >> 15) * 0x85ebca6bu;
    return x ^ x >> 16;
}

// Words apart: what votes counted, what lanes counted, votes that are not the mask, tickets.
enum { VOTED = 0, COUNTED = 32, WRONG = 64, TICKETS = 96, WORDS = 128 };

// A leader takes a number of tickets for the lanes of its mask; some of the lanes that have one are done.
__device__ __forceinline__ bool attempt(unsigned *words, unsigned seed) {
    unsigned mask = active(), leader = 31 - __clz(mask), tickets = 0;
    if (lane() == leader) tickets = atomicAdd(words + TICKETS, 1) & 31;
    tickets = __shfl_sync(mask, tickets, leader);
    unsigned rank = __popc(mask & ((1u << lane()) - 1));
    bool done = rank < tickets && (hash(seed) & 1);
    if (__ballot_sync(mask, true) != mask) atomicAdd(words + WRONG, 1);
    unsigned number = __popc(__ballot_sync(mask, done));
    if (lane() == leader && number != 0) atomicAdd(words + VOTED, number);
    if (done) atomicAdd(words + COUNTED, 1);
    return done;
}

__global__ void rounds(unsigned *words, unsigned each) {
    unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned k = 0; k < each; k++) {
        unsigned seed = hash(index * each + k);
        bool done = false;
        if (seed % 5 < 3)
            for (unsigned n = 0; !done && n < 64; n++) done = attempt(words, seed + n * 77);
        else
            for (unsigned n = 0; !done && n < 64; n++) done = attempt(words, seed + n * 99);
#ifdef TOGETHER
        __syncwarp();
#endif
    }
}

int main() {
    unsigned *words, wrong = 0;
    cudaMallocManaged(&words, WORDS * sizeof(unsigned));
    for (int run = 0; run < 8; run++) {
        for (int i = 0; i < WORDS; i++) words[i] = 0;
        rounds<<<209, 96>>>(words, 6);
        if (cudaDeviceSynchronize() != cudaSuccess) return 2;
        printf("%d (%u)  ", int(words[VOTED] - words[COUNTED]), words[WRONG]);
        wrong += words[WRONG];
    }
    printf("\n");
    return wrong != 0;
}
