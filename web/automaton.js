// Grids of cells that all run the same netlist, with 32 cells of a row per word.

/**
 * The state is [channel][row][word]. Cell x of a row is bit x % 32 of word x / 32. There is one
 * extra row above and below the grid for the border. Each channel also has two copies, shifted by
 * one cell to the right and to the left. So each neighbour, for all cells, is a contiguous range of
 * words, and a gate is one loop over such ranges.
 */
class Automaton {
  constructor(netlist, height, width) {
    this.program = compile(netlist);
    this.channels = netlist.state.channels;
    this.periodic = netlist.state.periodic;
    this.resize(height, width);
  }

  /** Also sets all cells to 0. */
  resize(height, width) {
    this.height = height;
    this.width = width;
    this.rowWords = Math.ceil(width / 32);
    this.words = height * this.rowWords;
    this.last = (width - 1) % 32;
    this.lastMask = this.last === 31 ? -1 : (1 << (this.last + 1)) - 1;
    const {program, channels} = this;
    this.plane = this.words + 2 * this.rowWords;
    const slots = 3 * channels * this.plane;
    this.next = slots + program.slots * this.words;
    this.store = new Int32Array(this.next + channels * this.words);
    this.fires = new Int32Array(this.words);
    this.offsets = new Int32Array(program.inputs + program.slots);
    for (let c = 0; c < channels; ++c) {
      for (let n = 0; n < 9; ++n) {
        this.offsets[9 * c + n] = this.planeOf(c, n % 3) + Math.floor(n / 3) * this.rowWords;
      }
    }
    for (let s = 0; s < program.slots; ++s) {
      this.offsets[program.inputs + s] = slots + s * this.words;
    }
  }

  /** Offset of a channel's plane: left neighbours (0), the cells (1) or right neighbours (2). */
  planeOf(channel, side) { return (3 * channel + side) * this.plane; }

  wordOf(channel, y, x) {
    return this.planeOf(channel, 1) + (y + 1) * this.rowWords + (x >> 5);
  }

  get(channel, y, x) { return this.store[this.wordOf(channel, y, x)] >>> (x & 31) & 1; }

  set(channel, y, x, bit) {
    const at = this.wordOf(channel, y, x);
    const mask = 1 << (x & 31);
    this.store[at] = bit ? this.store[at] | mask : this.store[at] & ~mask;
  }

  clear() { this.store.fill(0, 0, 3 * this.channels * this.plane); }

  /** Sets all channels of a rectangle to 0. Parts outside the grid are ignored. */
  clearRectangle({top, left, height, width}) {
    const bottom = Math.min(this.height, top + height);
    const right = Math.min(this.width, left + width);
    for (let c = 0; c < this.channels; ++c) {
      for (let y = Math.max(0, top); y < bottom; ++y) {
        for (let x = Math.max(0, left); x < right; ++x) this.set(c, y, x, 0);
      }
    }
  }

  /** Sets every channel of every cell to a random bit. */
  startRandom(seed, stream) {
    let bits;
    let i = 0;
    for (let c = 0; c < this.channels; ++c) {
      for (let y = 0; y < this.height; ++y) {
        for (let x = 0; x < this.width; ++x, ++i) {
          if (i % 128 === 0) bits = randomBits({seed, stream, index: i / 128});
          this.set(c, y, x, bits[i % 128 >> 5] >>> (i & 31) & 1);
        }
      }
    }
  }

  /**
   * Sets every cell to a random state: 0, which has no channel, or 1, 2, ..., which have a channel
   * each.
   */
  startRandomStates(states, seed, stream) {
    this.clear();
    let index = 0;
    for (let y = 0; y < this.height; ++y) {
      for (let x = 0; x < this.width; ++x, ++index) {
        const state = randomBelow({seed, stream, index}, states);
        if (state > 0) this.set(state - 1, y, x, 1);
      }
    }
  }

  /** Sets all channels of the centre cell to 1 and everything else to 0. */
  startSeed() {
    this.clear();
    for (let c = 0; c < this.channels; ++c) this.set(c, this.height >> 1, this.width >> 1, 1);
  }

  /** One step of all cells or, if fire.rate < 1, of randomly chosen cells. */
  step(fire = null) {
    for (let c = 0; c < this.channels; ++c) this.fillNeighbours(c);
    execute(this.program, this.store, this.offsets, this.words);
    if (fire !== null && fire.rate < 1) {
      this.sampleFires(fire);
    } else {
      this.fires.fill(-1);
    }
    this.commit();
  }

  fillNeighbours(channel) {
    const {store, rowWords, words, height, periodic, program} = this;
    const here = this.planeOf(channel, 1);
    const below = here + words + rowWords;
    if (periodic) {
      store.copyWithin(here, below - rowWords, below);
      store.copyWithin(below, here + rowWords, here + 2 * rowWords);
    }
    const reads = (side) => [0, 3, 6].some((row) => program.reads[9 * channel + row + side]);
    if (reads(0)) {
      for (let y = 0; y < height + 2; ++y) this.shiftRight(channel, y * rowWords);
    }
    if (reads(2)) {
      for (let y = 0; y < height + 2; ++y) this.shiftLeft(channel, y * rowWords);
    }
  }

  /** Fills the plane of left neighbours for the row at an offset. */
  shiftRight(channel, row) {
    const {store, rowWords} = this;
    const from = this.planeOf(channel, 1) + row;
    const to = this.planeOf(channel, 0) + row;
    let carry = this.periodic ? store[from + rowWords - 1] >>> this.last & 1 : 0;
    for (let w = 0; w < rowWords; ++w) {
      const word = store[from + w];
      store[to + w] = word << 1 | carry;
      carry = word >>> 31;
    }
  }

  /** The same for right neighbours. */
  shiftLeft(channel, row) {
    const {store, rowWords} = this;
    const from = this.planeOf(channel, 1) + row;
    const to = this.planeOf(channel, 2) + row;
    let carry = this.periodic ? (store[from] & 1) << this.last : 0;
    for (let w = rowWords - 1; w >= 0; --w) {
      const word = store[from + w];
      store[to + w] = word >>> 1 | carry;
      carry = word << 31;
    }
  }

  sampleFires({rate, seed, stream, step}) {
    const {fires, width, height} = this;
    const scaled = rate * 2 ** 32;
    let bits;
    let i = 0;
    fires.fill(0);
    for (let y = 0; y < height; ++y) {
      for (let x = 0; x < width; ++x, ++i) {
        if (i % 4 === 0) bits = randomBits({seed, stream, step, index: i / 4});
        if (bits[i % 4] < scaled) fires[y * this.rowWords + (x >> 5)] |= 1 << (x & 31);
      }
    }
  }

  commit() {
    const {store, fires, program, words, rowWords, lastMask} = this;
    for (let w = rowWords - 1; w < words; w += rowWords) fires[w] &= lastMask;
    // An output may be an input itself, so all outputs are copied before any channel changes.
    for (let c = 0; c < this.channels; ++c) {
      const from = this.offsets[program.outputs[c]];
      store.copyWithin(this.next + c * words, from, from + words);
    }
    for (let c = 0; c < this.channels; ++c) {
      const from = this.next + c * words;
      const to = this.planeOf(c, 1) + rowWords;
      for (let i = 0; i < words; ++i) {
        store[to + i] = store[to + i] & ~fires[i] | store[from + i] & fires[i];
      }
    }
  }

  /** One line of 0 and 1 per row, and an empty line between channels. */
  toText() {
    const channels = [];
    for (let c = 0; c < this.channels; ++c) {
      const rows = [];
      for (let y = 0; y < this.height; ++y) {
        let row = '';
        for (let x = 0; x < this.width; ++x) row += this.get(c, y, x);
        rows.push(row);
      }
      channels.push(rows.join('\n'));
    }
    return channels.join('\n\n');
  }
}

/** The training target: a picture in the centre of the grid, or one that tiles it. */
class Target {
  constructor({rows, tiled}) {
    this.planes = rows;  // [channel][row], strings of 0 and 1
    this.tiled = tiled;
    this.height = rows[0].length;
    this.width = rows[0][0].length;
  }

  get channels() { return this.planes.length; }

  fits(height, width) { return this.tiled || (height >= this.height && width >= this.width); }

  /** The target bit of a cell of a grid with the given size. */
  at(channel, y, x, height, width) {
    if (this.tiled) return Number(this.planes[channel][y % this.height][x % this.width]);
    // The centre cells coincide; this is also where seeds are placed.
    const row = this.planes[channel][y - (height >> 1) + (this.height >> 1)];
    return Number(row?.[x - (width >> 1) + (this.width >> 1)] ?? 0);
  }

  /** The target bits of a whole grid, [channel][row][word], in the layout of the automaton. */
  targetBits({height, width, rowWords, words}) {
    const bits = new Int32Array(this.channels * words);
    for (let c = 0; c < this.channels; ++c) {
      for (let y = 0; y < height; ++y) {
        for (let x = 0; x < width; ++x) {
          const at = c * words + y * rowWords + (x >> 5);
          bits[at] |= this.at(c, y, x, height, width) << (x & 31);
        }
      }
    }
    return bits;
  }
}

/** Number of ones in a word. */
function onesIn(word) {
  word -= word >>> 1 & 0x55555555;
  word = (word & 0x33333333) + (word >>> 2 & 0x33333333);
  return Math.imul(word + (word >>> 4) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Number of bits in which an automaton differs from the target. */
function countBitErrors(automaton, targetBits) {
  const {store, words, rowWords} = automaton;
  let errors = 0;
  for (let at = 0; at < targetBits.length; ++at) {
    const channel = Math.floor(at / words);
    const here = automaton.planeOf(channel, 1) + rowWords + at - channel * words;
    errors += onesIn(store[here] ^ targetBits[at]);
  }
  return errors;
}
