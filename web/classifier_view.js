// The viewer of a classifier: fields for features, or a drawing pad, and the scores of classes.

class ClassifierView {
  constructor(netlist, model) {
    this.model = model.classifier;
    this.core = readNetlist(this.model.core);
    this.program = compile(this.core);
    this.values = new Float64Array(this.model.features);
    const gates = showGates(this.core, model.gatesBefore);
    const [, height, width] = this.model.image;
    byId('facts').textContent = `Classifier with ${counted(gates, 'gate')}, ` +
        `${counted(this.core.inputs.length, 'threshold')} and ` +
        `${counted(this.core.outputs.length, 'output')}`;
    if (height > 0) this.makePad(height, width);
    else this.makeFields();
    byId('classifier').append(byId('gates-card'));
    byId('classifier').hidden = false;
    this.show();
  }

  // -------------------------------------------------------------------------------------------
  // Prediction

  bits() {
    const {sources, thresholds} = this.model;
    return sources.map((feature, i) => this.values[feature] > thresholds[i] ? 1 : 0);
  }

  /** The sum of the weights of the outputs that are 1, per group. */
  sums() {
    const {weights, largest} = this.model;
    const outputs = evaluateCases(this.core, this.program, [this.bits()])[0];
    const size = outputs.length / largest.length;
    return largest.map((_, group) => {
      let sum = 0;
      for (let i = group * size; i < (group + 1) * size; ++i) sum += outputs[i] * weights[i];
      return sum;
    });
  }

  /** The class, the first of those with the largest sum; or the value of a regression. */
  prediction(sums) {
    const {kind, classes, low, high, largest} = this.model;
    if (kind === 'regression') return low + (high - low) * sums[0] / largest[0];
    if (kind === 'classes') return sums.indexOf(Math.max(...sums));
    const number = sums.reduce((bits, sum, group) =>
        bits + (2 * sum > largest[group] ? 2 ** group : 0), 0);
    return Math.min(number, classes - 1);
  }

  /** A class by its name, a value as a number. */
  text(prediction) {
    if (this.model.kind === 'regression') return String(Number(prediction.toPrecision(6)));
    return this.model.names[prediction] ?? String(prediction);
  }

  groupName(group) {
    if (this.model.kind === 'classes') return this.text(group);
    return this.model.kind === 'votes' ? `bit ${group}` : 'sum';
  }

  show() {
    const sums = this.sums();
    const prediction = this.prediction(sums);
    byId('prediction').textContent = this.text(prediction);
    byId('scores').replaceChildren(...sums.map((sum, group) => {
      const length = element('i');
      length.style.width = `${100 * sum / this.model.largest[group]}%`;
      const bar = element('div', {class: 'bar', role: 'listitem'},
                          element('span', {}, this.groupName(group)),
                          element('span', {'aria-hidden': 'true'}, length),
                          element('output', {}, `${sum} / ${this.model.largest[group]}`));
      bar.classList.toggle('best', this.model.kind === 'classes' && group === prediction);
      return bar;
    }));
    for (const update of this.updates) update();
  }

  set(feature, value) {
    this.values[feature] = this.model.bytes ? Math.max(0, Math.min(255, Math.round(value)))
                                            : Math.fround(value);
  }

  // -------------------------------------------------------------------------------------------
  // Fields

  /** Fields in the order of the features: [{name, first, categories, low, high}]. */
  fields() {
    const {columns, features, sources, thresholds} = this.model;
    const fields = [];
    let first = 0;
    for (const {name, categories} of columns) {
      fields.push({name, first, categories});
      first += Math.max(1, categories.length);
    }
    for (; first < features; ++first) fields.push({name: `x${first}`, first, categories: []});
    for (const field of fields) {
      const own = thresholds.filter((_, i) => sources[i] === field.first);
      field.isUsed = own.length > 0 || field.categories.length > 0;
      const low = Math.min(...own);
      const high = Math.max(...own);
      const margin = (high - low) / 4 || Math.abs(high) / 2 || 1;
      field.low = this.model.bytes ? 0 : low - margin;
      field.high = this.model.bytes ? 255 : high + margin;
    }
    return fields.filter(({isUsed}) => isUsed);
  }

  makeFields() {
    this.updates = [];
    this.list = this.fields();
    byId('features').replaceChildren(...this.list.map((field) => this.fieldPart(field)));
    for (const field of this.list) this.choose(field, 0.5);
    byId('random-features').addEventListener('click', () => this.randomise());
    listenToKeys([[['R'], 'random features', () => this.randomise()]]);
    byId('features-card').hidden = false;
  }

  /** Sets a field to a share of its range, from 0 to below 1. */
  choose({first, categories, low, high}, share) {
    if (categories.length === 0) {
      const value = low + share * (high - low);
      this.set(first, Number(value.toPrecision(4)));
      return;
    }
    const chosen = Math.floor(share * categories.length);
    categories.forEach((_, i) => this.set(first + i, i === chosen ? 1 : 0));
  }

  randomise() {
    for (const field of this.list) this.choose(field, Math.random());
    this.show();
  }

  fieldPart(field) {
    const {name, first, categories, low, high} = field;
    if (categories.length > 0) {
      const select = element('select', {'aria-label': name},
                             ...categories.map((text, i) => element('option', {value: i}, text)));
      select.addEventListener('change', () => {
        categories.forEach((_, i) => this.set(first + i, i === Number(select.value) ? 1 : 0));
        this.show();
      });
      this.updates.push(() => {
        select.value = categories.findIndex((_, i) => this.values[first + i] === 1);
      });
      return element('label', {class: 'feature'}, element('span', {}, name), select);
    }
    const step = this.model.bytes ? 1 : 'any';
    const slider = element('input', {type: 'range', min: low, max: high, step, 'aria-label': name});
    const number = element('input', {type: 'number', step: 'any', 'aria-label': `${name}, exact`});
    const read = (text) => {
      if (text !== '' && Number.isFinite(Number(text))) this.set(first, Number(text));
      this.show();
    };
    slider.addEventListener('input', () => read(Number(Number(slider.value).toPrecision(4))));
    number.addEventListener('change', () => read(number.value));
    this.updates.push(() => {
      slider.value = this.values[first];
      number.value = Number(this.values[first].toPrecision(7));
    });
    return element('div', {class: 'feature'}, element('span', {}, name), slider, number);
  }

  // -------------------------------------------------------------------------------------------
  // The drawing pad

  makePad(height, width) {
    this.height = height;
    this.width = width;
    this.ink = new Float64Array(height * width);
    const pad = byId('pad');
    pad.width = width;
    pad.height = height;
    this.updates = [() => this.paint()];
    const draw = (event) => {
      const box = pad.getBoundingClientRect();
      this.dab((event.clientX - box.left) / box.width * width,
               (event.clientY - box.top) / box.height * height);
    };
    pad.addEventListener('pointerdown', (event) => {
      pad.setPointerCapture(event.pointerId);
      draw(event);
    });
    pad.addEventListener('pointermove', (event) => { if (event.buttons !== 0) draw(event); });
    const showPen = () => { byId('pen-text').textContent = Number(byId('pen').value).toFixed(1); };
    byId('pen').addEventListener('input', showPen);
    showPen();
    byId('clear-pad').addEventListener('click', () => this.fill(() => 0));
    byId('invert-pad').addEventListener('click', () => this.fill((ink) => 255 - ink));
    listenToKeys([
      [['C'], 'clear the drawing', () => this.fill(() => 0)],
      [['I'], 'exchange light and dark', () => this.fill((ink) => 255 - ink)],
    ]);
    byId('pad-card').hidden = false;
  }

  fill(value) {
    this.ink = this.ink.map(value);
    this.readInk();
  }

  /** A soft round dab of light at a position in pixels. */
  dab(x, y) {
    const radius = Number(byId('pen').value);
    for (let row = 0; row < this.height; ++row) {
      for (let column = 0; column < this.width; ++column) {
        const distance = Math.hypot(column + 0.5 - x, row + 0.5 - y);
        const light = 255 * Math.max(0, Math.min(1, radius + 0.5 - distance));
        const at = row * this.width + column;
        this.ink[at] = Math.max(this.ink[at], light);
      }
    }
    this.readInk();
  }

  /** All channels have the light of the drawing. */
  readInk() {
    const scale = this.model.bytes ? 1 : 1 / 255;
    this.values.forEach((_, i) => this.set(i, this.ink[i % this.ink.length] * scale));
    this.show();
  }

  paint() {
    const context = byId('pad').getContext('2d');
    const image = context.createImageData(this.width, this.height);
    this.ink.forEach((ink, i) => { image.data.set([ink, ink, ink, 255], 4 * i); });
    context.putImageData(image, 0, 0);
  }

  // -------------------------------------------------------------------------------------------
  // The address

  /** Applies the options of the address, which docs/reference/circuit-formats.md lists. */
  applyAddress(options) {
    for (const key of options.keys()) {
      if (!['features', 'dump'].includes(key)) {
        throw new Error(`expected features or dump, received '${key}'`);
      }
    }
    if (options.has('features')) {
      const values = options.get('features').split(',').map(Number);
      if (values.length !== this.model.features || !values.every(Number.isFinite)) {
        throw new Error(`expected ${counted(this.model.features, 'number')} for features, ` +
                        `received ${values.length}`);
      }
      values.forEach((value, i) => this.set(i, value));
      if (this.ink !== undefined) {
        const scale = this.model.bytes ? 1 : 255;
        this.ink = this.ink.map((_, i) => this.values[i] * scale);
      }
      this.show();
    }
    if (options.has('dump')) {
      const sums = this.sums();
      dump(`${this.text(this.prediction(sums))}\n${sums.join(' ')}`);
    }
  }
}
