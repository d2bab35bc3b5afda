// The viewer of an automaton: a canvas of cells and its controls.

const speeds = [1, 2, 5, 10, 20, 30, 60, 120, 240, Infinity];  // steps per second
const defaultMaxSide = 1024;
const inColours = 'colours';  // view of the first three channels as RGB

/** The cell colours from the style sheet. */
function cellColours() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  return {
    off: pixelOfColour(colour('--cell-off')),
    on: pixelOfColour(colour('--cell-on')),
    line: colour('--cell-line'),
    colourLine: colour('--colour-line'),
    mark: colour('--accent'),
  };
}

/** Converts #rrggbb to an opaque pixel. */
function pixelOfColour(text) {
  const value = parseInt(text.slice(1), 16);
  return pixel(value >> 16 & 255, value >> 8 & 255, value & 255);
}

function pixel(red, green, blue) {
  return new Uint32Array(Uint8Array.of(red, green, blue, 255).buffer)[0];
}

const eightColours = Array.from({length: 8}, (_, i) => pixel(
    i & 1 ? 255 : 0, i & 2 ? 255 : 0, i & 4 ? 255 : 0));

/**
 * Paints cells on a canvas, one pixel per cell. `shown` is a channel, or `colours` for the first
 * three channels as red, green and blue. `bitAt(channel, y, x)` returns the bits.
 */
function paint(canvas, height, width, shown, bitAt, colours) {
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const context = canvas.getContext('2d');
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  let i = 0;
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x, ++i) {
      if (shown === inColours) {
        pixels[i] = eightColours[bitAt(0, y, x) + 2 * bitAt(1, y, x) + 4 * bitAt(2, y, x)];
      } else {
        pixels[i] = bitAt(shown, y, x) ? colours.on : colours.off;
      }
    }
  }
  context.putImageData(image, 0, 0);
}

/** The cells on a line, including both ends. */
function cellsBetween(from, to) {
  const count = Math.max(Math.abs(to.y - from.y), Math.abs(to.x - from.x), 1);
  return Array.from({length: count + 1}, (_, i) => ({
    y: Math.round(from.y + (to.y - from.y) * i / count),
    x: Math.round(from.x + (to.x - from.x) * i / count),
  }));
}

/** A square of cells centred at a cell. */
function squareAround({y, x}, side) {
  return {top: y - (side >> 1), left: x - (side >> 1), height: side, width: side};
}

class AutomatonView {
  constructor(netlist, model) {
    this.options = model.automaton;
    this.minSide = netlist.state.periodic ? 3 : 1;
    this.maxSide = Math.max(defaultMaxSide, this.options.height, this.options.width);
    this.target = this.options.target ? new Target(this.options.target) : null;
    this.automaton = new Automaton(netlist, this.options.height, this.options.width);
    this.cells = document.createElement('canvas');  // one pixel per cell
    this.colours = cellColours();
    this.steps = 0;
    this.randomHoles = 0;
    this.playing = false;
    this.due = 0;  // steps that are due
    this.hovered = null;
    const gates = showGates(netlist, model.gatesBefore);
    this.describe(netlist, gates);
    this.makeChannelButtons();
    this.setFields(this.options);
    this.listen();
    document.querySelector('.side').append(byId('gates-card'));
    byId('automaton').hidden = false;
    this.start(this.options);
    new ResizeObserver(() => this.fit()).observe(byId('screen'));
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.colours = cellColours();
      this.show();
    });
  }

  describe(netlist, gates) {
    const {channels, periodic} = netlist.state;
    const {fireRate, steps} = this.options;
    byId('facts').textContent = [
      `Cellular automaton with ${counted(channels, 'channel')} and ` +
          `${counted(gates, 'gate')} per cell`,
      periodic ? 'periodic border' : 'zero border',
      ...(fireRate < 1 ? [`fire rate ${fireRate}`] : []),
      ...(steps > 0 ? [`trained for ${counted(steps, 'step')}`] : []),
    ].join(', ');
    for (const id of ['height', 'width']) {
      byId(id).min = this.minSide;
      byId(id).max = this.maxSide;
    }
    byId('target-card').hidden = this.target === null;
  }

  // -------------------------------------------------------------------------------------------
  // Fields

  setFields({height, width, start, seed, fireRate}) {
    byId('height').value = height;
    byId('width').value = width;
    byId('start').value = start;
    byId('seed').value = seed;
    byId('fire').value = fireRate;
    this.fireRate = fireRate;
    byId('hole').value = Math.max(1, Math.min(10, Math.min(height, width) >> 1));
    byId('speed').max = speeds.length - 1;
    byId('speed').value = speeds.indexOf(10);
    this.labelFields();
  }

  labelFields() {
    byId('brush-text').textContent = counted(Number(byId('brush').value), 'cell');
    byId('hole-text').textContent = `${byId('hole').value}×${byId('hole').value}`;
    byId('speed-text').textContent = this.speed === Infinity ? 'unlimited' : `${this.speed} / s`;
    byId('fire-text').textContent = this.fireRate === 1 ? 'all cells' : `${this.fireRate}`;
  }

  get speed() { return speeds[Number(byId('speed').value)]; }
  get tool() { return document.querySelector('input[name=tool]:checked').value; }
  get seed() { return Number(byId('seed').value); }

  choose(tool) { document.querySelector(`input[name=tool][value=${tool}]`).checked = true; }

  changeSpeed(by) {
    byId('speed').value = Number(byId('speed').value) + by;
    this.labelFields();
  }

  listen() {
    const onClick = (id, action) => byId(id).addEventListener('click', action);
    onClick('play', () => this.play(!this.playing));
    onClick('step', () => this.stepOnce());
    onClick('restart', () => this.restart());
    onClick('random-hole', () => this.addRandomHole());
    onClick('clear', () => this.change(() => this.automaton.clear()));
    onClick('next-seed', () => {
      byId('seed').value = this.seed + 1;
      this.startFromFields();
    });
    byId('grid').addEventListener('submit', (event) => {
      event.preventDefault();
      this.startFromFields();
    });
    byId('start').addEventListener('change', () => this.startFromFields());
    for (const id of ['brush', 'hole', 'speed', 'fire']) {
      byId(id).addEventListener('input', () => {
        if (id === 'fire') this.fireRate = Number(byId('fire').value);
        this.labelFields();
      });
    }
    this.listenToPointer(byId('cells'));
    listenToKeys([
      [[' '], 'play or pause', () => this.play(!this.playing)],
      [['ArrowRight', 'N'], 'one step', () => this.stepOnce()],
      [['R'], 'restart', () => this.restart()],
      [['H'], 'random hole', () => this.addRandomHole()],
      [['D'], 'draw tool', () => this.choose('draw')],
      [['E'], 'erase tool', () => this.choose('erase')],
      [['X'], 'hole tool', () => this.choose('hole')],
      [['+', '-'], 'faster or slower', (key) => this.changeSpeed(key === '+' ? 1 : -1)],
      [['[', ']'], 'previous or next channel', (key) => this.showNextView(key === ']' ? 1 : -1)],
    ]);
  }

  // -------------------------------------------------------------------------------------------
  // Time

  start({height, width, start, seed}) {
    const {automaton} = this;
    automaton.resize(height, width);
    if (start === 'random') this.startRandom(seed);
    if (start === 'seed') automaton.startSeed();
    this.startOptions = {height, width, start, seed};
    this.steps = 0;
    this.randomHoles = 0;
    this.fit();
  }

  startRandom(seed) {
    const {states, streams} = this.options;
    if (states > 2) this.automaton.startRandomStates(states, seed, streams.start);
    else this.automaton.startRandom(seed, streams.start);
  }

  restart() { this.start(this.startOptions); }

  /** Starts with the values of the grid fields. */
  startFromFields() {
    if (!byId('grid').reportValidity()) return;
    const number = (id) => Number(byId(id).value);
    this.start({height: number('height'), width: number('width'), start: byId('start').value,
                seed: number('seed')});
  }

  step() {
    this.automaton.step({rate: this.fireRate, seed: this.startOptions.seed,
                         stream: this.options.streams.fire, step: this.steps});
    ++this.steps;
  }

  stepOnce() {
    this.play(false);
    this.change(() => this.step());
  }

  play(playing) {
    const wasPlaying = this.playing;
    this.playing = playing;
    byId('play').classList.toggle('playing', playing);
    byId('play').querySelector('span').textContent = playing ? 'Pause' : 'Play';
    byId('pace').textContent = '';
    if (!playing || wasPlaying) return;
    this.due = 1;
    this.before = performance.now();
    this.measured = {at: this.before, steps: this.steps};
    requestAnimationFrame((now) => this.frame(now));
  }

  frame(now) {
    if (!this.playing) return;
    const budget = 12;  // milliseconds of computation per frame of 16 ms
    const end = performance.now() + budget;
    this.due += this.speed * Math.max(0, now - this.before) / 1000;
    this.before = now;
    const before = this.steps;
    while (this.due >= 1 && performance.now() < end) {
      this.step();
      --this.due;
    }
    this.due = Math.min(this.due, 1);  // do not try to catch up if the browser is too slow
    if (this.steps !== before) this.show();
    this.measurePace(now);
    requestAnimationFrame((later) => this.frame(later));
  }

  measurePace(now) {
    const every = 1000;
    const {at, steps} = this.measured;
    if (now - at < every) return;
    const pace = Math.max(0, (this.steps - steps) / (now - at) * 1000);
    byId('pace').textContent = `${pace.toFixed(pace < 10 ? 1 : 0)} / s`;
    this.measured = {at: now, steps: this.steps};
  }

  // -------------------------------------------------------------------------------------------
  // Cells

  change(action) {
    action();
    this.show();
  }

  addRandomHole() {
    const {automaton} = this;
    const side = Math.min(Number(byId('hole').value), automaton.height, automaton.width);
    const position = (length, index) => randomBelow(
        {seed: this.startOptions.seed, stream: this.options.streams.damage,
         step: this.randomHoles, index},
        length - side + 1);
    const top = position(automaton.height, 0);
    const left = position(automaton.width, 1);
    ++this.randomHoles;
    this.change(() => automaton.clearRectangle({top, left, height: side, width: side}));
  }

  /** Applies a tool at a cell. */
  touch(cell, tool) {
    const {automaton} = this;
    if (tool === 'hole') {
      automaton.clearRectangle(squareAround(cell, Number(byId('hole').value)));
      return;
    }
    const square = squareAround(cell, Number(byId('brush').value));
    if (tool === 'erase') {
      automaton.clearRectangle(square);
      return;
    }
    const channels = this.shown === inColours ? [0, 1, 2] : [this.shown];
    for (let y = Math.max(0, square.top); y < square.top + square.height; ++y) {
      for (let x = Math.max(0, square.left); x < square.left + square.width; ++x) {
        if (y >= automaton.height || x >= automaton.width) continue;
        for (const channel of channels) automaton.set(channel, y, x, 1);
      }
    }
  }

  listenToPointer(canvas) {
    let from = null;
    const cellAt = (event) => {
      const box = canvas.getBoundingClientRect();
      return {y: Math.floor((event.clientY - box.top) / box.height * this.automaton.height),
              x: Math.floor((event.clientX - box.left) / box.width * this.automaton.width)};
    };
    // The right button always erases.
    const toolOf = (event) => (event.buttons & 2 ? 'erase' : this.tool);
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener('pointerdown', (event) => {
      if (canvas.setPointerCapture && event.isTrusted) canvas.setPointerCapture(event.pointerId);
      from = cellAt(event);
      this.change(() => this.touch(from, toolOf(event)));
    });
    canvas.addEventListener('pointermove', (event) => {
      this.hovered = cellAt(event);
      if (from !== null) {
        for (const cell of cellsBetween(from, this.hovered)) this.touch(cell, toolOf(event));
        from = this.hovered;
      }
      this.show();
    });
    for (const end of ['pointerup', 'pointercancel']) {
      canvas.addEventListener(end, () => { from = null; });
    }
    canvas.addEventListener('pointerleave', () => {
      this.hovered = null;
      this.show();
    });
  }

  // -------------------------------------------------------------------------------------------
  // Display

  makeChannelButtons() {
    const {channels} = this.automaton;
    this.views = [...(this.options.colours ? [inColours] : []),
                  ...Array.from({length: channels}, (_, c) => c)];
    this.shown = this.views[0];
    byId('channels-card').hidden = this.views.length === 1;
    this.thumbnails = this.views.map((view) => {
      const name = view === inColours ? 'Colours' : `Channel ${view}`;
      const canvas = element('canvas', {'aria-hidden': 'true'});
      const label = view === inColours ? 'RGB' : `${view}`;
      const button = element('button', {'type': 'button', 'aria-label': name}, canvas, label);
      button.addEventListener('click', () => this.showView(view));
      return {view, canvas, button};
    });
    byId('channels').replaceChildren(...this.thumbnails.map(({button}) => button));
  }

  showView(view) {
    this.shown = view;
    this.show();
  }

  showNextView(by) {
    const index = this.views.indexOf(this.shown) + by + this.views.length;
    this.showView(this.views[index % this.views.length]);
  }

  /** Makes cells as large as fits, in whole screen pixels. */
  fit() {
    const {height, width} = this.automaton;
    const ratio = window.devicePixelRatio || 1;
    const roomAcross = byId('screen').clientWidth;
    const roomDown = Math.max(240, window.innerHeight * 0.78);
    const largest = Math.min(roomAcross / width, roomDown / height) * ratio;
    this.cellPixels = largest >= 1 ? Math.floor(largest) : largest;
    const canvas = byId('cells');
    canvas.width = Math.max(1, Math.round(width * this.cellPixels));
    canvas.height = Math.max(1, Math.round(height * this.cellPixels));
    canvas.style.width = `${canvas.width / ratio}px`;
    canvas.style.height = `${canvas.height / ratio}px`;
    this.showTarget();
    this.thumbnailsAt = -Infinity;
    this.show();
  }

  show() {
    const {automaton, cells, cellPixels} = this;
    const {height, width} = automaton;
    const bitAt = (c, y, x) => automaton.get(c, y, x);
    paint(cells, height, width, this.shown, bitAt, this.colours);
    const canvas = byId('cells');
    const context = canvas.getContext('2d');
    context.imageSmoothingEnabled = cellPixels < 1;
    context.drawImage(cells, 0, 0, canvas.width, canvas.height);
    if (cellPixels >= 8) this.drawLines(context);
    this.drawMark(context);
    canvas.setAttribute('aria-label', `${height} by ${width} cells after ${this.steps} steps`);
    byId('steps').textContent = this.steps.toLocaleString('en');
    this.showErrors();
    this.showThumbnails(bitAt);
  }

  drawLines(context) {
    const {cellPixels} = this;
    const {height, width} = this.automaton;
    const {line, colourLine} = this.colours;
    context.fillStyle = this.shown === inColours ? colourLine : line;
    for (let y = 1; y < height; ++y) context.fillRect(0, y * cellPixels, width * cellPixels, 1);
    for (let x = 1; x < width; ++x) context.fillRect(x * cellPixels, 0, 1, height * cellPixels);
  }

  /** Outlines the cells that the pointer would change. */
  drawMark(context) {
    if (this.hovered === null) return;
    const side = Number(byId(this.tool === 'hole' ? 'hole' : 'brush').value);
    const {top, left} = squareAround(this.hovered, side);
    context.strokeStyle = this.colours.mark;
    context.lineWidth = Math.max(1, window.devicePixelRatio || 1);
    context.strokeRect(left * this.cellPixels, top * this.cellPixels, side * this.cellPixels,
                       side * this.cellPixels);
  }

  showTarget() {
    if (this.target === null) return;
    const {height, width} = this.automaton;
    const fits = this.target.fits(height, width);
    byId('target').hidden = !fits;
    if (!fits) return;
    this.targetBits = this.target.targetBits(this.automaton);
    paint(byId('target'), height, width, this.target.channels === 3 ? inColours : 0,
          (c, y, x) => this.target.at(c, y, x, height, width), this.colours);
  }

  showErrors() {
    if (this.target === null) return;
    const {height, width} = this.automaton;
    if (!this.target.fits(height, width)) {
      byId('errors').textContent = `The target needs ${this.target.height} by ` +
          `${this.target.width} cells.`;
      return;
    }
    const errors = countBitErrors(this.automaton, this.targetBits);
    const bits = this.target.channels * height * width;
    byId('errors').textContent = errors === 0
        ? 'All bits match.'
        : `${errors.toLocaleString('en')} of ${counted(bits, 'bit')} differ`;
  }

  /** Rate-limited while playing, and subsampled, so that thumbnails do not slow down the cells. */
  showThumbnails(bitAt) {
    for (const {view, button} of this.thumbnails) {
      button.setAttribute('aria-pressed', view === this.shown);
    }
    const now = performance.now();
    if (byId('channels-card').hidden) return;
    if (this.playing && now - this.thumbnailsAt < 200) return;
    this.thumbnailsAt = now;
    const {height, width} = this.automaton;
    const every = Math.ceil(Math.max(height, width) / 64);
    const sampled = (c, y, x) => bitAt(c, y * every, x * every);
    for (const {view, canvas} of this.thumbnails) {
      paint(canvas, Math.ceil(height / every), Math.ceil(width / every), view, sampled,
            this.colours);
    }
  }

  // -------------------------------------------------------------------------------------------
  // The address

  /** Applies the options of the address, which docs/circuits.md lists. */
  applyAddress(options) {
    this.play(false);
    const requested = {...this.options};
    for (const [key, value] of options) this.read(key, value, requested);
    const damage = options.getAll('damage').map((text) => damageOf(text, requested));
    const steps = wholeNumber(options.get('steps') ?? '0', 'steps', 0, 1e6);
    this.setFields(requested);
    if (options.has('view')) this.shown = this.viewOf(options.get('view'));
    this.start(requested);
    const applyDamage = () => damage.filter(({step}) => step === this.steps).forEach(
        ({rectangle}) => this.automaton.clearRectangle(rectangle));
    applyDamage();
    while (this.steps < steps) {
      this.step();
      applyDamage();
    }
    this.show();
    if (options.has('dump')) dump(this.automaton.toText());
    if (options.has('play')) this.play(true);
  }

  /** Parses one option of the address. */
  read(key, value, requested) {
    if (key === 'size') {
      const sides = /^([0-9]{1,4})x([0-9]{1,4})$/.exec(value);
      if (sides === null) throw new Error(`expected size=ROWSxCOLUMNS, received '${value}'`);
      requested.height = wholeNumber(sides[1], 'rows', this.minSide, this.maxSide);
      requested.width = wholeNumber(sides[2], 'columns', this.minSide, this.maxSide);
    } else if (key === 'start') {
      if (!['random', 'seed', 'empty'].includes(value)) {
        throw new Error(`expected start=random, seed or empty, received '${value}'`);
      }
      requested.start = value;
    } else if (key === 'seed') {
      requested.seed = wholeNumber(value, 'seed', 0, Number.MAX_SAFE_INTEGER);
    } else if (key === 'async') {
      const rate = Number(value);
      if (value === '' || !(rate >= 0 && rate <= 1)) {
        throw new Error(`expected async from 0 to 1, received '${value}'`);
      }
      requested.fireRate = rate;
    } else if (!['steps', 'damage', 'view', 'play', 'dump'].includes(key)) {
      throw new Error(`expected size, start, seed, async, steps, damage, view, play or dump, ` +
                      `received '${key}'`);
    }
  }

  viewOf(text) {
    const found = this.views.find((view) => `${view}` === text);
    if (found === undefined) {
      throw new Error(`expected view=${this.views[0]} to ${this.views.at(-1)}, received '${text}'`);
    }
    return found;
  }
}

/** `10x10@step20` in the centre, or `4x8+0+3@step5` at a row and a column. */
function damageOf(text, grid) {
  // In an address, a plus may stand for a space.
  const found = /^(\d{1,4})x(\d{1,4})(?:[+ ](\d{1,4})[+ ](\d{1,4}))?@step(\d{1,7})$/.exec(text);
  if (found === null) {
    throw new Error(`expected damage=ROWSxCOLUMNS[+ROW+COLUMN]@stepN, received '${text}'`);
  }
  const [height, width] = [Number(found[1]), Number(found[2])];
  const middle = found[3] === undefined;
  const top = middle ? Math.trunc((grid.height - height) / 2) : Number(found[3]);
  const left = middle ? Math.trunc((grid.width - width) / 2) : Number(found[4]);
  return {rectangle: {top, left, height, width}, step: Number(found[5])};
}
