// Shared by the viewers of automata and circuits.

const byId = (id) => document.getElementById(id);

/** Creates an element with attributes and children. Text is never parsed as HTML. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const counted = (count, thing) => `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`;

function showError(message) {
  byId('error').textContent = message;
  byId('error').hidden = message === '';
}

/** Shows text at the end of the page, for scripts and tests. */
function dump(text) {
  byId('dump').textContent = text;
  byId('dump').hidden = false;
}

function showGates(netlist, gatesBefore) {
  const gates = netlist.gates.filter((gate) => gate.sources.length > 0).length;
  const before = gatesBefore > gates
      ? ` (${gatesBefore.toLocaleString('en')} before simplification)` : '';
  byId('counts').textContent = `${counted(gates, 'gate')}${before}, ` +
      `depth ${depthOf(netlist).toLocaleString('en')}`;
  const kinds = gatesByKind(netlist);
  const largest = Math.max(1, ...kinds.map(([, count]) => count));
  byId('gates').replaceChildren(...kinds.map(([kind, count]) => {
    const length = element('i');
    length.style.width = `${100 * count / largest}%`;
    return element('div', {class: 'bar', role: 'listitem'}, element('span', {}, kind),
                   element('span', {'aria-hidden': 'true'}, length),
                   element('output', {}, count.toLocaleString('en')));
  }));
  return gates;
}

/** Registers and lists shortcuts: [[keys, description, action]]. Text fields keep their keys. */
function listenToKeys(list) {
  byId('keys').querySelector('dl').replaceChildren(...list.flatMap(([keys, words]) => [
    element('dt', {}, ...keys.flatMap((key, i) => [
      ...(i > 0 ? [' '] : []), element('kbd', {}, {' ': 'Space', 'ArrowRight': '→'}[key] ?? key),
    ])),
    element('dd', {}, words),
  ]));
  const isFor = (event, elements) => event.target.matches?.(elements) ?? false;
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isFor(event, 'select, input:not([type=radio], [type=range])')) return;
    if (event.key.startsWith('Arrow') && isFor(event, 'input')) return;
    if (event.key === ' ' && isFor(event, 'button, summary')) return;
    const found = list.find(
        ([keys]) => keys.some((key) => key.toLowerCase() === event.key.toLowerCase()));
    if (found === undefined) return;
    event.preventDefault();
    found[2](event.key);
  });
}

/** The options after # in the address: `size=32x32&steps=50&dump`. */
function addressOptions() {
  return new URLSearchParams(location.hash.slice(1));
}

/** Parses an integer in a range. Throws an error that names the range. */
function wholeNumber(text, what, min, max) {
  const number = Number(text);
  if (!/^[0-9]+$/.test(text) || number < min || number > max) {
    throw new Error(`expected ${what} from ${min} to ${max}, received '${text}'`);
  }
  return number;
}
