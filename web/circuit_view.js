// The viewer of a circuit: input switches and the resulting outputs.

const maxNumberBits = 64;
const maxTableInputs = 10;
const maxDumpInputs = 16;

/** The number with the given bits, least significant first. */
function numberOf(bits) {
  return bits.reduceRight((sum, bit) => 2n * sum + BigInt(bit), 0n);
}

function bitsOf(number, count) {
  return Array.from({length: count}, (_, i) => Number(BigInt(number) >> BigInt(i) & 1n));
}

/** Bits as binary digits, most significant first. */
const binary = (bits) => [...bits].reverse().join('');

/** Groups of bits that form numbers: [{name, first, count}]. */
function numbersOf(groups) {
  let first = 0;
  return groups.map(({name, bits}) => {
    first += bits;
    return {name, first: first - bits, count: bits};
  });
}

class CircuitView {
  constructor(netlist, model) {
    this.netlist = netlist;
    this.program = compile(netlist);
    this.inputNumbers = numbersOf(model.circuit.inputs);
    this.outputNumbers = numbersOf(model.circuit.outputs);
    this.bits = netlist.inputs.map(() => 0);
    const gates = showGates(netlist, model.gatesBefore);
    byId('facts').textContent = `Circuit with ${counted(gates, 'gate')}, ` +
        `${counted(netlist.inputs.length, 'input')} and ` +
        `${counted(netlist.outputs.length, 'output')}`;
    this.inputParts = this.inputNumbers.map((number) => this.inputPart(number));
    this.outputParts = this.outputNumbers.map((number) => this.outputPart(number));
    byId('inputs').replaceChildren(...this.inputParts.map(({root}) => root));
    byId('outputs').replaceChildren(...this.outputParts.map(({root}) => root));
    this.rows = netlist.inputs.length <= maxTableInputs ? this.makeTable() : [];
    this.listen();
    byId('circuit').append(byId('gates-card'));
    byId('circuit').hidden = false;
    this.show();
  }

  evaluate(cases) { return evaluateCases(this.netlist, this.program, cases); }

  allCases() {
    const count = this.netlist.inputs.length;
    return Array.from({length: 2 ** count}, (_, i) => bitsOf(i, count));
  }

  // -------------------------------------------------------------------------------------------
  // Parts

  /** Most significant bit first if the bits form a number, else in their order. */
  displayOrder({first, count}) {
    const indices = Array.from({length: count}, (_, i) => first + i);
    return count <= maxNumberBits ? indices.reverse() : indices;
  }

  inputPart(number) {
    const isNumber = number.count <= maxNumberBits;
    const field = element('input', {type: 'text', inputmode: 'numeric', autocomplete: 'off',
                                    'aria-label': `${number.name} as a number`});
    const binaryText = element('span', {class: 'binary'});
    const switches = this.displayOrder(number).map((index) => {
      const digit = element('strong');
      const button = element('button', {'type': 'button', 'class': 'bit'}, digit,
                             element('small', {}, this.netlist.inputs[index]));
      button.addEventListener('click', () => {
        this.bits[index] ^= 1;
        this.show();
      });
      return {index, button, digit};
    });
    field.addEventListener('change', () => this.readNumber(number, field.value));
    const head = isNumber ? element('label', {}, element('b', {}, number.name), field, binaryText)
                          : element('div', {class: 'name'}, element('b', {}, number.name));
    const root = element('div', {class: 'number'}, head,
                         element('div', {class: 'bits'}, ...switches.map(({button}) => button)));
    return {number, root, field, binaryText, switches};
  }

  outputPart(number) {
    const value = element('output', {class: 'value'});
    const binaryText = element('span', {class: 'binary'});
    const lamps = this.displayOrder(number).map((index) => {
      const digit = element('strong');
      const lamp = element('span', {class: 'bit'}, digit,
                           element('small', {}, this.netlist.outputs[index]));
      return {index, lamp, digit};
    });
    const root = element('div', {class: 'number'},
                         element('div', {class: 'name'}, element('b', {}, number.name), value,
                                 binaryText),
                         element('div', {class: 'bits'}, ...lamps.map(({lamp}) => lamp)));
    return {number, root, value, binaryText, lamps};
  }

  makeTable() {
    const names = [...this.inputNumbers, ...this.outputNumbers].map(({name}) => name);
    const cases = this.allCases();
    const outputs = this.evaluate(cases);
    const body = element('tbody');
    const columns = (bits, numbers) => numbers.map(({first, count}) => {
      const part = bits.slice(first, first + count);
      return element('td', {}, count === 1 ? binary(part) : `${binary(part)}  ${numberOf(part)}`);
    });
    const rows = cases.map((bits, i) => {
      const row = element('tr', {}, ...columns(bits, this.inputNumbers),
                          ...columns(outputs[i], this.outputNumbers));
      row.addEventListener('click', () => this.set(bits));
      return row;
    });
    body.append(...rows);
    const head = element('tr', {}, ...names.map((name) => element('th', {scope: 'col'}, name)));
    byId('table').replaceChildren(element('thead', {}, head), body);
    byId('table-card').hidden = false;
    return rows;
  }

  // -------------------------------------------------------------------------------------------
  // Bits

  set(bits) {
    this.bits = [...bits];
    this.show();
  }

  /** Parses a number that was typed: decimal, or with prefix 0x or 0b. */
  readNumber({name, first, count}, text) {
    try {
      const value = BigInt(text.trim());
      if (text.trim() === '' || value < 0n || value >= 2n ** BigInt(count)) throw new RangeError();
      this.bits.splice(first, count, ...bitsOf(value, count));
      showError('');
    } catch {
      showError(`expected ${name} from 0 to ${2n ** BigInt(count) - 1n}, received '${text}'`);
    }
    this.show();
  }

  countUp() {
    const next = numberOf(this.bits) + 1n;
    this.set(bitsOf(next, this.bits.length));
  }

  randomise() { this.set(this.bits.map(() => Math.random() < 0.5 ? 0 : 1)); }

  listen() {
    const fill = (bit) => this.set(this.bits.map(() => bit));
    byId('count').addEventListener('click', () => this.countUp());
    byId('random').addEventListener('click', () => this.randomise());
    byId('zeros').addEventListener('click', () => fill(0));
    byId('ones').addEventListener('click', () => fill(1));
    listenToKeys([
      [['ArrowRight', 'N'], 'count up', () => this.countUp()],
      [['R'], 'random inputs', () => this.randomise()],
      [['0'], 'all inputs 0', () => fill(0)],
      [['1'], 'all inputs 1', () => fill(1)],
    ]);
  }

  show() {
    const outputs = this.evaluate([this.bits])[0];
    for (const {number, field, binaryText, switches} of this.inputParts) {
      const bits = this.bits.slice(number.first, number.first + number.count);
      field.value = numberOf(bits);
      binaryText.textContent = binary(bits);
      for (const {index, button, digit} of switches) {
        digit.textContent = this.bits[index];
        button.classList.toggle('on', this.bits[index] === 1);
        button.setAttribute('aria-pressed', this.bits[index] === 1);
      }
    }
    for (const {number, value, binaryText, lamps} of this.outputParts) {
      const bits = outputs.slice(number.first, number.first + number.count);
      const isNumber = number.count > 1 && number.count <= maxNumberBits;
      value.textContent = isNumber ? numberOf(bits) : '';
      binaryText.textContent = isNumber ? binary(bits) : '';
      for (const {index, lamp, digit} of lamps) {
        digit.textContent = outputs[index];
        lamp.classList.toggle('on', outputs[index] === 1);
      }
    }
    this.markRow();
  }

  markRow() {
    if (this.rows.length === 0) return;
    this.rows.find((row) => row.classList.contains('now'))?.classList.remove('now');
    const row = this.rows[Number(numberOf(this.bits))];
    row.classList.add('now');
    // Not scrollIntoView, which would also scroll the page.
    const box = byId('table').parentElement;
    const below = row.getBoundingClientRect().top - box.getBoundingClientRect().top;
    box.scrollTop += below - box.clientHeight / 2;
  }

  // -------------------------------------------------------------------------------------------
  // The address

  /** The input bits of an address, first input first. */
  bitsOfAddress(text) {
    const count = this.netlist.inputs.length;
    if (text.length !== count || !/^[01]*$/.test(text)) {
      throw new Error(`expected ${counted(count, 'digit')} 0 or 1, the first input first, ` +
                      `received '${text}'`);
    }
    return [...text].map(Number);
  }

  /** Applies the options of the address, which docs/circuits.md lists. */
  applyAddress(options) {
    for (const key of options.keys()) {
      if (!['inputs', 'cases', 'dump'].includes(key)) {
        throw new Error(`expected inputs, cases or dump, received '${key}'`);
      }
    }
    this.set(options.has('inputs') ? this.bitsOfAddress(options.get('inputs')) : this.bits);
    if (options.has('dump')) dump(this.tableText(this.casesOf(options)));
  }

  casesOf(options) {
    if (options.has('cases')) {
      return options.get('cases').split(',').map((text) => this.bitsOfAddress(text));
    }
    if (this.netlist.inputs.length > maxDumpInputs) {
      throw new Error(`expected cases= for a circuit of more than ${maxDumpInputs} inputs`);
    }
    return this.allCases();
  }

  /** One line per case: inputs, a space, outputs. */
  tableText(cases) {
    const outputs = this.evaluate(cases);
    return cases.map((bits, i) => `${bits.join('')} ${outputs[i].join('')}`).join('\n');
  }
}
