// The nodes with their sales: who waits, who is inside, and what each has read and written.

import { html } from 'htm/preact';
import { type Both, inLanguage } from '../../loadtest/narration/language.ts';
import type { NodeState, Place, SaleScene, Scene } from './beats.ts';
import { type Box, GAP, type Row, roomFor, rowsOf } from './layout.ts';
import { colour, Text, Who } from './shapes.ts';

interface NodeProps {
  name: string;
  box: Box;
  scene: Scene;
  /** What Redis holds at this moment, which the node may not know. */
  lock: Scene;
  place: Place;
  stage: string;
  /** The letters of the sales that are acting. */
  active: string;
  isUpright: boolean;
}

/** The room for the name of a node. */
const TITLE = 62;

const states: Record<NodeState | 'cut', Both> = {
  running: ['', ''],
  stopped: ['❚❚ paused', '❚❚ 已暂停'],
  killed: ['✖ crashed', '✖ 已宕机'],
  blocked: ['❚❚ blocked', '❚❚ 阻塞中'],
  cut: ['✖ cut off', '✖ 网络断开'],
};

export function Node({ name, box, scene, lock, place, stage, active, isUpright }: NodeProps) {
  const is = scene.nodes[name] ?? 'running';
  const state = inLanguage(states[is === 'running' && scene.cut.includes(name) ? 'cut' : is]);
  const y = box.y + (isUpright ? 17 : 19);
  const right = box.x + box.w - 12;
  const mutexW = isUpright ? 88 : 112;
  const end = place === 'node' ? right - mutexW - 8 : right;
  const owner = scene.mutex[name];
  const sales = salesAt(scene, name, box);
  const rows = rowsOf(box, sales.length, isUpright);
  return html`<g class=${`node ${is}`}>
    <rect class="box" x=${box.x} y=${box.y} width=${box.w} height=${box.h} rx="12" />
    <${Text} class="title" x=${box.x + 12} y=${y} texts=${[name]} room=${TITLE} isBold />
    ${
      state &&
      html`<${Text} class="state" x=${end} y=${y} texts=${[state, state[0]]} room=${end - box.x - TITLE - 20} size=${13}
        isBold anchor="end" />`
    }
    ${
      place === 'node' &&
      html`<g class=${owner === undefined ? 'mutex free' : `mutex ${colour(owner)}`}>
        <rect x=${right - mutexW} y=${y - 12} width=${mutexW} height="24" rx="12" />
        <${Text} x=${right - mutexW / 2} y=${y} texts=${mutexIs(owner)} room=${mutexW - 14} size=${12.5} isBold
          anchor="middle" />
      </g>`
    }
    ${sales.map((sale, row) => {
      const lacksLock = place === 'redis' && isWithoutLock(sale, lock);
      return html`<${Sale} key=${sale.sale} ...${{ sale, place, stage, lacksLock }} row=${rows[row]}
        isActive=${active.includes(sale.sale)} />`;
    })}
  </g>`;
}

function mutexIs(owner: string | undefined): string[] {
  if (owner !== undefined) return [inLanguage([`mutex: ${owner}`, `互斥锁：${owner}`])];
  return [inLanguage(['mutex: free', '互斥锁：空闲']), inLanguage(['mutex', '互斥锁'])];
}

/** True if the sale is inside but another holder, or nobody, has the lock. A sale whose release is on its way is about to leave. */
const isWithoutLock = ({ sale, place, step, isDead, isRefused }: SaleScene, { holder, onWire }: Scene) =>
  place === 'inside' && !isDead && !isRefused && holder !== sale && !(step === 'release' && onWire?.sale === sale);

/** The sales of a node. If there is no room for all, finished sales are dropped first. */
function salesAt(scene: Scene, node: string, box: Box): SaleScene[] {
  const all = scene.sales.filter((each) => each.node === node);
  const tooMany = Math.max(0, all.length - roomFor(box));
  const over = new Set(all.filter(({ place }) => place === 'gone').slice(0, tooMany));
  return all.filter((each) => !over.has(each)).slice(-Math.max(1, roomFor(box)));
}

/** What a sale is doing, in a word; the best word first. */
function statusOf({ place, read, wrote, code, isDead, isRefused, step, tries }: SaleScene, of: Place): Both[] {
  if (isDead) return [['crashed', '已宕机']];
  if (isRefused) return [['not sold', '未卖出']];
  if (code !== undefined && wrote === undefined)
    return [read === undefined ? ['gave up', '已放弃'] : ['failed', '失败']];
  if (place === 'asks') return [step === 'read' ? ['arrives', '到达'] : ['asks', '申请锁']];
  if (place === 'waits') {
    const waits: Both = ['waits', '等待'];
    return tries > 1 ? [[`waits ×${tries}`, `等待 ×${tries}`], waits, [`×${tries}`, `×${tries}`]] : [waits];
  }
  if (wrote !== undefined) return [...(place === 'gone' ? [['sold ✓', '已卖出 ✓'] as const] : []), ['sold', '已卖出']];
  return of === 'none'
    ? [['selling', '销售中']]
    : [
        ['inside', '临界区内'],
        ['in', '区内'],
      ];
}

interface SaleProps {
  sale: SaleScene;
  row: Row;
  place: Place;
  stage: string;
  /** It works as if it held the lock, but does not. */
  lacksLock: boolean;
  isActive: boolean;
}

const THINKS: Both = ['⚠ thinks it holds the lock', '⚠ 以为自己持有锁'];
const KNOWS: Both = ['⚠ has lost the lock', '⚠ 已失去锁'];
const LACKS: Both = ['⚠ no lock', '⚠ 没有锁'];
/** The room for the word of a sale that has its calls beside it. */
const WORD = 50;

function Sale({ sale, row, place, stage, lacksLock, isActive }: SaleProps) {
  const { circle, card, foot, isStacked } = row;
  const { x, y, r } = circle;
  const value = sale.wrote ?? sale.read;
  const isWaiting = sale.place === 'waits';
  const Calls = isWaiting && sale.tries > 0 ? waiting[stage] : undefined;
  const from = x + r + 9;
  const isBesideCard = !isStacked && value !== undefined;
  const room = (isBesideCard ? card.x - 6 : Calls && !isStacked ? from + WORD : row.x + row.w - 12) - from;
  const token = sale.token === undefined ? undefined : inLanguage([`token ${sale.token}`, `令牌 ${sale.token}`]);
  const isTwoLines = token !== undefined && foot > 0;
  const warning = !lacksLock ? undefined : sale.knowsLoss ? KNOWS : THINKS;
  const lacks = warning !== undefined && foot === 0;
  const status = statusOf(Calls ? { ...sale, tries: 0 } : sale, place);
  const isToken = token !== undefined && foot === 0 && sale.place === 'inside' && sale.wrote === undefined;
  const words = isToken && !lacks ? [token] : (lacks ? [warning, LACKS] : status).map((each) => inLanguage(each));
  return html`<g class=${`sale ${colour(sale.sale)}${sale.isDead ? ' dead' : ''}${isActive ? ' active' : ''}`}>
    ${
      warning &&
      html`<rect class="thinks" x=${row.x + 5} y=${row.y + 1} width=${row.w - 10} height=${row.h - 3} rx="10" />`
    }
    ${isActive && html`<circle class="halo" cx=${x} cy=${y} r=${r + 3.5} />`}
    <${Who} ...${circle} sale=${sale.sale} class=${isWaiting || sale.place === 'asks' ? 'who waits' : 'who'} />
    <${Text} class=${lacks ? 'lacks' : 'status'} x=${from} y=${isTwoLines ? y - 9 : y} texts=${words} room=${room}
      isBold=${lacks} />
    ${
      isTwoLines && html`<${Text} class="token" x=${from} y=${y + 9} texts=${[token]} room=${room} size=${13} isBold />`
    }
    ${value !== undefined && html`<${Card} sale=${sale} value=${value} box=${card} />`}
    ${Calls && html`<${Calls} tries=${sale.tries} row=${row} from=${isStacked ? card.x : from + WORD + 4} />`}
    <${Foot} row=${row} lines=${footOf(sale.tries, warning, Calls, isStacked)} class=${warning ? 'lacks' : 'caption'} />
  </g>`;
}

/** The lines below a sale; for each line the best words first. */
function footOf(tries: number, warning: Both | undefined, calls: Calls | undefined, isStacked: boolean): Both[][] {
  if (warning === THINKS && isStacked) return [[['⚠ thinks it', '⚠ 以为自己']], [['holds the lock', '持有锁']]];
  if (warning) return [[warning]];
  if (calls === Pile) return [[[`${tries} open ${tries === 1 ? 'call' : 'calls'}`, `${tries} 层未返回的调用`]]];
  const short: Both = [`1 call, try ${tries}`, `1 层调用，第 ${tries} 次`];
  return calls === Loop ? [[[`1 open call, try ${tries}`, `1 层调用，第 ${tries} 次尝试`], short]] : [];
}

function Foot({ row: { x, y, w, h, foot }, lines, class: kind }: { row: Row; lines: Both[][]; class: string }) {
  if (foot === 0) return null;
  const lineH = foot / Math.max(1, lines.length);
  return lines.map((words, index) => {
    const middle = y + h - foot + lineH * (index + 0.5) - 1;
    return html`<${Text} class=${kind} x=${x + w / 2} y=${middle} texts=${words.map((each) => inLanguage(each))}
      room=${w - 24} size=${12.5} isBold anchor="middle" />`;
  });
}

/** The cards with what a sale has read or written. */
function Card({ sale, value, box: { x, y, w, h } }: { sale: SaleScene; value: number; box: Box }) {
  const { isTwin, isRefused, wrote } = sale;
  const read: Both = wrote === undefined ? ['read', '读到'] : ['wrote', '写回'];
  const label = isRefused ? [inLanguage(['refused', '被拒绝']), '✘'] : [inLanguage(read)];
  const shown = [String(isRefused ? value - 1 : value)];
  const center = x + w / 2;
  const middle = y + h / 2;
  const isLow = h < 47;
  const kind = `card${isTwin ? ' twin' : ''}${isRefused ? ' refused' : ''}`;
  const rect = html`<rect x=${x} y=${y} width=${w} height=${h} rx="7" />`;
  if (isLow && w < 90)
    return html`<g class=${kind}>${rect}
      <${Text} class="value" x=${center} y=${middle} texts=${shown} room=${w - 12} size=${Math.min(22, h - 8)} isBold
        anchor="middle" /></g>`;
  if (isLow)
    return html`<g class=${kind}>${rect}
      <${Text} class="label" x=${x + 8} y=${middle} texts=${label} room=${w / 2 - 8} size=${12} isBold />
      <${Text} class="value" x=${x + w - 8} y=${middle} texts=${shown} room=${w / 2 - 10} size=${Math.min(22, h - 8)} isBold
        anchor="end" /></g>`;
  return html`<g class=${kind}>${rect}
    <${Text} class="label" x=${center} y=${y + 13} texts=${label} room=${w - 10} size=${12} isBold anchor="middle" />
    <${Text} class="value" x=${center} y=${middle + 9} texts=${shown} room=${w - 12} size=${Math.min(32, h - 24)} isBold
      anchor="middle" /></g>`;
}

interface CallsProps {
  tries: number;
  row: Row;
  /** Where they begin. */
  from: number;
}
type Calls = (props: CallsProps) => unknown;

const CALL = { w: 78, h: 20 };
const MOST_CALLS = 40;

/** The open calls of a waiter, newest on top: each try is a call that waits for the next one. */
function Pile({ tries, row: { isStacked, card, circle, foot, ...row }, from }: CallsProps) {
  const room = row.x + row.w - 14 - from;
  const h = isStacked ? card.h : row.h - foot - 6;
  const w = Math.min(CALL.w, room - 10);
  const below = Math.min(tries, MOST_CALLS) - 1;
  const step = (most: number, free: number) => Math.min(most, free / Math.max(1, below));
  const [right, up] = [step(4, room - w), step(3, h - CALL.h)];
  const lowest = (isStacked ? card.y + card.h / 2 : circle.y) + (up * below) / 2;
  return html`<g class="calls">
    ${Array.from({ length: below }, (_, call) => html`<${Call} x=${from + right * call} y=${lowest - up * call} w=${w} />`)}
    <${Call} x=${from + right * below} y=${lowest - up * below} w=${w} text=${foot > 0 ? 'acquire()' : `×${tries}`} />
  </g>`;
}

/** One call that asks again. */
function Loop({ row, from }: CallsProps) {
  const w = Math.min(CALL.w, row.x + row.w - 14 - from - 24);
  const y = row.isStacked ? row.card.y + row.card.h / 2 : row.circle.y;
  return html`<g class="calls"><${Call} x=${from} y=${y} w=${w} text="acquire()" />
    <path class="turn" d=${`M${from + w + 4} ${y + 6}h6a6 6 0 0 0 0 -12h-6m4 -4l-4 4l4 4`} /></g>`;
}

function Call({ x, y, w, text = '' }: { x: number; y: number; w: number; text?: string }) {
  return html`<g><rect x=${x} y=${y - CALL.h / 2} width=${w} height=${CALL.h} rx="4" />
    ${text && html`<${Text} x=${x + w / 2} y=${y} texts=${[text]} room=${w - 6} size=${12} isMono anchor="middle" />`}</g>`;
}

/** How a waiter waits, if that is the topic of the stage. */
const waiting: Record<string, Calls> = { '2-recursive-retry': Pile, '3-spin': Loop };

interface TwinsProps {
  nodes: Box[];
  scene: Scene;
  isUpright: boolean;
}

/** Joins cards that show the same number but should not. */
export function Twins({ nodes, scene, isUpright }: TwinsProps) {
  const twins = Object.keys(scene.nodes).flatMap((name, node) => {
    const box = nodes[node] as Box;
    const sales = salesAt(scene, name, box);
    const rows = rowsOf(box, sales.length, isUpright);
    return sales.flatMap((sale, row) => (sale.isTwin ? [{ node, sale, ...(rows[row] as Row) }] : []));
  });
  const isSame = (one: SaleScene, other: SaleScene) => one.read === other.read && one.wrote === other.wrote;
  const one = twins.find((each) => twins.some(({ sale }) => sale !== each.sale && isSame(sale, each.sale)));
  const other = one && twins.find(({ sale }) => sale !== one.sale && isSame(sale, one.sale));
  if (one === undefined || other === undefined) return null;
  const [from, to] = [middleOf(one.card), middleOf(other.card)];
  const edge = one.card.x + one.card.w;
  if (one.node === other.node)
    return html`<g class="twins"><path d=${`M${edge} ${from.y}h7V${to.y}h-7`} />
      <${Same} x=${edge + 7} y=${(from.y + to.y) / 2} w=${20} text="=" /></g>`;
  if (isUpright) {
    const gap = (nodes[0] as Box).w + GAP / 2;
    // Where a sale stands beside its card, the line comes from below.
    const under = other.card.y + other.card.h + 3;
    const end = other.isStacked ? `V${to.y}H${other.card.x}` : `V${under}H${to.x}v-3`;
    return html`<g class="twins"><path d=${`M${edge} ${from.y}H${gap}${end}`} />
      <${Same} x=${gap} y=${(from.y + (other.isStacked ? to.y : under)) / 2} w=${24} text="=" /></g>`;
  }
  return html`<g class="twins"><path d=${`M${from.x} ${one.card.y + one.card.h}V${other.card.y}`} />
    <${Same} x=${from.x} y=${(nodes[0] as Box).h + GAP / 2} w=${100} text=${inLanguage(['= the same', '= 相同'])} /></g>`;
}

const middleOf = ({ x, y, w, h }: Box) => ({ x: x + w / 2, y: y + h / 2 });

function Same({ x, y, w, text }: { x: number; y: number; w: number; text: string }) {
  const h = Math.min(24, w);
  return html`<rect x=${x - w / 2} y=${y - h / 2} width=${w} height=${h} rx=${h / 2} />
    <${Text} x=${x} y=${y} texts=${[text]} room=${w - 8} size=${13} isBold anchor="middle" />`;
}
