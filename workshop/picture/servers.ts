// The parts outside of the nodes: the stock and the lock in Redis, and the till.

import { html } from 'htm/preact';
import { type Both, inLanguage } from '../../loadtest/narration/language.ts';
import type { Place, Scene } from './beats.ts';
import type { Box } from './layout.ts';
import { colour, letter, Text, type Touched, Who } from './shapes.ts';

interface PartProps {
  box: Box;
  scene: Scene;
  touched?: Touched | undefined;
  isUpright: boolean;
}

/** A part of Redis, with a flash when a command changes it, and a rim until the next command. */
function Part({ box: { x, y, w, h }, kind, touched }: { box: Box; kind: string; touched?: Touched | undefined }) {
  return html`<rect class=${`part ${kind}`} x=${x} y=${y} width=${w} height=${h} rx="9" />
    ${
      touched &&
      html`<g class=${`touched ${touched.colour}`}><rect class="flash" x=${x} y=${y} width=${w} height=${h} rx="9" opacity=${touched.flash} />
      <rect class="rim" x=${x} y=${y} width=${w} height=${h} rx="9" /></g>`
    }`;
}

export function Stock({ box, scene: { stock, shouldBe, newest }, touched, isUpright }: PartProps) {
  const { x, y, w, h } = box;
  const isLost = stock > shouldBe;
  const head = y + (isUpright ? 12 : 18);
  const footH = isLost ? (isUpright ? 18 : 28) : 0;
  const free = h - (isUpright ? 20 : 30) - footH;
  return html`<g class=${isLost ? 'stock lost' : 'stock'}>
    <${Part} box=${box} kind=${isLost ? 'lost' : ''} touched=${touched} />
    <${Text} class="label" x=${x + 12} y=${head} texts=${[inLanguage(['STOCK', '库存'])]} room=${60} size=${12} isBold />
    ${newest !== undefined && html`<${Text} class="token" x=${x + w - 10} y=${head} texts=${[inLanguage([`newest token ${newest}`, `最新令牌 ${newest}`]), inLanguage([`newest ${newest}`, `令牌 ${newest}`])]} room=${w - 92} size=${12.5} isBold anchor="end" />`}
    <${Text} class="number" x=${x + w / 2} y=${y + h - footH - free / 2 - (isLost ? 0 : 3)} texts=${[String(stock)]} room=${w - 20} size=${Math.min(76, free * 0.95)} isBold anchor="middle" />
    ${isLost && html`<${Text} class="should" x=${x + w / 2} y=${y + h - (isUpright ? 11 : 17)} texts=${[inLanguage([`should be ${shouldBe}`, `应为 ${shouldBe}`])]} room=${w - 20} size=${isUpright ? 13 : 15} isBold anchor="middle" />`}
  </g>`;
}

interface LockProps extends PartProps {
  place: Place;
  at: number;
  leaseMs: number;
}

const noLock: Record<Place, Both> = {
  none: ['no lock', '没有锁'],
  node: ['not in Redis', '不在 Redis 里'],
  redis: ['free', '空闲'],
  permits: ['all permits are free', '许可全部空闲'],
};

export function Lock({ box, scene, touched, isUpright, place, at, leaseMs }: LockProps) {
  const { x, y, w, h } = box;
  const { lock, holder = '' } = scene;
  const head = y + (isUpright ? 12 : 18);
  const label = html`<${Text} class="label" x=${x + 12} y=${head} texts=${[inLanguage(['LOCK', '锁'])]} room=${50} size=${12} isBold />`;
  if (lock === undefined)
    return html`<g class="lock"><${Part} box=${box} kind="free" touched=${touched} />${label}
      <${Text} class="status" x=${x + w / 2} y=${y + h / 2 + 4} texts=${[inLanguage(noLock[place])]} room=${w - 24} anchor="middle" /></g>`;
  const { owner, value, count, endsAt } = lock;
  if (place === 'permits')
    return html`<g class="lock"><${Part} box=${box} kind="taken" touched=${touched} />${label}
      <${Text} class="status" x=${x + w / 2} y=${y + h / 2 + 4} texts=${[inLanguage(['permits are taken', '有许可被占用'])]} room=${w - 24} anchor="middle" /></g>`;
  const leftMs = endsAt === undefined ? undefined : Math.max(0, Math.round(endsAt - at));
  const bar = { x: x + 12, y: y + h - (isUpright ? 12 : 18), w: w - 24, h: isUpright ? 7 : 9 };
  const r = isUpright ? 13 : 18;
  const name = owner === undefined ? value : letter(owner);
  const key = count === undefined ? [`"${name}"`] : [`{${name}: ${count}}`];
  const middle = y + (isUpright ? 20 : 30) + (bar.y - y - (isUpright ? 22 : 34)) / 2;
  const center = x + w / 2;
  return html`<g class=${`lock ${colour(holder)}`}>
    <${Part} box=${box} kind="taken" touched=${touched} />${label}
    <${Text} class=${leftMs === undefined ? 'no-end' : 'left'} x=${x + w - 10} y=${head} texts=${leftOf(leftMs, leaseMs).map((each) => inLanguage(each))} room=${w - 80} size=${12.5} anchor="end" />
    <${Who} sale=${owner ?? '?'} x=${center - 46} y=${middle} r=${r} class=${owner === undefined ? 'who waits' : 'who'} />
    <${Text} class="value" x=${center - 20} y=${middle} texts=${[...key, '…']} room=${w / 2 + 10} size=${18} isBold isMono />
    ${leftMs !== undefined && html`<rect class="way" ...${drawn(bar)} /><rect class="lease" ...${drawn({ ...bar, w: bar.w * Math.min(1, leftMs / leaseMs) })} />`}
  </g>`;
}

const drawn = ({ x, y, w, h }: Box) => ({ x, y, width: w, height: h, rx: h / 2 });

/** The rest of the lease, and its length, which the sentences mention. */
function leftOf(ms: number | undefined, leaseMs: number): Both[] {
  if (ms === undefined) return [['no TTL', '没有 TTL']];
  if (ms <= leaseMs && leaseMs < 10_000)
    return [
      [`${ms} of ${leaseMs} ms left`, `剩 ${ms} / ${leaseMs} 毫秒`],
      [`${ms} of ${leaseMs} ms`, `${ms} / ${leaseMs} 毫秒`],
      [`${ms} ms`, `${ms} 毫秒`],
    ];
  const seconds = (ms / 1_000).toFixed(1);
  const long: Both = ms < 10_000 ? [`${ms} ms left`, `剩 ${ms} 毫秒`] : [`${seconds} s left`, `剩 ${seconds} 秒`];
  return [long, ms < 10_000 ? [`${ms} ms`, `${ms} 毫秒`] : [`${seconds} s`, `${seconds} 秒`]];
}

const RECEIPT = { least: 64, most: 150, gap: 8 };

/** A receipt for each written sale. */
export function Till({ box, scene: { till }, isUpright }: Omit<PartProps, 'touched'>) {
  const { x, y, w, h } = box;
  const from = x + (isUpright ? 50 : 92);
  const room = x + w - 10 - from;
  const least = RECEIPT.least + RECEIPT.gap;
  const shown = till.slice(-Math.max(1, Math.floor(room / least)));
  const isTwice = till.some(({ isDouble }) => isDouble);
  const note = isTwice && inLanguage(['⚠ the same unit, sold twice', '⚠ 同一件，卖了两次']);
  const short = isTwice ? [['⚠ sold twice', '⚠ 卖了两次'] as const, ['⚠ twice', '⚠ 两次'] as const] : [];
  const most = isUpright ? 104 : RECEIPT.most;
  const each = Math.min(most, room / Math.max(1, shown.length) - RECEIPT.gap);
  const end = from + shown.length * (each + RECEIPT.gap);
  return html`<g class="till">
    <rect class="box" x=${x} y=${y} width=${w} height=${h} rx="12" />
    <${Text} class="title" x=${x + 12} y=${y + h / 2} texts=${[inLanguage(['Till', '收银台']), inLanguage(['Till', '收银'])]} room=${from - x - 14} isBold />
    ${shown.length === 0 && html`<${Text} class="status" x=${from} y=${y + h / 2} texts=${[inLanguage(['nobody has paid yet', '还没有人付款'])]} room=${room} />`}
    ${shown.map((receipt, place) => html`<${Receipt} key=${till.length - shown.length + place} ...${receipt} box=${{ x: from + place * (each + RECEIPT.gap), y: y + 8, w: each, h: h - 16 }} />`)}
    ${note && html`<${Text} class="alarm" x=${end + 4} y=${y + h / 2} texts=${[note, ...short.map((each) => inLanguage(each))]} room=${x + w - 10 - end - 4} size=${15} isBold />`}
  </g>`;
}

type Paid = Scene['till'][number];

function Receipt({ sale, unit, isDouble, box: { x, y, w, h } }: Paid & { box: Box }) {
  const r = Math.min(13, w / 10);
  const teeth = 5;
  const tooth = h / teeth;
  const edge = Array.from({ length: teeth }, () => `l-5 ${tooth / 2}l5 ${tooth / 2}`).join('');
  return html`<g class=${`receipt ${colour(sale)}${isDouble ? ' double' : ''}`}>
    <path d=${`M${x} ${y}h${w}${edge}H${x}Z`} />
    <${Who} sale=${sale} x=${x + r + 6} y=${y + h / 2} r=${r} />
    <${Text} class="unit" x=${x + 2 * r + 12} y=${y + h / 2} texts=${[inLanguage([`unit ${unit}`, `第 ${unit} 件`]), String(unit)]} room=${w - 2 * r - 17} isBold />
  </g>`;
}
