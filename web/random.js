// Counter-based random numbers, identical to those of boolgrad/core/random.h, so that the viewer
// and `boolgrad run` start from the same state and fire the same cells.

/** The upper 32 bits of the product of two 32-bit numbers. */
function multiplyHigh(a, b) {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const other = aLow * bHigh + (middle & 0xffff);
  return (aHigh * bHigh + (middle >>> 16) + (other >>> 16)) >>> 0;
}

/** 128 random bits at an address, as four numbers below 2^32 (Philox4x32-10). */
function randomBits({seed, stream, step = 0, index = 0}) {
  let c0 = index >>> 0;
  let c1 = Math.floor(index / 2 ** 32);
  let c2 = step >>> 0;
  let c3 = stream;
  let k0 = seed >>> 0;
  let k1 = Math.floor(seed / 2 ** 32) >>> 0;
  for (let round = 0; round < 10; ++round) {
    const firstHigh = multiplyHigh(0xd2511f53, c0);
    const first = Math.imul(0xd2511f53, c0) >>> 0;
    const secondHigh = multiplyHigh(0xcd9e8d57, c2);
    const second = Math.imul(0xcd9e8d57, c2) >>> 0;
    c0 = (secondHigh ^ c1 ^ k0) >>> 0;
    c1 = second;
    c2 = (firstHigh ^ c3 ^ k1) >>> 0;
    c3 = first;
    k0 = (k0 + 0x9e3779b9) >>> 0;
    k1 = (k1 + 0xbb67ae85) >>> 0;
  }
  return [c0, c1, c2, c3];
}

/** A random integer in [0, bound), for bounds up to 2^21. */
function randomBelow(at, bound) {
  const [high, low] = randomBits(at);
  return Math.floor((high * bound + Math.floor(low * bound / 2 ** 32)) / 2 ** 32);
}
