// Parses a netlist from its text format and compiles it to a straight-line program of word
// operations.

/** Decodes a name of the text format. */
function nameOf(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;  // not valid UTF-8
  }
}

/**
 * Parses the text format of a netlist (docs/circuits.md). Nets are numbered: inputs first, then
 * gates. There are no checks here, because the exporter verifies the page when it writes it.
 */
function readNetlist(text) {
  const netlist = {name: '', inputs: [], outputs: [], gates: [], outputNets: [], state: null};
  const nets = new Map();
  const driven = (word) => nets.set(word, nets.size);
  const readers = {
    netlist: (name) => { netlist.name = name === '%' ? '' : nameOf(name); },
    state: (channels, border) => {
      netlist.state = {channels: Number(channels), periodic: border === 'periodic'};
    },
    input: (...words) => {
      words.forEach(driven);
      netlist.inputs.push(...words.map(nameOf));
    },
    gate: (net, table, ...sources) => {
      netlist.gates.push({table, sources: sources.map((word) => nets.get(word))});
      driven(net);
    },
    output: (name, net) => {
      netlist.outputs.push(nameOf(name));
      netlist.outputNets.push(nets.get(net));
    },
    end: () => {},
  };
  for (const line of text.split('\n')) {
    const [kind, ...words] = line.split(' ');
    if (kind !== '') readers[kind](...words);
  }
  return netlist;
}

/** Gates along the longest path from an input to an output; constants have depth 0. */
function depthOf(netlist) {
  const levels = netlist.inputs.map(() => 0);
  for (const gate of netlist.gates) {
    levels.push(gate.sources.reduce((max, net) => Math.max(max, levels[net] + 1), 0));
  }
  return netlist.outputNets.reduce((max, net) => Math.max(max, levels[net]), 0);
}

// Two-input tables double as opcodes: bit i is the output for a = bit 0 of i and b = bit 1 of i.
const AND = 0b1000;
const AND_NOT = 0b0010;
const OR = 0b1110;
const OR_NOT = 0b1011;
const XOR = 0b0110;
const NOT = 0b0101;
const ZERO = 0b0000;
const ONE = 0b1111;

/** Collects operations. Values are numbered, inputs first. */
class OperationList {
  constructor(inputs) {
    this.inputs = inputs;
    this.operations = [];
  }

  emit(truth, a, b) {
    this.operations.push({truth, a, b});
    return this.inputs + this.operations.length - 1;
  }

  /** The value of a two-input table, which may depend on one input or none. */
  ofTwo(truth, a, b) {
    if (truth === ZERO || truth === ONE) return this.emit(truth, 0, 0);
    if (truth === 0b1010) return a;
    if (truth === 0b1100) return b;
    if (truth === 0b0101) return this.emit(NOT, a, a);
    if (truth === 0b0011) return this.emit(NOT, b, b);
    return this.emit(truth, a, b);
  }

  /**
   * The value of a table, given as a string of digits, by Shannon expansion on the last input. No
   * multiplexer is needed if the two halves are equal, complementary or constant.
   */
  ofTable(table, inputs) {
    if (!table.includes('1')) return this.emit(ZERO, 0, 0);
    if (!table.includes('0')) return this.emit(ONE, 0, 0);
    if (table.length === 2) return this.ofTwo(table === '01' ? 0b1010 : 0b0101, inputs[0]);
    if (table.length === 4) {
      const truth = parseInt([...table].reverse().join(''), 2);
      return this.ofTwo(truth, inputs[0], inputs[1]);
    }
    const half = table.length / 2;
    const low = table.slice(0, half);
    const high = table.slice(half);
    const by = inputs.at(-1);
    const of = (part) => this.ofTable(part, inputs.slice(0, -1));
    const none = (part) => !part.includes('1');
    const all = (part) => !part.includes('0');
    if (low === high) return of(low);
    if (none(low)) return all(high) ? by : this.emit(AND, of(high), by);
    if (none(high)) return all(low) ? this.emit(NOT, by, by) : this.emit(AND_NOT, of(low), by);
    if (all(high)) return this.emit(OR, of(low), by);
    if (all(low)) return this.emit(OR_NOT, of(high), by);
    const opposite = [...low].every((digit, i) => digit !== high[i]);
    if (opposite) return this.emit(XOR, of(low), by);
    const zero = of(low);
    return this.emit(XOR, zero, this.emit(AND, this.emit(XOR, zero, of(high)), by));
  }
}

/** The last operation that reads each value, or -1. Outputs are read after the last operation. */
function lastUses(list, outputs) {
  const {inputs, operations} = list;
  const last = new Int32Array(inputs + operations.length).fill(-1);
  for (const value of outputs) last[value] = operations.length;
  for (let i = operations.length - 1; i >= 0; --i) {
    if (last[inputs + i] < 0) continue;  // dead
    const {truth, a, b} = operations[i];
    if (truth === ZERO || truth === ONE) continue;
    last[a] = Math.max(last[a], i);
    last[b] = Math.max(last[b], i);
  }
  return last;
}

/**
 * Compiles a netlist to a program. `code` has four numbers per operation: table, destination, a, b.
 * Slots below `inputs` are inputs. The other `slots` hold values until their last use.
 */
function compile(netlist) {
  const inputs = netlist.inputs.length;
  const list = new OperationList(inputs);
  const values = netlist.inputs.map((_, i) => i);
  for (const gate of netlist.gates) {
    values.push(list.ofTable(gate.table, gate.sources.map((net) => values[net])));
  }
  const outputs = netlist.outputNets.map((net) => values[net]);
  const last = lastUses(list, outputs);
  const slotOf = Array.from({length: inputs}, (_, i) => i);
  const free = [];
  const code = [];
  let slots = 0;
  list.operations.forEach(({truth, a, b}, i) => {
    const value = inputs + i;
    if (last[value] < 0) return;
    slotOf[value] = free.length > 0 ? free.pop() : inputs + slots++;
    code.push(truth, slotOf[value], slotOf[a], slotOf[b]);
    if (truth === ZERO || truth === ONE) return;
    for (const read of new Set([a, b])) {
      if (read >= inputs && last[read] === i) free.push(slotOf[read]);
    }
  });
  return {
    inputs,
    slots,
    code: Int32Array.from(code),
    outputs: outputs.map((value) => slotOf[value]),
    reads: Array.from({length: inputs}, (_, i) => last[i] >= 0),
  };
}

// One loop per operation, so that the engine specialises each. Reads `n` words of s at `a` and `b`,
// and writes them at `to`.
const wordLoops = [];
wordLoops[0b0000] = (s, to, a, b, n) => {
  s.fill(0, to, to + n);
};
wordLoops[0b0001] = (s, to, a, b, n) => {
  for (let i = 0; i < n; ++i) s[to + i] = ~(s[a + i] | s[b + i]);
};
wordLoops[0b0010] = (s, to, a, b, n) => {
  for (let i = 0; i < n; ++i) s[to + i] = s[a + i] & ~s[b + i];
};
wordLoops[0b0100] = (s, to, a, b, n) => {
  for (let i = 0; i < n; ++i) s[to + i] = ~s[a + i] & s[b + i];
};
wordLoops[0b0101] = (s, to, a, b, n) => {
  for (let i = 0; i < n; ++i) s[to + i] = ~s[a + i];
};
wordLoops[0b0110] = (s, to, a, b, n) => {
  for (let i = 0; i < n; ++i) s[to + i] = s[a + i] ^ s[b + i];
};
wordLoops[0b0111] = (s, to, a, b, n) => {
  for (let i = 0; i < n; ++i) s[to + i] = ~(s[a + i] & s[b + i]);
};
wordLoops[0b1000] = (s, to, a, b, n) => {
  for (let i = 0; i < n; ++i) s[to + i] = s[a + i] & s[b + i];
};
wordLoops[0b1001] = (s, to, a, b, n) => {
  for (let i = 0; i < n; ++i) s[to + i] = ~(s[a + i] ^ s[b + i]);
};
wordLoops[0b1011] = (s, to, a, b, n) => {
  for (let i = 0; i < n; ++i) s[to + i] = s[a + i] | ~s[b + i];
};
wordLoops[0b1101] = (s, to, a, b, n) => {
  for (let i = 0; i < n; ++i) s[to + i] = ~s[a + i] | s[b + i];
};
wordLoops[0b1110] = (s, to, a, b, n) => {
  for (let i = 0; i < n; ++i) s[to + i] = s[a + i] | s[b + i];
};
wordLoops[0b1111] = (s, to, a, b, n) => {
  s.fill(-1, to, to + n);
};

/** Runs a program on `words` words per slot; slot p begins at store[offsets[p]]. */
function execute(program, store, offsets, words) {
  const {code} = program;
  for (let at = 0; at < code.length; at += 4) {
    wordLoops[code[at]](store, offsets[code[at + 1]], offsets[code[at + 2]], offsets[code[at + 3]],
                        words);
  }
}

/** The outputs of a netlist for some cases, each an array of 0 and 1; 32 cases per word. */
function evaluateCases(netlist, program, cases) {
  const words = Math.ceil(cases.length / 32);
  const store = new Int32Array((program.inputs + program.slots) * words);
  const offsets = Int32Array.from({length: program.inputs + program.slots}, (_, p) => p * words);
  cases.forEach((bits, i) => {
    bits.forEach((bit, input) => { store[input * words + (i >> 5)] |= bit << (i & 31); });
  });
  execute(program, store, offsets, words);
  return cases.map((_, i) => program.outputs.map(
      (slot) => store[offsets[slot] + (i >> 5)] >>> (i & 31) & 1));
}

// Names of two-input gates, with the inputs in either order.
const gateNames = {
  '0000': 'FALSE', '1111': 'TRUE', '0001': 'AND', '0111': 'OR', '0110': 'XOR', '1001': 'XNOR',
  '1000': 'NOR', '1110': 'NAND', '0100': 'AND NOT', '0010': 'AND NOT', '1101': 'OR NOT',
  '1011': 'OR NOT', '0101': 'WIRE', '0011': 'WIRE', '1010': 'NOT', '1100': 'NOT',
};

function kindOf({table}) {
  if (table.length === 1) return 'CONSTANT';
  if (table.length === 2) return gateNames[table + table];
  return gateNames[table] ?? `${Math.log2(table.length)}-input table`;
}

/** Pairs [kind, number of gates], most frequent first. */
function gatesByKind(netlist) {
  const counts = new Map();
  for (const gate of netlist.gates) {
    const kind = kindOf(gate);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}
