// Grids of cells that all run one netlist, 32 cells of a row a word.

/**
 * The state is [channel][row][word], cell x of a row bit x % 32 of word x / 32, with a row above
 * and below for what lies beyond the border. Beside each channel lie two copies of it, moved by a
 * cell to the right and to the left: so every neighbour of every cell is a stretch of words that
 * begins somewhere, and a gate is one loop over all cells.
 */
class Automaton {
  constructor(netlist, height, width) {
    this.program = compile(netlist);
    this.channels = netlist.state.channels;
    this.periodic = netlist.state.periodic;
    this.resize(height, width);
  }

  /** All cells become 0. */
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

  /** Where a channel as seen to the left (0), at the cell (1) and to the right (2) begins. */
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

  /** Sets all channels of a rectangle to 0, as far as it lies on the grid. */
  clearRectangle({top, left, height, width}) {
    const bottom = Math.min(this.height, top + height);
    const right = Math.min(this.width, left + width);
    for (let c = 0; c < this.channels; ++c) {
      for (let y = Math.max(0, top); y < bottom; ++y) {
        for (let x = Math.max(0, left); x < right; ++x) this.set(c, y, x, 0);
      }
    }
  }

  /** Every channel of every cell 0 or 1 by chance, or the cell in the middle 1 in every channel. */
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

  startSeed() {
    this.clear();
    for (let c = 0; c < this.channels; ++c) this.set(c, this.height >> 1, this.width >> 1, 1);
  }

  /** One step of all cells, or, with a rate below 1, of those that chance chooses. */
  step(fire = null) {
    for (let c = 0; c < this.channels; ++c) this.lookAround(c);
    execute(this.program, this.store, this.offsets, this.words);
    if (fire !== null && fire.rate < 1) {
      this.drawFires(fire);
    } else {
      this.fires.fill(-1);
    }
    this.takeOver();
  }

  lookAround(channel) {
    const {store, rowWords, words, height, periodic, program} = this;
    const here = this.planeOf(channel, 1);
    const below = here + words + rowWords;
    if (periodic) {
      store.copyWithin(here, below - rowWords, below);
      store.copyWithin(below, here + rowWords, here + 2 * rowWords);
    }
    const reads = (side) => [0, 3, 6].some((row) => program.reads[9 * channel + row + side]);
    if (reads(0)) {
      for (let y = 0; y < height + 2; ++y) this.moveRight(channel, y * rowWords);
    }
    if (reads(2)) {
      for (let y = 0; y < height + 2; ++y) this.moveLeft(channel, y * rowWords);
    }
  }

  /** The row at an offset as its cells see it to their left. */
  moveRight(channel, row) {
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

  /** And to their right. */
  moveLeft(channel, row) {
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

  drawFires({rate, seed, stream, step}) {
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

  takeOver() {
    const {store, fires, program, words, rowWords, lastMask} = this;
    for (let w = rowWords - 1; w < words; w += rowWords) fires[w] &= lastMask;
    // An output may be an input as it is, so no channel changes before all were read.
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

  /** A line of 0 and 1 a row, channel after channel with an empty line between. */
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

/** What cells are to become: a picture in the middle of the grid, or one that is repeated. */
class Target {
  constructor({rows, tiled}) {
    this.planes = rows;  // [channel][row], a string of 0 and 1 each
    this.tiled = tiled;
    this.height = rows[0].length;
    this.width = rows[0][0].length;
  }

  get channels() { return this.planes.length; }

  fits(height, width) { return this.tiled || (height >= this.height && width >= this.width); }

  /** The bit of a cell of a grid of some size. */
  at(channel, y, x, height, width) {
    if (this.tiled) return Number(this.planes[channel][y % this.height][x % this.width]);
    // The middle cell of one lies on the middle cell of the other, where seeds are.
    const row = this.planes[channel][y - (height >> 1) + (this.height >> 1)];
    return Number(row?.[x - (width >> 1) + (this.width >> 1)] ?? 0);
  }

  /** The grid of an automaton as it should be: [channel][row][word], as the automaton has them. */
  covering({height, width, rowWords, words}) {
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

/** Ones in a word. */
function onesIn(word) {
  word -= word >>> 1 & 0x55555555;
  word = (word & 0x33333333) + (word >>> 2 & 0x33333333);
  return Math.imul(word + (word >>> 4) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Bits in which an automaton differs from what covers it. */
function wrongBits(automaton, covering) {
  const {store, words, rowWords} = automaton;
  let wrong = 0;
  for (let at = 0; at < covering.length; ++at) {
    const channel = Math.floor(at / words);
    const here = automaton.planeOf(channel, 1) + rowWords + at - channel * words;
    wrong += onesIn(store[here] ^ covering[at]);
  }
  return wrong;
}
