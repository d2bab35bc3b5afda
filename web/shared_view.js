// What the pages of automata and of circuits share.

const byId = (id) => document.getElementById(id);

/** An element with text, attributes and children. Text is never read as HTML. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const counted = (count, thing) => `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`;

function complain(message) {
  byId('complaint').textContent = message;
  byId('complaint').hidden = message === '';
}

/** Text that scripts and tests read, at the end of the page. */
function dump(text) {
  byId('dump').textContent = text;
  byId('dump').hidden = false;
}

function showGates(netlist, gatesBefore) {
  const gates = netlist.gates.filter((gate) => gate.sources.length > 0).length;
  const before = gatesBefore > gates ? ` of the ${gatesBefore.toLocaleString('en')} before ` +
      'simplification' : '';
  byId('counts').textContent = `${counted(gates, 'gate')}${before}, ` +
      `${counted(depthOf(netlist), 'level')} deep`;
  const kinds = gatesByKind(netlist);
  const most = Math.max(1, ...kinds.map(([, count]) => count));
  byId('gates').replaceChildren(...kinds.map(([kind, count]) => {
    const length = element('i');
    length.style.width = `${100 * count / most}%`;
    return element('div', {class: 'bar', role: 'listitem'}, element('span', {}, kind),
                   element('span', {'aria-hidden': 'true'}, length),
                   element('output', {}, count.toLocaleString('en')));
  }));
  return gates;
}

/** Keys and what they do: [[keys, words, action]]. Fields that are typed in keep theirs. */
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

/** What follows # in the address: `size=32x32&steps=50&dump`. */
function wishes() {
  return new URLSearchParams(location.hash.slice(1));
}

/** A wish as a whole number in a range, or an error that says what was expected. */
function wholeNumber(text, what, least, most) {
  const number = Number(text);
  if (!/^[0-9]+$/.test(text) || number < least || number > most) {
    throw new Error(`expected ${what} from ${least} to ${most}, received '${text}'`);
  }
  return number;
}
