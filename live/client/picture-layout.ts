// Where the parts of the stack stand in the picture: from left to right in a wide window, from top to bottom on a phone.

import type { Line, Part, StackView } from '../contract.ts';
import { texts } from '../texts/en.ts';
import { textWidth } from './text-width.ts';

export interface Point {
  x: number;
  y: number;
}

export interface Box extends Point {
  width: number;
  height: number;
}

export interface PartBox extends Box {
  part: Part;
}

/** A server, and what is drawn in its box. Without a part it is the lock that several masters vote on. */
export interface ServerBox extends Box {
  part: Part | null;
  hasLock: boolean;
  hasStock: boolean;
}

/** What stands on a line, or on all lines of a node of which the same is to be said. Its point is its middle. */
export interface LineLabel extends Box {
  is: Line['is'];
  /** The name of the command that is held, in one row or several. Empty when none is. */
  held: string[];
}

export interface DrawnLine {
  line: Line;
  from: Point;
  to: Point;
}

/** In CSS pixels: nothing is scaled, so that texts keep their size in every window. */
export interface PictureLayout {
  width: number;
  height: number;
  buyers: Box;
  nginx: PartBox | undefined;
  nodes: PartBox[];
  servers: ServerBox[];
  /** The ways of a request to the nodes. */
  ways: { from: Point; to: Point }[];
  lines: DrawnLine[];
  labels: LineLabel[];
}

/** How wide the columns are from a width on, from left to right: the buyers with nginx, the nodes, the servers. Low nodes leave room below. */
const COLUMNS = [
  { from: 700, lead: 84, gap: 44, node: 224, server: 252, nodeHeight: 108 },
  { from: 580, lead: 84, gap: 26, node: 188, server: 196, nodeHeight: 94 },
  { from: 430, lead: 68, gap: 12, node: 158, server: 172, nodeHeight: 94 },
];
const NODE_HEIGHT = 108;
const HEADER_HEIGHT = 34;
const LOCK_HEIGHT = 86;
const STOCK_HEIGHT = 82;
const GAP = 14;
const EDGE = 2;
/** The size of the texts on lines, and the room for the symbol before them. */
export const LABEL_SIZE = 18;
export const SIGN_WIDTH = 24;
/** The width of a letter of a command, whose letters are all as wide. */
export const LETTER = 0.61 * LABEL_SIZE;
const LABEL_EDGE = 14;

type Parts = Pick<StackView, 'parts' | 'lines' | 'hasLock'>;

/** Places all parts of a stack in a picture of this width. */
export function layoutPicture(stack: Parts, width: number): PictureLayout {
  const columns = COLUMNS.find(({ from }) => width >= from);
  return columns ? fromLeftToRight(stack, width, columns) : fromTopToBottom(stack, width);
}

const ORDER: Part['kind'][] = ['master', 'zookeeper', 'mysql', 'redis', 'replica'];

/**
 * The servers in the order in which they stand, and what each has. Where others play besides Redis, the lock is theirs: of the
 * masters, of ZooKeeper, of MySQL. Sales that take none have none to be drawn. The stock is in Redis where there is one.
 */
export function serversOf({ parts, hasLock }: Pick<Parts, 'parts' | 'hasLock'>): Omit<ServerBox, keyof Box>[] {
  const servers = parts.filter(({ kind }) => ORDER.includes(kind));
  const kindOfLock = hasLock && ORDER.find((kind) => servers.some((part) => part.kind === kind));
  const kindOfStock = ORDER.toReversed().find((kind) => kind !== 'replica' && servers.some((p) => p.kind === kind));
  const placed = ORDER.flatMap((kind) =>
    servers
      .filter((part) => part.kind === kind)
      .map((part) => ({
        part,
        hasLock: kind === kindOfLock && kind !== 'master',
        hasStock: kind === kindOfStock && kind !== 'master',
      })),
  );
  if (kindOfLock !== 'master') return placed;
  const masters = placed.filter(({ part }) => part.kind === 'master');
  return [...masters, { part: null, hasLock: true, hasStock: false }, ...placed.slice(masters.length)];
}

function heightOf({ hasLock, hasStock }: Pick<ServerBox, 'hasLock' | 'hasStock'>): number {
  return HEADER_HEIGHT + (hasLock ? LOCK_HEIGHT : 0) + (hasStock ? STOCK_HEIGHT : 0);
}

/** Where the lock is drawn in a server's box: the distance from its top. */
export const LOCK_TOP = HEADER_HEIGHT;

/** Where the stock is drawn in a server's box: the distance from its top. */
export function stockTop({ hasLock }: Pick<ServerBox, 'hasLock'>): number {
  return HEADER_HEIGHT + (hasLock ? LOCK_HEIGHT : 0);
}

function fromLeftToRight(stack: Parts, width: number, columns: (typeof COLUMNS)[number]): PictureLayout {
  const { parts, lines } = stack;
  const { lead: leadWidth, node: nodeWidth, server: serverWidth, nodeHeight } = columns;
  const nodesLeft = leadWidth + columns.gap;
  const nodeParts = parts.filter(({ kind }) => kind === 'node');
  const servers = serversOf(stack);
  const gapOf = (upper: Pick<ServerBox, 'part'>) => (upper.part?.kind === 'master' ? 5 : GAP);
  const serverHeights = servers.map(heightOf);
  const serversHeight = sum(serverHeights) + sum(servers.slice(0, -1).map(gapOf));
  const nodesHeight = nodeParts.length * (nodeHeight + GAP) - GAP;
  const height = Math.max(nodesHeight, serversHeight, nodeHeight) + 2 * EDGE;

  const nodesTop = (height - nodesHeight) / 2;
  const nodes = nodeParts.map((part, i) => ({
    part,
    x: nodesLeft,
    y: nodesTop + i * (nodeHeight + GAP),
    width: nodeWidth,
    height: nodeHeight,
  }));

  let top = (height - serversHeight) / 2;
  const serverBoxes = servers.map((server, i) => {
    const box = { ...server, x: width - serverWidth - EDGE, y: top, width: serverWidth, height: serverHeights[i] ?? 0 };
    top += box.height + gapOf(server);
    return box;
  });

  const nginxPart = parts.find(({ kind }) => kind === 'nginx');
  const middle = height / 2;
  const nginx = nginxPart && { part: nginxPart, x: EDGE, y: middle - 26, width: leadWidth, height: 52 };
  const buyers = {
    x: EDGE,
    y: nginx ? Math.max(EDGE, middle - 26 - 30 - 48) : middle - 24,
    width: leadWidth,
    height: 48,
  };
  const source = nginx ?? buyers;
  const ways = [
    ...(nginx ? [{ from: bottomOf(buyers), to: topOf(nginx) }] : []),
    ...nodes.map((node) => ({ from: rightOf(source), to: leftOf(node) })),
  ];
  const drawn = lines.flatMap((line) => {
    const from = nodes.find(({ part }) => part.name === line.from);
    const to = serverBoxes.find(({ part }) => part?.name === line.to);
    if (from === undefined || to === undefined) return [];
    const start = { x: from.x + from.width, y: from.y + from.height * share(line, lines, serverBoxes) };
    const end = { x: to.x, y: within(start.y, to.y, to.height) };
    return [{ line, from: start, to: end }];
  });
  const labels = labelsOf(
    drawn,
    ({ from, to }) => ({ x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }),
    width,
    width - serverWidth - EDGE - nodesLeft - nodeWidth,
  );
  return {
    width,
    height,
    buyers,
    nginx,
    nodes,
    servers: serverBoxes,
    ways,
    lines: drawn,
    labels: apart(labels, height),
  };
}

function fromTopToBottom(stack: Parts, width: number): PictureLayout {
  const { parts, lines } = stack;
  const half = (width - 2 * EDGE - GAP) / 2;
  const leadHeight = 44;
  const nodesTop = EDGE + leadHeight + 30;
  const nodes = parts
    .filter(({ kind }) => kind === 'node')
    .map((part, i) => ({ part, x: EDGE + i * (half + GAP), y: nodesTop, width: half, height: NODE_HEIGHT }));
  const nginxPart = parts.find(({ kind }) => kind === 'nginx');
  const buyers = { x: EDGE, y: EDGE, width: nginxPart ? half - 10 : width - 2 * EDGE, height: leadHeight };
  const nginx = nginxPart && {
    part: nginxPart,
    x: EDGE + half + GAP,
    y: EDGE,
    width: half,
    height: leadHeight,
  };

  const servers = serversOf(stack);
  const masters = servers.filter(({ part }) => part?.kind === 'master');
  const masterWidth = (width - 2 * EDGE - 4 * (masters.length - 1)) / Math.max(1, masters.length);
  const mastersTop = nodesTop + NODE_HEIGHT + 62;
  const masterBoxes = masters.map((server, i) => ({
    ...server,
    x: EDGE + i * (masterWidth + 4),
    y: mastersTop,
    width: masterWidth,
    height: 52,
  }));
  let top = mastersTop + (masters.length > 0 ? 52 + GAP : 0);
  const otherBoxes = servers.slice(masters.length).map((server) => {
    const box = { ...server, x: EDGE, y: top, width: width - 2 * EDGE, height: heightOf(server) };
    top += box.height + GAP;
    return box;
  });
  const boxes = [...masterBoxes, ...otherBoxes];
  const height = top - GAP + EDGE;

  const source = nginx ?? buyers;
  const ways = [
    ...(nginx ? [{ from: rightOf(buyers), to: leftOf(nginx) }] : []),
    ...nodes.map((node) => ({ from: bottomOf(source), to: topOf(node) })),
  ];
  const drawn = lines.flatMap((line) => {
    const from = nodes.find(({ part }) => part.name === line.from);
    const to = boxes.find(({ part }) => part?.name === line.to);
    if (from === undefined || to === undefined) return [];
    const start = { x: from.x + from.width * share(line, lines, boxes), y: from.y + from.height };
    const end = { x: within(start.x, to.x, to.width), y: to.y };
    return [{ line, from: start, to: end }];
  });
  // Below the nodes there is room for them, whatever server the line leads to.
  const labels = labelsOf(drawn, ({ from }) => ({ x: from.x, y: (from.y + mastersTop) / 2 }), width, half);
  return { width, height, buyers, nginx, nodes, servers: boxes, ways, lines: drawn, labels: apart(labels, height) };
}

/** Where a line leaves its node, as a share of the node's side: the lines of a node stand in the order of the servers. */
function share(line: Line, lines: Line[], servers: ServerBox[]): number {
  const place = ({ to }: Line) => servers.findIndex(({ part }) => part?.name === to);
  const own = lines.filter(({ from }) => from === line.from).toSorted((a, b) => place(a) - place(b));
  return (own.indexOf(line) + 1) / (own.length + 1);
}

/** What stands on the lines, if it can be in so much room. An open line that holds nothing has no label. */
function labelsOf(lines: DrawnLine[], middleOf: (line: DrawnLine) => Point, width: number, room: number): LineLabel[] {
  const said = lines.filter(({ line }) => line.held !== undefined || line.is !== 'open');
  const isAlike = (a: Line, b: Line) => a.from === b.from && a.held === b.held && a.is === b.is;
  const first = said.filter(({ line }, i) => said.findIndex((other) => isAlike(other.line, line)) === i);
  return first.map(({ line }) => {
    const { held, is } = line;
    const group = said.filter((other) => isAlike(other.line, line));
    const words = held === undefined ? texts.picture.line[is] : texts.picture.onLine(is);
    const wordsWidth = textWidth(words, LABEL_SIZE, true) + SIGN_WIDTH;
    const rows = held === undefined ? [] : inRows(held, Math.floor((room - LABEL_EDGE) / LETTER));
    const heldWidth = Math.max(0, ...rows.map((row) => row.length * LETTER));
    const labelWidth = Math.min(Math.max(wordsWidth, heldWidth) + LABEL_EDGE, width - 2 * EDGE);
    const middles = group.map(middleOf);
    const x = sum(middles.map((middle) => middle.x)) / middles.length;
    const y = sum(middles.map((middle) => middle.y)) / middles.length;
    const least = labelWidth / 2 + EDGE;
    const height = 30 + 22 * rows.length;
    return { held: rows, is, x: Math.min(Math.max(x, least), width - least), y, width: labelWidth, height };
  });
}

/** The name of a command in rows of at most so many letters, broken after a hyphen where it has one. */
export function inRows(name: string, most: number): string[] {
  const rows: string[] = [];
  for (const part of name.split(/(?<=-)/)) {
    const last = rows.at(-1);
    if (last !== undefined && last.length + part.length <= most) rows[rows.length - 1] = last + part;
    else rows.push(part);
  }
  return rows;
}

/** The labels moved, so that none lies upon another. */
function apart(labels: LineLabel[], height: number): LineLabel[] {
  const placed: LineLabel[] = [];
  for (const label of labels.toSorted((a, b) => a.y - b.y)) {
    const bottoms = placed.filter((other) => touchesInX(other, label)).map((other) => other.y + other.height / 2 + 3);
    placed.push({ ...label, y: Math.max(label.y, ...bottoms.map((bottom) => bottom + label.height / 2)) });
  }
  const tooLow = Math.max(0, ...placed.map((label) => label.y + label.height / 2 - height));
  return placed.map((label) => ({ ...label, y: label.y - tooLow }));
}

function touchesInX(a: LineLabel, b: LineLabel): boolean {
  return Math.abs(a.x - b.x) < (a.width + b.width) / 2 + 4;
}

/** A place on the side of a box that is as near as can be. */
function within(place: number, start: number, length: number): number {
  const edge = Math.min(16, length / 2);
  return Math.min(Math.max(place, start + edge), start + length - edge);
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

const leftOf = ({ x, y, height }: Box): Point => ({ x, y: y + height / 2 });
const rightOf = ({ x, y, width, height }: Box): Point => ({ x: x + width, y: y + height / 2 });
const topOf = ({ x, y, width }: Box): Point => ({ x: x + width / 2, y });
const bottomOf = ({ x, y, width, height }: Box): Point => ({ x: x + width / 2, y: y + height });
