// The picture of a stack: the way of a sale from the buyers to the servers, with all that is known of it now.

import { html } from 'htm/preact';
import { useRef } from 'preact/hooks';
import type { NodeView, Part } from '../contract.ts';
import { texts } from '../texts/en.ts';
import { LeaseBar } from './lease-bar.ts';
import { useWidth } from './measured.ts';
import {
  type Box,
  type DrawnLine,
  LABEL_SIZE,
  LETTER,
  type LineLabel,
  LOCK_TOP,
  layoutPicture,
  type PartBox,
  type Point,
  type ServerBox,
  SIGN_WIDTH,
  stockTop,
} from './picture-layout.ts';
import type { SeenView } from './state.ts';
import { textMark } from './text-mark.ts';
import { fitted, narrowed, SIZES, SMALLEST, textWidth } from './text-width.ts';

const words = texts.picture;
const SIZE = 18;
const PAD = 12;
/** The room between the name of a part and its state, with the symbol in it. */
const STATE_GAP = 28;
const DOT = 11;
/** The least between the name of a part and its state, in pixels. */
const NAME_GAP = 4;

/** A stack as it is now. */
export function Picture({ view }: { view: SeenView }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  return html`<div class="picture" ref=${frame}>${width > 0 && drawing(view, width)}</div>`;
}

function drawing(view: SeenView, width: number) {
  const { height, buyers, nginx, nodes, servers, ways, lines, labels } = layoutPicture(view, width);
  const together = view.nodes.reduce((sum, { inside }) => sum + inside.length, 0);
  return html`<svg
    role="img"
    aria-label=${words.describe(view)}
    viewBox=${`0 0 ${width} ${height}`}
    width=${width}
    height=${height}
  >
    ${ways.map(({ from, to }) => way(from, to))}
    ${lines.map(lineMark)}
    ${buyersMark(buyers)}
    ${nginx && smallPart(nginx)}
    ${nodes.map((box) =>
      nodeMark(
        box,
        view.nodes.find(({ name }) => name === box.part.name),
        together > 1,
        view.hasNodeLocks,
      ),
    )}
    ${servers.map((server) => serverMark(server, view))}
    ${labels.map(labelMark)}
  </svg>`;
}

function buyersMark({ x, y, width, height }: Box) {
  const person = (left: number) => html`<path
    class="person"
    d=${`M${left} ${y + 22}a8 8 0 0 1 16 0zM${left + 3.5} ${y + 8}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z`}
  />`;
  const middle = x + width / 2;
  return html`<g>
    ${[-28, -8, 12].map((left) => person(middle + left))}
    ${textMark('', middle, y + height - 6, fitted(words.buyers, width), 'middle')}
  </g>`;
}

/** A way that requests go, with the head of an arrow at its end. */
function way(from: Point, to: Point) {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  const wing = (turn: number) => `${to.x - 9 * Math.cos(angle + turn)} ${to.y - 9 * Math.sin(angle + turn)}`;
  return html`<path class="way" d=${`M${from.x} ${from.y}L${to.x} ${to.y}M${wing(0.5)}L${to.x} ${to.y}L${wing(-0.5)}`} />`;
}

function lineMark({ line, from, to }: DrawnLine) {
  return html`<path
    class=${`line is-${line.is} ${line.held === undefined ? '' : 'is-held'}`}
    d=${`M${from.x} ${from.y}L${to.x} ${to.y}`}
  />`;
}

function labelMark({ held, is, x, y, width, height }: LineLabel) {
  const isHeld = held.length > 0;
  const top = y - height / 2;
  const word = isHeld ? words.onLine(is) : words.line[is];
  const left = x - (textWidth(word, LABEL_SIZE, true) + SIGN_WIDTH) / 2;
  const symbol = isHeld ? 'stopped' : is === 'open' ? 'up' : is;
  return html`<g class=${`label ${isHeld ? 'is-held' : `is-${is}`}`}>
    <rect x=${x - width / 2} y=${top} width=${width} height=${height} rx="4" />
    ${sign(symbol, left + 8, top + 15)}
    <text x=${left + SIGN_WIDTH} y=${top + 21} font-size=${LABEL_SIZE}>${word}</text>
    ${held.map(
      (row, i) =>
        html`<text class="command" x=${x} y=${top + 43 + 22 * i} text-anchor="middle" font-size=${LABEL_SIZE}>
          ${row.slice(0, Math.floor((width - 6) / LETTER))}
        </text>`,
    )}
  </g>`;
}

/** The symbol of a state, around its middle. */
function sign(is: Part['is'] | 'slow', x: number, y: number) {
  const paths = {
    up: '',
    stopped: `M${x - 4} ${y - 6}v12M${x + 4} ${y - 6}v12`,
    dead: `M${x - 6} ${y - 6}l12 12M${x + 6} ${y - 6}l-12 12`,
    cut: `M${x - 8} ${y}h4M${x + 4} ${y}h4M${x - 3} ${y + 7}l2 -14M${x + 1} ${y + 7}l2 -14`,
    slow: `M${x - 7} ${y + 6}h14l-14 -12h14z`,
  };
  return html`<path class="sign" d=${paths[is]} />`;
}

/**
 * The name of a part at the top of its box, and how it is where it is not well. Both are smaller where they need it. Where that does
 * not help the symbol is left out, and then both are narrower.
 */
function header(part: Part, { x, y, width }: Box) {
  const room = width - 2 * PAD;
  const state = part.is === 'up' ? '' : texts.parts[part.is];
  const stateWidth = (size: number) => (state === '' ? 0 : textWidth(state, size, true));
  const needed = (size: number) => textWidth(part.name, size, true) + stateWidth(size);
  const size = SIZES.find((pixels) => needed(pixels) + STATE_GAP <= room) ?? SMALLEST;
  const hasSign = state !== '' && needed(size) + STATE_GAP <= room;
  const share = Math.min(1, (room - NAME_GAP) / needed(size));
  const name = narrowed(part.name, state === '' ? room : share * textWidth(part.name, size, true), size, true);
  const said = narrowed(state, share * stateWidth(size), size, true);
  return html`${textMark('name', x + PAD, y + 24, name)}
    ${hasSign && sign(part.is, x + width - PAD - stateWidth(size) - 12, y + 18)}
    ${textMark('state', x + width - PAD, y + 24, said, 'end')}`;
}

function frameOf({ x, y, width, height }: Box) {
  return html`<rect class="ground" x=${x} y=${y} width=${width} height=${height} rx="6" />
    <rect class="pattern" x=${x} y=${y} width=${width} height=${height} rx="6" />`;
}

/** A part of which only its state is known. In a small box the state stands below the name. */
function smallPart(box: PartBox) {
  const { part, x, y, width, height } = box;
  const state = texts.parts[part.is];
  const isNarrow = width < 150;
  if (!isNarrow)
    return html`<g class=${`part is-${part.is}`}>${frameOf(box)}${header(part, { ...box, y: y + height / 2 - 18 })}</g>`;
  const middle = x + width / 2;
  const isUp = part.is === 'up';
  const stateWidth = textWidth(state, 15, true);
  const hasSign = stateWidth + 26 < width;
  return html`<g class=${`part is-${part.is}`}>
    ${frameOf(box)}
    ${textMark('name', middle, y + height / 2 + (isUp ? 6 : -4), fitted(part.name, width - 4, true), 'middle')}
    ${
      !isUp &&
      html`${hasSign && sign(part.is, middle - stateWidth / 2 - 5, y + height / 2 + 13)}
        <text class="state" x=${middle + (hasSign ? 9 : 0)} y=${y + height / 2 + 18} text-anchor="middle" font-size=${hasSign ? 15 : 14}>${state}</text>`
    }
  </g>`;
}

/** A node: who is inside, and how many wait. Where it has a lock of its own, who is inside has that. */
function nodeMark(box: PartBox, node: NodeView | undefined, isTogether: boolean, hasLock = false) {
  const { part, x, y, width, height } = box;
  const chipHeight = height > 100 ? 32 : 26;
  const sales = node?.inside ?? [];
  const waiting = node?.waiting ?? 0;
  const chipWidth = width - 2 * PAD;
  const named = fitted(words.inside(sales), chipWidth - 10, sales.length > 0);
  const inShort = fitted(words.insideInShort(sales), chipWidth - 10, true);
  // From the last row a few big letters say more than many small ones.
  const chip = named.size < 17 && sales.length > 0 ? inShort : named;
  const waits = words.waiting(waiting);
  const hasRoom = textWidth(part.name + words.nodeLock, SIZE, true) + 24 < chipWidth;
  const lockWords = hasRoom ? words.nodeLock : '';
  const dotsLeft = x + PAD + textWidth(waits, SIZE) + 8;
  const dots = Math.max(0, Math.min(waiting, Math.floor((x + width - PAD - dotsLeft) / (DOT + 3))));
  return html`<g class=${`part is-${part.is}`}>
    ${frameOf(box)}
    ${header(part, box)}
    ${hasLock && part.is === 'up' && lockName(lockWords, x + width - PAD - 18 - textWidth(lockWords, SIZE), y)}
    <rect
      class=${`chip ${sales.length > 0 ? 'is-inside' : ''} ${sales.length > 0 && isTogether ? 'is-together' : ''}`}
      x=${x + PAD}
      y=${y + 34}
      width=${chipWidth}
      height=${chipHeight}
      rx="4"
    />
    ${textMark(`in-chip ${sales.length > 0 ? 'is-inside' : ''}`, x + width / 2, y + 40 + chipHeight / 2, chip, 'middle')}
    <text class=${`waits ${waiting > 0 ? '' : 'is-none'}`} x=${x + PAD} y=${y + height - 11}>${waits}</text>
    ${Array.from({ length: dots }, (_, i) => html`<circle class="waiter" cx=${dotsLeft + i * (DOT + 3) + DOT / 2} cy=${y + height - 17} r=${DOT / 2} />`)}
  </g>`;
}

/** A server, with the lock and the stock where it has them. */
function serverMark(box: ServerBox, view: SeenView) {
  const { part, hasLock, hasStock, x, y, width } = box;
  if (part !== null && !hasLock && !hasStock) return smallPart({ ...box, part });
  return html`<g class=${`part is-${part?.is ?? 'up'}`}>
    ${frameOf(box)}
    ${part === null ? textMark('name', x + PAD, y + 24, fitted(words.lockOfMasters, width - 2 * PAD, true)) : header(part, box)}
    ${hasLock && lockMark(view, { x: x + PAD, y: y + LOCK_TOP, width: width - 2 * PAD, height: 0 })}
    ${hasStock && stockMark(view, { x: x + PAD, y: y + stockTop(box), width: width - 2 * PAD, height: 0 })}
  </g>`;
}

/** A padlock and its name. */
function lockName(name: string, x: number, y: number) {
  return html`<path class="key" d=${`M${x} ${y + 15}h11v9h-11zM${x + 2} ${y + 15}v-3a3.5 3.5 0 0 1 7 0v3`} />
    <text class="what" x=${x + 18} y=${y + 24}>${name}</text>`;
}

function lockMark({ lock, lockSeenAtMs }: SeenView, { x, y, width }: Box) {
  const token = lock?.fencingToken;
  const holder = fitted(lock?.holder ?? words.noLock, width, lock !== null);
  return html`<g class="lock">
    <path class="rule" d=${`M${x} ${y}h${width}`} />
    ${lockName(words.lock, x, y)}
    ${token !== undefined && textMark('token', x + width, y + 24, narrowed(words.token(token), width - 60, SIZE, true), 'end')}
    ${textMark(lock === null ? 'nobody' : 'holder', x, y + 49, holder)}
    ${lock !== null && html`<${LeaseBar} lock=${lock} seenAtMs=${lockSeenAtMs} x=${x} y=${y + 60} width=${width} />`}
  </g>`;
}

/** The stock beside what it should be. Red is what no sale in doubt or under way explains: one that is lost. */
function stockMark({ stock, figures }: SeenView, { x, y, width }: Box) {
  if (stock === null) return null;
  const isDifferent = stock.actual !== stock.expected;
  const right = x + width;
  const middle = x + width / 2;
  const names = rowsOf([words.stock, words.expected], width);
  const numbers = [stock.actual, stock.expected].map(texts.number);
  // Below two rows there is less room.
  const sizes = names.rows.length > 1 ? [24, 20] : [28, 24, 20];
  const size = sizes.find((size) => numbers.every((number) => textWidth(number, size, true) < width / 2 - 16));
  const note = fitted(words.stockNote(stock, figures), width);
  const pair = (kind: string, y: number, [left = '', other = '']: string[], size = SMALLEST) =>
    html`${textMark(kind, x, y, { text: left, size })}${textMark(kind, right, y, { text: other, size }, 'end')}`;
  return html`<g class=${figures?.lost ? 'is-lost' : ''}>
    <path class="rule" d=${`M${x} ${y}h${width}`} />
    ${names.rows.map((row, i) => pair('what', y + names.top + 14 * i, row, names.size))}
    ${pair('number', y + 53, numbers, size)}
    <path class="compared" d=${`M${middle - 11} ${y + 39}h22m0 9h-22${isDifferent ? `M${middle - 7} ${y + 56}l14 -26` : ''}`} />
    ${textMark('', right, y + 74, note, 'end')}
  </g>`;
}

/** Two names at the edges of their room: in one row, or word under word where they are too long for one. */
function rowsOf(names: string[], room: number): { rows: string[][]; size: number; top: number } {
  const gap = 6;
  const size = SIZES.find((pixels) => names.reduce((sum, name) => sum + textWidth(name, pixels), gap) <= room);
  if (size !== undefined) return { rows: [names], size, top: 20 };
  const broken = names.map((name) => /(\S*) ?(.*)/.exec(name) ?? []);
  return { rows: [1, 2].map((part) => broken.map((parts) => parts[part] ?? '')), size: SMALLEST, top: 13 };
}
