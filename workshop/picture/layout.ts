// The layout, from the size of the picture alone: wide (the nodes left, Redis right, the till below them) or upright, for a
// phone. All boxes are in units of the picture; `scale` is how large such a unit is drawn.

export interface Size {
  w: number;
  h: number;
}
export interface Box extends Size {
  x: number;
  y: number;
}
type Point = readonly [x: number, y: number];
export interface Wire {
  from: Point;
  to: Point;
}
export interface Layout {
  isUpright: boolean;
  scale: number;
  size: Size;
  nodes: Box[];
  wires: Wire[];
  redis: Box;
  stock: Box;
  lock: Box;
  till: Box;
}

export const GAP = 12;
const UPRIGHT_BELOW = 620;
/** Below these heights everything is drawn smaller. */
const LOWEST = { wide: 330, upright: 390 };
/** On a projector, larger sizes scale the units up, to this factor at most. */
const USUAL = { w: 700, h: 390 };
const LARGEST = 2.4;

export function layoutOf({ w, h }: Size): Layout {
  const isUpright = w < UPRIGHT_BELOW;
  const lowest = isUpright ? LOWEST.upright : LOWEST.wide;
  const usual = isUpright ? 1 : Math.max(1, Math.min(LARGEST, w / USUAL.w, h / USUAL.h));
  const scale = Math.min(usual, h / lowest);
  const size = { w: w / scale, h: h / scale };
  return { isUpright, scale, size, ...(isUpright ? upright(size) : wide(size)) };
}

function wide({ w, h }: Size) {
  const till = { x: 0, y: h - 60, w, h: 60 };
  const nodeW = Math.min(320, w * 0.36);
  const nodeH = (till.y - 2 * GAP) / 2;
  const nodes = [0, nodeH + GAP].map((y) => ({ x: 0, y, w: nodeW, h: nodeH }));
  const redisW = Math.min(290, w * 0.31);
  const redis = { x: w - redisW, y: 0, w: redisW, h: till.y - GAP };
  const inner = { x: redis.x + 10, w: redisW - 20 };
  const free = redis.h - 36 - 10 - 10;
  const stock = { ...inner, y: 36, h: free * 0.53 };
  const lock = { ...inner, y: stock.y + stock.h + 10, h: free * 0.47 };
  const wires = nodes.map(({ y }): Wire => ({ from: [nodeW, y + nodeH / 2], to: [redis.x, y + nodeH / 2] }));
  return { nodes, wires, redis, stock, lock, till };
}

function upright({ w, h }: Size) {
  const till = { x: 0, y: h - 52, w, h: 52 };
  const redisH = h > 500 ? 130 : 106;
  const redis = { x: 0, y: till.y - GAP - redisH, w, h: redisH };
  const nodeW = (w - GAP) / 2;
  const nodeH = Math.min(210, redis.y - 80);
  const nodes = [0, nodeW + GAP].map((x) => ({ x, y: 0, w: nodeW, h: nodeH }));
  const [stock, lock] = [8, w / 2 + 4].map((x) => ({ x, y: redis.y + 30, w: w / 2 - 12, h: redisH - 38 })) as [
    Box,
    Box,
  ];
  const wires = nodes.map(({ x }): Wire => ({ from: [x + nodeW / 2, nodeH], to: [x + nodeW / 2, redis.y] }));
  return { nodes, wires, redis, stock, lock, till };
}

/** A sale's place at its node. */
export interface Row extends Box {
  /** Its card stands below it. */
  isStacked: boolean;
  circle: { x: number; y: number; r: number };
  card: Box;
  /** The height of the line below it, of which some rows are too low. */
  foot: number;
}

const TITLE = 32;
const FOOT = 20;
const LOWEST_ROW = 29;
const STACKED_FROM = 112;

/** How many sales fit at a node. */
export const roomFor = ({ h }: Box) => Math.floor((h - TITLE) / LOWEST_ROW);

/** The rows of the sales at a node: in its middle, or upright at the end where its wire is. */
export function rowsOf(node: Box, count: number, isUpright: boolean): Row[] {
  const largest = isUpright ? 136 : count === 1 ? 96 : 70;
  const h = Math.min(largest, (node.h - TITLE - 2) / Math.max(1, count));
  const all = h * count;
  // In its middle stands who is alone: the line below it does not count.
  const middle = node.h / 2 - all / 2 + (count === 1 ? FOOT / 2 : 0);
  const top = node.y + (isUpright ? node.h - all - 2 : Math.min(node.h - all - 2, Math.max(TITLE, middle)));
  return Array.from({ length: count }, (_, index) => rowIn({ x: node.x, y: top + index * h, w: node.w, h }, isUpright));
}

function rowIn(row: Box, isUpright: boolean): Row {
  const isStacked = isUpright && row.h >= STACKED_FROM;
  if (isStacked) {
    const card = { x: row.x + 12, y: row.y + 40, w: row.w - 24, h: row.h - 40 - 36 };
    return { ...row, isStacked, circle: { x: row.x + 28, y: row.y + 19, r: 15 }, card, foot: 34 };
  }
  const foot = row.h >= 56 ? FOOT : 0;
  const free = row.h - foot;
  const r = Math.min(isUpright ? 15 : 25, free / 2 - 3);
  const cardW = isUpright ? 66 : Math.min(112, row.w * 0.38);
  const cardH = Math.min(66, free - 5);
  const y = row.y + free / 2;
  const card = { x: row.x + row.w - 14 - cardW, y: y - cardH / 2, w: cardW, h: cardH };
  return { ...row, isStacked, circle: { x: row.x + (isUpright ? 10 : 14) + r, y, r }, card, foot };
}

export interface Weight {
  isBold?: boolean | undefined;
  isMono?: boolean | undefined;
}

/** The width of a text, in font sizes: an upper bound for the usual fonts. */
export function widthOf(text: string, { isBold, isMono }: Weight = {}): number {
  const narrow = isMono ? 0.61 : isBold ? 0.7 : 0.63;
  return Array.from(text).reduce((sum, letter) => sum + (/[\u2e80-\uffff]/.test(letter) ? 1 : narrow), 0);
}
