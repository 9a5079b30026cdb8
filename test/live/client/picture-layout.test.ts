import { describe, expect, test } from 'vitest';
import { type Box, inRows, layoutPicture, serversOf } from '../../../live/client/picture-layout.ts';
import type { Line, Part } from '../../../live/contract.ts';
import { line, part, view } from './sample-view.ts';

const nodes = [part('nginx', 'nginx'), part('node-1', 'node'), part('node-2', 'node')];
const masters = [1, 2, 3, 4, 5].map((i) => part(`master-${i}`, 'master'));
const linesTo = (servers: Part[], more: Partial<Line> = {}) =>
  servers.flatMap(({ name }) => ['node-1', 'node-2'].map((node) => line(node, name, more)));

const stacks: Record<string, { parts: Part[]; lines: Line[] }> = {
  'one Redis': view,
  'a Redis and its replica': {
    parts: [...nodes, part('redis', 'redis'), part('replica', 'replica')],
    lines: linesTo([part('redis', 'redis')], { held: 'release-if-owner' }),
  },
  'five masters': {
    parts: [...nodes, part('redis', 'redis'), ...masters],
    lines: linesTo([part('redis', 'redis'), ...masters], { is: 'cut', held: 'DEL' }),
  },
  ZooKeeper: {
    parts: [...nodes, part('redis', 'redis'), part('zookeeper', 'zookeeper')],
    lines: linesTo([part('redis', 'redis'), part('zookeeper', 'zookeeper')], { is: 'slow' }),
  },
  'no server yet': { parts: [], lines: [] },
};
const widths = [320, 368, 429, 430, 579, 610, 790, 1_240];
const cases = Object.keys(stacks).flatMap((name) => widths.map((width) => [name, width] as const));

const meet = (a: Box, b: Box) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
/** The frame of a label, whose point is its middle. */
const frameOf = (label: Box): Box => ({ ...label, x: label.x - label.width / 2, y: label.y - label.height / 2 });

describe.each(cases)('picture of %s in %i pixels', (name, width) => {
  const layout = layoutPicture({ ...view, ...stacks[name] }, width);
  const boxes = [layout.buyers, ...(layout.nginx ? [layout.nginx] : []), ...layout.nodes, ...layout.servers];
  const labels = layout.labels.map(frameOf);

  test('has everything inside its frame', () => {
    const outside = [...boxes, ...labels].filter(
      (box) => !(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= layout.height),
    );
    expect(outside).toEqual([]);
  });

  test('has no two parts upon each other, and no two labels', () => {
    for (const all of [boxes, labels]) {
      const meeting = all.flatMap((box, i) => all.slice(i + 1).filter((other) => meet(box, other)));
      expect(meeting).toEqual([]);
    }
  });

  test('has each line between its node and its server', () => {
    for (const { line, from, to } of layout.lines) {
      const node = layout.nodes.find(({ part }) => part.name === line.from);
      const server = layout.servers.find(({ part }) => part?.name === line.to);
      expect(node && touches(node, from)).toBe(true);
      expect(server && touches(server, to)).toBe(true);
    }
  });
});

function touches({ x, y, width, height }: Box, point: { x: number; y: number }): boolean {
  return point.x >= x && point.x <= x + width && point.y >= y && point.y <= y + height;
}

describe('picture: where the lock and the stock are', () => {
  const placed = (parts: Part[], hasLock = true) =>
    serversOf({ parts, hasLock }).map(({ part, hasLock, hasStock }) => [part?.name ?? 'votes', hasLock, hasStock]);

  test('both in Redis, where there is nothing else', () => {
    expect(placed([...nodes, part('replica', 'replica'), part('redis', 'redis')])).toEqual([
      ['redis', true, true],
      ['replica', false, false],
    ]);
  });

  test('the lock with the masters, in ZooKeeper or in MySQL, where they play', () => {
    expect(placed([part('redis', 'redis'), ...masters.slice(0, 1)])).toEqual([
      ['master-1', false, false],
      ['votes', true, false],
      ['redis', false, true],
    ]);
    expect(placed([part('redis', 'redis'), part('zookeeper', 'zookeeper')])).toEqual([
      ['zookeeper', true, false],
      ['redis', false, true],
    ]);
    expect(placed([part('mysql', 'mysql')])).toEqual([['mysql', true, true]]);
  });

  test('the stock alone, where sales take no lock', () => {
    expect(placed([part('mysql', 'mysql')], false)).toEqual([['mysql', false, true]]);
  });
});

test('picture: a line that is open and holds nothing has no label', () => {
  const lines = [line('node-1', 'redis'), line('node-2', 'redis', { held: 'DEL' })];
  expect(layoutPicture({ ...view, lines }, 790).labels.map(({ held }) => held)).toEqual([['DEL']]);
});

test('picture: what is to be said of several lines of a node is said once', () => {
  const servers = [part('redis', 'redis'), ...masters];
  const { labels } = layoutPicture(
    { ...view, parts: [...nodes, ...servers], lines: linesTo(servers, { is: 'cut' }) },
    790,
  );
  expect(labels.map(({ is }) => is)).toEqual(['cut', 'cut']);
});

test('picture: a line to a part that is not there is not drawn', () => {
  expect(layoutPicture({ ...view, lines: [line('node-1', 'mysql'), line('node-3', 'redis')] }, 790).lines).toEqual([]);
});

test('picture: the name of a command is broken after hyphens where it has too many letters', () => {
  expect(inRows('release-if-owner', 20)).toEqual(['release-if-owner']);
  expect(inRows('release-if-owner', 12)).toEqual(['release-if-', 'owner']);
  expect(inRows('release-if-owner', 3)).toEqual(['release-', 'if-', 'owner']);
  expect(inRows('DEL', 1)).toEqual(['DEL']);
});
