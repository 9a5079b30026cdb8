// The first step of the lesson as pictures: an animation for the README, and a still of its end, drawn by the page's code.

import { join } from 'node:path';
import { html } from 'htm/preact';
import { toChildArray, type VNode } from 'preact';
import { render } from 'preact-render-to-string/jsx';
import { readScenario } from '../../loadtest/scenarios/read.ts';
import { asDrill } from '../../loadtest/scenarios/scenario.ts';
import { playDrill } from '../../loadtest/worlds/simulated/play.ts';
import { playingIn } from '../../loadtest/worlds/simulated/playing.ts';
import { lockKey } from '../../services/inventory/servers/store.ts';
import { bundleText } from '../../simulation/esbuild.ts';
import type { Lab } from '../../simulation/lab.ts';
import { projectDir } from '../../stack/parts.ts';
import { shownOf } from '../page/view/cells.ts';
import { beatAt, rhythmOf, toneAt } from '../page/view/playing.ts';
import { widthOf } from '../picture/layout.ts';
import { type Lesson, lessons } from '../picture/lessons.ts';
import { Picture } from '../picture/picture.ts';
import { partsOf, sayOf } from '../picture/say.ts';
import { colour } from '../picture/shapes.ts';
import type { Shown } from '../picture/shown.ts';
import { SHARE } from './site.ts';

export const themes = ['light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const race = lessons[0] as Lesson;
const TITLE = 'Why does a shop sell a unit twice?';

/** The length of the animation, and how long its end is shown, in milliseconds. */
const [FILM_MS, END_MS] = [6_000, 2_500];
const FRAME_MS = 50;
const EDGE = 16;
/** The room for the sentence above the picture. */
const HEAD = 72;
const PICTURE = { w: 848, h: 390 };
const FILM = { w: PICTURE.w + 2 * EDGE, h: PICTURE.h + HEAD + 2 * EDGE };

/** Two buyers at the same moment, and no lock, in simulated time. */
export async function playRace(): Promise<Shown> {
  let lab: Lab | undefined;
  const disturb = (opened: Lab) => {
    lab = opened;
    opened.watchRedis(lockKey('001', race.stage));
  };
  const { outcome } = await playDrill(asDrill(readScenario(race.page(race.usual))), race.stage, { disturb });
  const record = { verdict: outcome.verdict, reasons: outcome.reasons };
  return shownOf({ stage: race.stage, wanted: race }, { record, events: playingIn(lab as Lab) });
}

interface Frame {
  pos: number;
  /** How long it is shown. */
  ms: number;
}

/** Like in the page, but at the animation's speed. */
function framesOf(shown: Shown): Frame[] {
  const { count, beatMs, readMs } = rhythmOf(shown);
  const beats = Array.from({ length: count }, (_, at) => ({ at, ms: beatMs(at), rest: readMs(at) }));
  const factor = FILM_MS / beats.reduce((sum, { ms, rest }) => sum + ms + rest, 0);
  return beats.flatMap(({ at, ms, rest }) => {
    const frames = Math.max(1, Math.round((ms * factor) / FRAME_MS));
    const moving = Array.from({ length: frames }, (_, frame) => ({
      pos: at + frame / frames,
      ms: (ms * factor) / frames,
    }));
    return [...moving, { pos: at + 1, ms: rest * factor + (at + 1 === count ? END_MS : 0) }];
  });
}

/** As XML, because an SVG file is not HTML. A hundredth of a pixel is precise enough. */
const textOf = (part: VNode) =>
  render(part, {}, { jsx: false, pretty: false, xml: true }).replace(/(\.\d\d)\d+(?=")/g, '$1');

/** What is drawn at a moment, part by part. */
const partsAt = (shown: Shown, pos: number) => {
  const { beats, stage } = shown;
  const { props } = Picture({ beats, pos, stage, leaseMs: beats.leaseMs, size: PICTURE, label: '' }) as VNode<{
    children: VNode[];
  }>;
  const picture = toChildArray(props.children).map((part) => textOf(part as VNode));
  return [...picture, textOf(html`<${Sentence} shown=${shown} pos=${pos} y=${-HEAD} />` as VNode)];
};

/** The animation of a playing as an SVG without scripts. With reduced motion it shows its last frame, which is the only frame if `isStill`. */
export async function filmOf(shown: Shown, theme: Theme, isStill = false): Promise<string> {
  const frames = framesOf(shown).slice(isStill ? -1 : 0);
  const all = frames.reduce((sum, { ms }) => sum + ms, 0);
  const share = (ms: number) => `${((100 * ms) / all).toFixed(2)}%`;
  // Most of a frame is as in the frame before: each part is written once.
  const parts = new Map<string, number>();
  const numberOf = (part: string) => parts.get(part) ?? parts.set(part, parts.size).size - 1;
  let at = 0;
  const rules = ['.frame:not(:last-child) { visibility: hidden }'];
  const groups = frames.map(({ pos, ms }, index) => {
    const [from, to] = [share(at), share(at + ms)];
    at += ms;
    const begins = index === 0 ? '' : '0% { visibility: hidden } ';
    const ends = index === frames.length - 1 ? '' : ` ${to} { visibility: hidden }`;
    rules.push(`@keyframes f${index} { ${begins}${from} { visibility: visible }${ends} }`);
    const uses = partsAt(shown, pos).map((part) => `<use href="#p${numberOf(part)}"/>`);
    return `<g class="frame" style="animation-name: f${index}">${uses.join('')}</g>`;
  });
  rules.push(
    `@media (prefers-reduced-motion: no-preference) { .frame { animation: ${Math.round(all)}ms step-end infinite } }`,
  );
  // A part knows nothing of what is around the place where it is used.
  const defs = [...parts].map(([part, number]) => `<g id="p${number}" class="picture">${part}</g>`).join('\n');
  return svgOf(FILM, theme, [await styleOf(rules), `<defs>${defs}</defs>`, ...moved(EDGE, EDGE + HEAD, groups)]);
}

/** The deciding moment and the question, in the size of a link preview. */
export async function stillOf(shown: Shown, theme: Theme): Promise<string> {
  const { beats, stage } = shown;
  const size = { w: SHARE.w - 96, h: 416 };
  const title = html`<text x="0" y="48" font-size="52" font-weight="700">${TITLE}</text>`;
  const parts = [
    title,
    html`<${Sentence} shown=${shown} pos=${beats.beats.length} y=${64} />`,
    html`<g transform="translate(0 140)"><${Picture} beats=${beats} pos=${beats.beats.length} size=${size} stage=${stage}
      leaseMs=${beats.leaseMs} label="" /></g>`,
  ];
  return svgOf(SHARE, theme, [
    await styleOf([]),
    ...moved(
      48,
      40,
      parts.map((part) => textOf(part as VNode)),
    ),
  ]);
}

interface SentenceProps {
  shown: Shown;
  pos: number;
  /** Its upper end. */
  y: number;
}

/** What happened, and its consequence, with coloured sales. */
function Sentence({ shown, pos, y }: SentenceProps) {
  const { beats, stage } = shown;
  const index = beatAt(pos);
  const [big, small] = index < 0 ? [race.problem, race.change] : Object.values(sayOf(beats, index, { stage }));
  const line = (text: string, kind: string, top: number, size: number) => html`<text class=${kind} y=${top}
    font-size=${Math.min(size, PICTURE.w / Math.max(1, widthOf(partsOf(text).join(''), {})))}>
    ${partsOf(text).map((part, at) => (at % 2 === 1 ? html`<tspan class=${`name ${colour(part)}`}>${part}</tspan>` : part))}
  </text>`;
  return html`${line(big[0], `said ${toneAt(shown, pos) ?? ''}`, y + 28, 26)}${line(small[0], 'follows', y + 56, 18)}`;
}

const moved = (x: number, y: number, parts: string[]) => [`<g transform="translate(${x} ${y})">`, ...parts, '</g>'];

/** The theme is chosen at the root, like on the page. */
const svgOf = ({ w, h }: typeof FILM, theme: Theme, [style = '', ...parts]: string[]) =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" class="picture" data-theme="${theme}" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}">`,
    `<title>${TITLE}</title>`,
    `<style>${style}</style>`,
    `<rect class="ground" width="${w}" height="${h}" rx="14"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');

async function styleOf(rules: string[]): Promise<string> {
  const own = `.ground { fill: var(--ground) }
    .picture .said { font-weight: 700 } .picture .said.bad { fill: var(--bad) }
    .picture .name { fill: var(--text); font-weight: 800 } .picture .follows { fill: var(--muted) }`;
  const entryPoints = [join(projectDir, 'workshop/picture/picture.css')];
  const { text } = await bundleText({ entryPoints, minify: true });
  return [text, own, ...rules].join('\n');
}
