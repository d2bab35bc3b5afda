// Words that hold cells. Internal to `cuda/`.
//
// A cell's value is a float or, when hardened, one bit of a word of 32 consecutive cells. A gate is
// a polynomial in either case: c0 + c1 a + c2 b + c3 ab over the reals, or over bits with XOR for +
// and AND for *.
#pragma once

#include <type_traits>

namespace boolgrad::cuda::automata {

template <class T>
constexpr int cells_per_word = std::is_same<T, float>::value ? 1 : 32;

template <class T>
struct alignas(16) Four {
  T x, y, z, w;
};

__device__ __forceinline__ float gate(const Four<float>& c, float a, float b) {
  return fmaf(fmaf(c.w, a, c.z), b, fmaf(c.y, a, c.x));
}
__device__ __forceinline__ unsigned gate(const Four<unsigned>& c, unsigned a, unsigned b) {
  return (((c.w & a) ^ c.z) & b) ^ (c.y & a) ^ c.x;
}
template <class T>
__device__ __forceinline__ Four<T> gate(const Four<T>& c, const Four<T>& a, const Four<T>& b) {
  return {gate(c, a.x, b.x), gate(c, a.y, b.y), gate(c, a.z, b.z), gate(c, a.w, b.w)};
}

__device__ __forceinline__ Four<float> operator+(const Four<float>& a, const Four<float>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}
__device__ __forceinline__ Four<float> operator*(const Four<float>& a, const Four<float>& b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w};
}
/// a x + b for all four cells.
__device__ __forceinline__ Four<float> multiply_add(float a, const Four<float>& x, float b) {
  return {fmaf(a, x.x, b), fmaf(a, x.y, b), fmaf(a, x.z, b), fmaf(a, x.w, b)};
}
__device__ __forceinline__ float total(const Four<float>& a) { return (a.x + a.y) + (a.z + a.w); }

/// Adds the contribution of four cells to a gate's sums, one cell after the other.
__device__ __forceinline__ void add_products(Four<float>& sums, const Four<float>& a,
                                             const Four<float>& b, const Four<float>& g) {
  const Four<float> ga = g * a;
  sums.x = (((sums.x + g.x) + g.y) + g.z) + g.w;
  sums.y = (((sums.y + ga.x) + ga.y) + ga.z) + ga.w;
  sums.z = fmaf(g.w, b.w, fmaf(g.z, b.z, fmaf(g.y, b.y, fmaf(g.x, b.x, sums.z))));
  sums.w = fmaf(ga.w, b.w, fmaf(ga.z, b.z, fmaf(ga.y, b.y, fmaf(ga.x, b.x, sums.w))));
}

__device__ __forceinline__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
/// Loads four words of shared memory at once. Inline assembly keeps the compiler from delaying the
/// load or waiting for others. The second argument selects the type.
__device__ __forceinline__ Four<float> loaded(unsigned address, float) {
  Four<float> v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(address));
  return v;
}
__device__ __forceinline__ Four<unsigned> loaded(unsigned address, unsigned) {
  Four<unsigned> v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(address));
  return v;
}
__device__ __forceinline__ void store(unsigned address, const Four<float>& v) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(v.x), "f"(v.y),
               "f"(v.z), "f"(v.w)
               : "memory");
}
__device__ __forceinline__ void store(unsigned address, const Four<unsigned>& v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w)
               : "memory");
}

constexpr unsigned row_bytes = 16;  ///< four cells

/// Sums over all lanes of a warp, in a fixed order.
__device__ __forceinline__ float4 summed_over_warp(float4 sum) {
  for (int step = 16; step > 0; step /= 2) {
    sum.x += __shfl_xor_sync(~0U, sum.x, step);
    sum.y += __shfl_xor_sync(~0U, sum.y, step);
    sum.z += __shfl_xor_sync(~0U, sum.z, step);
    sum.w += __shfl_xor_sync(~0U, sum.w, step);
  }
  return sum;
}

}  // namespace boolgrad::cuda::automata
