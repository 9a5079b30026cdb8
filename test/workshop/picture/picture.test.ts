import type { VNode } from 'preact';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { speak } from '../../../loadtest/narration/language.ts';
import { readScenario } from '../../../loadtest/scenarios/read.ts';
import { asDrill } from '../../../loadtest/scenarios/scenario.ts';
import { playDrill } from '../../../loadtest/worlds/simulated/play.ts';
import { playingIn } from '../../../loadtest/worlds/simulated/playing.ts';
import { lockKey } from '../../../services/inventory/servers/store.ts';
import type { Lab } from '../../../simulation/lab.ts';
import { type Beats, beatsOf } from '../../../workshop/picture/beats.ts';
import { DOES, Picture } from '../../../workshop/picture/picture.ts';

const LEASE_MS = 500;
const lease = `a lease lasts ${LEASE_MS} ms\n\n`;
const ends = 'all sales end\n\nholds when no sale is lost';
/** Each shows what the others do not. */
const pages: [name: string, stage: string, page: string][] = [
  ['same read', '0-none', 'A sells at node-1\nB sells at node-2\n'],
  ['a mutex', '1-in-process', 'A sells at node-1\nB sells at node-1\n'],
  ...(['2-recursive-retry', '3-spin'] as const).map((stage): [string, string, string] => {
    return [
      'a waiter',
      stage,
      'A sells at node-1 and is held inside\nB sells at node-2\n400 ms pass\nA resumes\nA ends\n',
    ];
  }),
  [
    'a held release',
    '5-owner-check',
    `${lease}A sells at node-1 and is held inside
A resumes, and its release is held on the way to Redis
B sells at node-2 and is held inside, or waits for 3 leases
the next sales at node-2 take 40 ms each
C sells at node-2
the release of A arrives
100 ms pass
B resumes
B ends
the connection of node-1 is restored
`,
  ],
  [
    'a late write',
    'fenced',
    `${lease}A sells at node-1 for 200 ms and is inside
node-1 is paused (SIGSTOP)
B sells at node-2, and gives up after 4 leases
node-1 resumes (SIGCONT)
`,
  ],
  [
    'cut off',
    '8-auto-renew',
    `${lease}A sells at node-1 and is held inside
node-1 is cut off from the servers of its lock
node-2 sells what it can, for 2.5 leases
node-1 reaches the servers of its lock again
A resumes
A ends
`,
  ],
  ['a crash', '4-ttl', `${lease}A sells at node-1 and is held inside\nnode-1 is killed (SIGKILL)\nB sells at node-2\n`],
];

async function played([name, stage, page]: (typeof pages)[number]): Promise<{
  name: string;
  stage: string;
  beats: Beats;
}> {
  let lab: Lab | undefined;
  const disturb = (opened: Lab) => {
    opened.watchRedis(lockKey('001', stage));
    lab = opened;
  };
  const text = `${name.replaceAll(' ', '-')}\nIs a unit sold twice?\n\n${page}${ends}`;
  await playDrill(asDrill(readScenario(text)), stage, { disturb });
  const place = stage === '0-none' ? 'none' : stage === '1-in-process' ? 'node' : 'redis';
  return { name: `${name}, ${stage}`, stage, beats: beatsOf(playingIn(lab as Lab), place) };
}

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}
interface Drawn {
  text: string;
  box: Box;
  /** The box that it stands in, and the message that it is of. */
  within: Box;
  kind: string;
}
type Props = Record<string, unknown>;
type Element = VNode<Props>;

/** What is drawn in the end, whatever parts it is made of. */
function elementsOf(node: unknown): Element[] {
  if (Array.isArray(node)) return node.flatMap(elementsOf);
  if (node === null || typeof node !== 'object') return [];
  const { type, props } = node as Element;
  return typeof type === 'function' ? elementsOf((type as (given: Props) => unknown)(props)) : [node as Element];
}

/** The texts of a picture, each with the box around it: a guess at its width, as fonts differ. */
function textsIn(elements: Element[], within: Box, kind = ''): Drawn[] {
  return elements.flatMap(({ type, props }) => {
    if (type === 'text') {
      const text = [props['children']].flat().join('');
      return [{ text, box: boxOf(text, props), within, kind }];
    }
    const inner = elementsOf(props['children']);
    const { x, y, width, height }: Props = inner.find((each) => each.type === 'rect')?.props ?? {};
    const box =
      width === undefined || type !== 'g'
        ? within
        : { x: Number(x), y: Number(y), w: Number(width), h: Number(height) };
    return textsIn(inner, box, `${kind} ${props['class']}`);
  });
}

function boxOf(text: string, props: Props): Box {
  const size = Number(props['font-size']);
  const narrow = props['font-weight'] === 700 ? 0.66 : 0.6;
  const letters = Array.from(text, (letter) => (/[\u2e80-\uffff]/.test(letter) ? 1 : narrow));
  const w = size * letters.reduce((sum, width) => sum + width, 0);
  const left = { start: 0, middle: w / 2, end: w }[String(props['text-anchor'])] ?? 0;
  // A letter without what is above and below it.
  return { x: Number(props['x']) - left, y: Number(props['y']) - size * 0.37, w, h: size * 0.74 };
}

const isIn = (inner: Box, outer: Box) =>
  inner.x >= outer.x - 0.1 &&
  inner.y >= outer.y - 0.1 &&
  inner.x + inner.w <= outer.x + outer.w + 0.1 &&
  inner.y + inner.h <= outer.y + outer.h + 0.1;
const meet = (one: Box, other: Box) =>
  Math.min(one.x + one.w, other.x + other.w) - Math.max(one.x, other.x) > 0.1 &&
  Math.min(one.y + one.h, other.y + other.h) - Math.max(one.y, other.y) > 0.1;

const sizes = [
  { w: 360, h: 430 },
  { w: 620, h: 340 },
  { w: 796, h: 380 },
  { w: 2_540, h: 1_200 },
];

describe('the picture: no text leaves its box or covers another one', () => {
  let all: Awaited<ReturnType<typeof played>>[] = [];
  beforeAll(async () => {
    vi.stubGlobal('document', { documentElement: {} });
    all = await Promise.all(pages.map(played));
    return () => {
      speak('en');
      vi.unstubAllGlobals();
    };
  });

  test.each(['en', 'zh'] as const)('%s', (language) => {
    speak(language);
    const wrong = new Set<string>();
    for (const { name, stage, beats } of all)
      for (const size of sizes)
        for (const pos of beats.scenes.flatMap((_, scene) => [scene, scene + DOES]))
          for (const found of wrongIn({ beats, stage, size, pos: Math.min(pos, beats.beats.length) }))
            wrong.add(`${name} at ${size.w}: ${found}`);
    expect([...wrong]).toEqual([]);
  });

  function wrongIn(shown: Pick<Parameters<typeof Picture>[0], 'beats' | 'stage' | 'size' | 'pos'>): string[] {
    const svg = Picture({ ...shown, leaseMs: LEASE_MS, label: '' }) as Element;
    const [, , w = 0, h = 0] = String(svg.props['viewBox']).split(' ').map(Number);
    const texts = textsIn([svg], { x: 0, y: 0, w, h });
    const outside = texts.filter(({ box, within }) => !isIn(box, within)).map(({ text }) => `${text} leaves its box`);
    const over = texts.flatMap((one, index) => {
      // Two messages may pass each other.
      const others = texts.slice(index + 1).filter((each) => !(/message/.test(one.kind) && /message/.test(each.kind)));
      return others.filter((other) => meet(one.box, other.box)).map((other) => `${one.text} over ${other.text}`);
    });
    return [...outside, ...over];
  }
});
