// Many buyers at once: the actual and the expected stock, and how often each unit was sold.

import { html } from 'htm/preact';
import { type Both, inLanguage } from '../../loadtest/narration/language.ts';
import { type Box, layoutOf, type Size } from './layout.ts';
import { fitted, Text } from './shapes.ts';
import type { AnyEvent } from './trips.ts';

export interface Rush {
  /** The stock before the first sale. */
  first: number;
  buyers: number;
  /** The written sales, in order: the unit that each sold, and the resulting stock. */
  sales: { unit: number; stock: number }[];
}

export function rushOf(events: AnyEvent[]): Rush {
  const first = events.find((event) => event.kind === 'redis')?.stock ?? 0;
  const buyers = new Set<string>();
  const read = new Map<string, number>();
  const sales: Rush['sales'] = [];
  let now = first;
  for (const event of events) {
    if (event.kind === 'redis') now = event.stock;
    if (event.kind !== 'sale') continue;
    const sale = `${event.node} ${event.sale}`;
    buyers.add(sale);
    if (event.step === 'read') read.set(sale, event.stock ?? now);
    if (event.step === 'wrote') sales.push({ unit: read.get(sale) ?? now + 1, stock: now });
  }
  return { first, buyers: buyers.size, sales };
}

/** After this many sales: the stock, the expected stock, who paid for a unit that was already sold, and how often each unit was sold. */
function accountOf({ first, sales }: Rush, pos: number) {
  const done = sales.slice(0, Math.floor(pos));
  const times = new Map<number, number>();
  for (const { unit } of done) times.set(unit, (times.get(unit) ?? 0) + 1);
  const [most = first, mostTimes = 0] = [...times].reduce(
    (one, other) => (other[1] > one[1] ? other : one),
    [first, 0],
  );
  const paid = done.length;
  return {
    done,
    paid,
    stock: done.at(-1)?.stock ?? first,
    shouldBe: first - paid,
    twice: paid - times.size,
    times,
    most,
    mostTimes,
  };
}

export function sayRush(rush: Rush, pos: number): { big: Both; small: Both } {
  const { first, buyers, sales } = rush;
  const { paid, stock, twice, most, mostTimes } = accountOf(rush, pos);
  const none: Both = ['', ''];
  if (paid === 0)
    return {
      big: [`${buyers} buyers arrive. ${first} units are in stock.`, `来了 ${buyers} 个买家，库存有 ${first} 件。`],
      small: none,
    };
  const fell = first - stock;
  const payers: Both = [`${paid} ${paid === 1 ? 'buyer' : 'buyers'} paid.`, `${paid} 个买家付了款，`];
  const big: Both = [
    `${payers[0]} The stock fell by ${fell}.`,
    `${payers[1]}库存${fell < paid ? '只' : ''}减少了 ${fell} 件。`,
  ];
  if (paid < sales.length) return { big, small: none };
  if (twice === 0) return { big, small: ['Each unit was sold once.', '每件货只卖了一次。'] };
  return {
    big,
    small: [
      `${twice} bought a unit that was already sold; unit ${most} alone went to ${mostTimes} buyers.`,
      `${twice} 个买家买到已卖出的货，仅第 ${most} 件就卖给了 ${mostTimes} 人。`,
    ],
  };
}

export function RushPicture({ rush, pos, size: real }: { rush: Rush; pos: number; size: Size }) {
  const { size, isUpright } = layoutOf(real);
  const account = accountOf(rush, pos);
  const stripH = isUpright ? 104 : Math.min(150, size.h * 0.3);
  const plot = { x: 40, y: 34, w: size.w - 52, h: size.h - 34 - stripH - 30 };
  return html`<svg class="picture rush" viewBox=${`0 0 ${size.w} ${size.h}`} width=${real.w} height=${real.h} role="img"
    aria-label=${inLanguage(['The stock, and what it should be', '库存，以及应有的库存'])}>
    <${Legend} ...${account} w=${size.w} />
    <${Lines} rush=${rush} account=${account} plot=${plot} />
    <${Text} class="axis" x=${plot.x + plot.w} y=${plot.y + plot.h + 15} anchor="end" texts=${[inLanguage([`${account.paid} of ${rush.buyers} buyers have paid`, `${rush.buyers} 个买家中已有 ${account.paid} 个付款`])]} room=${plot.w} size=${13} />
    <${Units} rush=${rush} account=${account} strip=${{ x: 8, y: size.h - stripH, w: size.w - 16, h: stripH }} />
  </svg>`;
}

type Account = ReturnType<typeof accountOf>;

function Legend({ stock, shouldBe, w }: Account & { w: number }) {
  const half = Math.min(190, w / 2 - 10);
  const names = [
    { kind: stock > shouldBe ? 'is lost' : 'is', text: inLanguage([`stock ${stock}`, `库存 ${stock}`]) },
    { kind: 'should', text: inLanguage([`should be ${shouldBe}`, `应为 ${shouldBe}`]) },
  ];
  return names.map(
    ({ kind, text }, place) => html`<path class=${kind} d=${`M${10 + place * half} 15h26`} />
    <${Text} class=${`name ${kind}`} x=${44 + place * half} y=${15} texts=${[text]} room=${half - 48} isBold />`,
  );
}

function Lines({ rush: { first, sales }, account, plot }: { rush: Rush; account: Account; plot: Box }) {
  const { done, paid, stock, shouldBe, twice } = account;
  const least = Math.max(0, first - sales.length);
  const x = (count: number) => plot.x + (plot.w * count) / Math.max(1, sales.length);
  const y = (units: number) => plot.y + (plot.h * (first - units)) / Math.max(1, first - least);
  const is = [first, ...done.map((sale) => sale.stock)].map((units, count) => `${x(count)} ${y(units)}`).join('L');
  const gap = y(shouldBe) - y(stock);
  const number = fitted({
    texts: [String(twice)],
    room: (x(paid) - plot.x) * 0.45,
    size: Math.min(130, gap * 0.42),
    isBold: true,
  });
  // In the middle of what there is of the gap at the height of the label.
  const middle = (y(first) + y(stock) + y(shouldBe)) / 3 - gap * 0.06;
  const label = { size: Math.max(13, (number?.size ?? 0) / 5), y: middle + (number?.size ?? 0) * 0.5 + 10 };
  const at = (x((paid * (label.y + 12 - y(first))) / Math.max(1, y(shouldBe) - y(first))) + x(paid)) / 2;
  return html`<g class="lines">
    ${[first, (first + least) / 2, least].map(
      (units) => html`<line class="grid" x1=${plot.x} x2=${plot.x + plot.w} y1=${y(units)} y2=${y(units)} />
      <${Text} class="axis" x=${plot.x - 7} y=${y(units)} texts=${[String(units)]} room=${plot.x - 8} size=${12.5} anchor="end" />`,
    )}
    ${gap > 0 && html`<path class="gap" d=${`M${is}L${x(paid)} ${y(shouldBe)}Z`} />`}
    <path class="should" d=${`M${x(0)} ${y(first)}L${x(paid)} ${y(shouldBe)}`} />
    <path class=${gap > 0 ? 'is lost' : 'is'} d=${`M${is}`} />
    <circle class=${gap > 0 ? 'tip lost' : 'tip'} cx=${x(paid)} cy=${y(stock)} r="6" />
    ${
      number &&
      number.size > 22 &&
      html`<${Text} class="twice" x=${at} y=${middle} texts=${[String(twice)]} room=${number.width} size=${number.size} isBold anchor="middle" />
      <${Text} class="twice" x=${at} y=${label.y} texts=${[inLanguage(['sold twice', '重复卖出'])]} room=${2 * (x(paid) - at) - 16} size=${label.size} isBold anchor="middle" />`
    }
  </g>`;
}

/** The most columns that can be told apart. */
const MOST_COLUMNS = 150;

/** A ticket for each time a unit was sold; with many units, one column shows the most-sold unit of several. */
function Units({ rush: { first, sales }, account, strip }: { rush: Rush; account: Account; strip: Box }) {
  const { times, most, mostTimes } = account;
  const count = Math.min(first, Math.max(1, sales.length));
  const each = Math.ceil(count / MOST_COLUMNS);
  const columns = Array.from({ length: Math.ceil(count / each) }, (_, index) => index);
  const cell = strip.w / columns.length;
  const gap = Math.min(1.5, cell / 4);
  const floor = strip.y + strip.h - 24;
  const h = Math.min(10, (strip.h - 62) / Math.max(4, mostTimes));
  const soldOf = (column: number) =>
    Math.max(...Array.from({ length: each }, (_, index) => times.get(first - column * each - index) ?? 0));
  const unit = (number = 0) => [inLanguage([`unit ${number}`, `第 ${number} 件`])];
  return html`<g class="units">
    <${Text} class="axis" x=${strip.x + strip.w} y=${strip.y + 10} anchor="end" texts=${[inLanguage(['how often each unit was sold', '每件货卖了几次'])]} room=${strip.w} size=${13} />
    ${columns.map((column) => {
      const sold = soldOf(column);
      const x = strip.x + column * cell;
      return html`<rect class="shelf" x=${x} y=${floor} width=${cell - gap} height="4" />
        ${Array.from({ length: sold }, (_, time) => html`<rect class=${sold > 1 ? 'ticket double' : 'ticket'} x=${x} y=${floor - (time + 1) * h} width=${cell - gap} height=${Math.max(1, h - 1)} rx="1" />`)}`;
    })}
    ${mostTimes > 1 && html`<${Text} class="times" x=${strip.x + Math.floor((first - most) / each) * cell} y=${floor - mostTimes * h - 9} texts=${[`×${mostTimes}`]} room=${60} size=${13} isBold />`}
    <${Text} class="axis" x=${strip.x} y=${floor + 15} texts=${unit(first)} room=${120} size=${12} />
    <${Text} class="axis" x=${strip.x + strip.w} y=${floor + 15} texts=${unit(first - count + 1)} room=${120} size=${12} anchor="end" />
  </g>`;
}
