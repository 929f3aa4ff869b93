// Groups of one warp inside one called function: their masks are mixed up by ptxas -O1 and above.
//   nvcc -O3 -arch=sm_90 ptxas-activemask.cu -o t && ./t      counts above zero are wrong, and so is the exit code
// Variants: -DOWN_BIT (workaround), -DGROUPS (cooperative groups), -DINLINE (no call), -Xptxas -O0.
#include <cstdio>
#ifdef GROUPS
#include <cooperative_groups.h>
#endif
#ifdef INLINE
#define CALLED __forceinline__
#else
#define CALLED __noinline__
#endif

__device__ unsigned zeros[1024];

// Up to twelve loads: how long a lane is away depends on its key. Always returns 0.
__device__ __noinline__ unsigned spend(unsigned key) {
    volatile unsigned *word = zeros + key % 1024;
    unsigned sum = 0;
    for (unsigned n = key % 13; n != 0; n--) sum += *word;
    return sum;
}

// The usual shape of warp-aggregated code. Whoever is here forms a group; lanes with the same low bit of the key elect
// a leader; it works, the others wait and take its value. Answers what went wrong: a byte each for vote, match, shuffle.
__device__ CALLED unsigned aggregate(unsigned key, unsigned *sink) {
#ifdef GROUPS
    auto group = cooperative_groups::coalesced_threads();
    unsigned all = 0xffffffffu >> (32 - group.size()), lane = group.thread_rank();
    auto match = [&] { return group.match_any(key & 1); };
    auto meet = [&] { group.sync(); };
    auto vote = [&] { return group.ballot(1); };
    auto take = [&](unsigned value, unsigned from) { return group.shfl(value, from); };
#else
    unsigned all = __activemask(), lane = threadIdx.x % 32;
#ifdef OWN_BIT
    unsigned own;
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(own));
    all |= own; // changes nothing: activemask always holds the own bit
#endif
    auto match = [&] { return __match_any_sync(all, key & 1); };
    auto meet = [&] { __syncwarp(all); };
    auto vote = [&] { return __ballot_sync(all, 1); };
    auto take = [&](unsigned value, unsigned from) { return __shfl_sync(all, value, from); };
#endif
    unsigned peers = match(), leader = __ffs(peers) - 1, value = 0;
    if (lane == leader) {
        value = key + spend(key);
        if (key & 64) value += spend(key * 7);
        atomicAdd(sink, 1);
    }
    meet();
    unsigned there = vote(), taken = take(value, leader), again = match();
    return (there != all) | (again != peers) << 8 | ((taken ^ key) & 1) << 16;
}

__global__ void rounds(unsigned count, unsigned *out) {
    unsigned state = threadIdx.x * 2654435761u, wrong = 0, apart = 0;
    for (unsigned i = 0; i < count; i++) {
        apart += __activemask() != 0xffffffffu; // no error: only tells whether warps come back together
        state = state * 1664525u + 1013904223u;
        if ((state >> 16) % 3 != 0) wrong += aggregate(state >> 7, out + 4);
        if ((state >> 20) % 3 == 0) wrong += aggregate(state >> 9, out + 4);
    }
    for (unsigned i = 0; i < 3; i++) atomicAdd(out + i, wrong >> 8 * i & 255);
    atomicAdd(out + 3, apart);
}

int main() {
    unsigned *out;
    if (cudaMallocManaged(&out, 5 * sizeof *out) != cudaSuccess) return 2;
    for (int i = 0; i < 5; i++) out[i] = 0;
    rounds<<<1, 256>>>(32, out);
    if (cudaError_t error = cudaDeviceSynchronize()) return printf("%s\n", cudaGetErrorString(error)), 2;
    printf("wrong votes %u, matches %u, shuffles %u; loop heads with the warp apart %u of 8192\n", out[0], out[1], out[2], out[3]);
    return (out[0] | out[1] | out[2]) != 0;
}
