// The picture: two nodes, the wires, Redis and the till, at a position between two beats. A pure function of the position, so that one can
// play it, step through it, scrub, and draw an exact moment for a page that doesn't move.

import { html } from 'htm/preact';
import { inLanguage } from '../../loadtest/narration/language.ts';
import type { Beat, Beats, Command, Scene } from './beats.ts';
import { type Layout, layoutOf, type Size } from './layout.ts';
import { Node, Twins } from './nodes.ts';
import { written, writtenReply } from './say.ts';
import { Lock, Stock, Till } from './servers.ts';
import { colour, ease, fitted, part, Text, type Touched, Who } from './shapes.ts';

export interface PictureProps {
  beats: Beats;
  /** 3.4 is 40 % into the fourth beat. */
  pos: number;
  size: Size;
  stage: string;
  leaseMs: number;
  /** A description of the picture for screen readers. */
  label: string;
}

/** How far into a beat Redis executes the command. */
export const DOES = 0.48;
/** And when the command arrives, when the reply leaves, and when the node has it. */
const [ARRIVES, LEAVES, HEARD] = [0.42, 0.56, 0.92];
/** How far into a beat without a command its change is visible. */
const CHANGES = 0.45;
/** The most tries in a row to draw. */
const MOST_LAPS = 3;

/** What is visible at a position between two beats. */
function momentOf({ beats, scenes }: Beats, pos: number) {
  const index = Math.max(0, Math.min(beats.length - 1, Math.floor(pos)));
  const beat = beats[index] as Beat;
  const [before, after] = [scenes[index] as Scene, scenes[index + 1] as Scene];
  const phase = Math.min(1, pos - index);
  const { command, kind, times } = beat;
  const isFolded = kind === 'tries' || kind === 'renews';
  const laps = isFolded ? Math.min(times, MOST_LAPS) : 1;
  const isHeard = phase >= (command === undefined ? CHANGES : kind === 'arrive' ? DOES : HEARD);
  return {
    index,
    isMoving: phase > 0 && phase < 1,
    /** The current or last beat. */
    beat: phase > 0 ? beat : beats[index - 1],
    phase: phase < 1 ? (phase * laps) % 1 : 1,
    redis: phase < (command === undefined ? CHANGES : DOES) ? before : after,
    sales: isHeard ? after : trying(before, beat, phase),
    at: before.at + (after.at - before.at) * part(phase, 0, isFolded ? HEARD : ARRIVES),
    held: kind === 'arrive' && phase > 0 ? undefined : (phase === 1 ? after : before).onWire,
  };
}

/** Tries in a row are counted one by one. */
function trying(scene: Scene, { kind, sale, times }: Beat, phase: number): Scene {
  if (kind !== 'tries') return scene;
  const tried = (tries: number) => tries + Math.floor(times * phase);
  return {
    ...scene,
    sales: scene.sales.map((each) => (each.sale === sale ? { ...each, tries: tried(each.tries) } : each)),
  };
}

export function Picture({ beats, pos, size: real, stage, leaseMs, label }: PictureProps) {
  const layout = layoutOf(real);
  const { size, redis, isUpright } = layout;
  const moment = momentOf(beats, pos);
  const { beat, phase, isMoving, held, sales } = moment;
  const names = Object.keys(sales.nodes);
  const touched = touchedBy(moment);
  const shared = { place: beats.place, stage, isUpright };
  return html`<svg class="picture" viewBox=${`0 0 ${size.w} ${size.h}`} width=${real.w} height=${real.h}
    role="img" aria-label=${label}>
    ${layout.wires.map(({ from, to }, node) => {
      const name = names[node] as string;
      const isCut = sales.cut.includes(name) || sales.nodes[name] === 'killed';
      return html`<line class=${isCut ? 'wire cut' : 'wire'} x1=${from[0]} y1=${from[1]} x2=${to[0]} y2=${to[1]} />`;
    })}
    ${layout.nodes.map((box, node) => html`<${Node} name=${names[node]} box=${box} scene=${sales} active=${beat?.sale ?? ''} lock=${moment.redis} ...${shared} />`)}
    <${Twins} nodes=${layout.nodes} scene=${sales} isUpright=${isUpright} />
    <g class="redis">
      <rect class="box" x=${redis.x} y=${redis.y} width=${redis.w} height=${redis.h} rx="12" />
      <${Text} class="title" x=${redis.x + 14} y=${redis.y + (isUpright ? 16 : 19)} texts=${['Redis']} room=${redis.w - 28} isBold />
      <${Stock} box=${layout.stock} scene=${moment.redis} touched=${touched.stock} isUpright=${isUpright} />
      <${Lock} box=${layout.lock} scene=${moment.redis} touched=${touched.lock} place=${beats.place} at=${moment.at} leaseMs=${leaseMs} isUpright=${isUpright} />
    </g>
    <${Till} box=${layout.till} scene=${sales} isUpright=${isUpright} />
    ${held && html`<${Message} layout=${layout} node=${names.indexOf(held.node)} sale=${held.sale} share=${0.5} texts=${wordsOf(held.command).flatMap(asHeld)} kind="held" />`}
    ${isMoving && beat?.command && html`<${Trip} layout=${layout} node=${names.indexOf(beat.node)} beat=${beat} command=${beat.command} phase=${phase} isBesideHeld=${held !== undefined} />`}
  </svg>`;
}

/** The part of Redis that the current command touches. */
function touchedBy({ beat, phase, isMoving }: ReturnType<typeof momentOf>): { stock?: Touched; lock?: Touched } {
  if (beat === undefined || beat.kind === 'hold') return {};
  const { command, kind, breaks, sale } = beat;
  if ((isMoving && phase < ARRIVES) || (command === undefined && kind !== 'lease-end')) return {};
  const isBad = breaks.includes('freed-other') || breaks.includes('overwritten');
  const touched = {
    colour: isBad ? 'bad' : colour(sale),
    flash: isMoving ? 1 - part(phase, LEAVES, HEARD) : 0,
  };
  return command?.about === 'stock' ? { stock: touched } : { lock: touched };
}

/** A command's text, shorter if there is no room. */
function wordsOf(command: Command): string[] {
  const all = written(command).split(' ');
  return all.map((_, left) => all.slice(0, all.length - left).join(' '));
}

const asHeld = (command: string) => [inLanguage([`held: ${command}`, `滞留：${command}`])];

interface TripProps {
  layout: Layout;
  node: number;
  beat: Beat;
  command: Command;
  phase: number;
  isBesideHeld: boolean;
}

/** A command travels to Redis, and its reply comes back. */
function Trip({ beat, command, phase, ...way }: TripProps) {
  const { kind, sale, times, breaks } = beat;
  const texts = wordsOf(command).map((words) => (times > 1 ? `${words} ×${times}` : words));
  if (kind === 'hold')
    return html`<${Message} ...${way} sale=${sale} share=${ease(phase) / 2} texts=${texts} kind="command" />`;
  if (phase < LEAVES) {
    const start = kind === 'arrive' ? 0.5 : 0;
    const share = start + ease(part(phase, 0, ARRIVES)) * (1 - start);
    return html`<${Message} ...${way} sale=${sale} share=${share} texts=${texts} kind="command" />`;
  }
  // Nobody waits any more for the reply to what was held.
  if (kind === 'arrive') return null;
  const isRefused = command.act === 'write-refused' || command.act === 'release-refused';
  const tone = breaks.length > 0 ? ' bad' : isRefused ? ' good' : '';
  const share = 1 - ease(part(phase, LEAVES, HEARD));
  const reply = writtenReply(command);
  return html`<${Message} ...${way} sale=${sale} share=${share} texts=${[reply]} kind=${`reply${tone}`} opacity=${1 - part(phase, HEARD, 1)} />`;
}

interface MessageProps {
  layout: Layout;
  node: number;
  sale: string;
  /** How far along the way to Redis it is. */
  share: number;
  texts: string[];
  kind: string;
  opacity?: number;
  /** Another command is held there: this one keeps clear of it. */
  isBesideHeld?: boolean;
}

/** A message on the wire: a dot in the colour of its sale, and its text. */
function Message({ layout, node, sale, share, texts, kind, opacity = 1, isBesideHeld }: MessageProps) {
  const { from, to } = layout.wires[node] ?? { from: [0, 0], to: [0, 0] };
  const [x, y] = [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
  const { isUpright, size } = layout;
  const isHeld = kind === 'held';
  const h = isUpright ? 22 : 26;
  const ownHalf = node === 0 ? [2, size.w / 2 - 2] : [size.w / 2 + 2, size.w - 2];
  const [least, most] = (
    !isUpright ? [from[0] + 5, to[0] - 5] : isHeld || isBesideHeld ? ownHalf : [2, size.w - 2]
  ) as [number, number];
  const fit = fitted({ texts, room: most - least - 20, size: 13, isMono: true });
  const w = (fit?.width ?? 0) + 20;
  const left = Math.max(least, Math.min(most - w, x - w / 2));
  const lowest = to[1] - h - (isBesideHeld ? h + 8 : 3);
  const beside = isHeld ? to[1] - h - 3 : Math.min(lowest, y + 14);
  const top = !isUpright ? y + (isHeld ? 15 : -15 - h) : share > 0.5 && !isHeld ? Math.min(lowest, y - h - 14) : beside;
  return html`<g class=${`message ${colour(sale)} ${kind}`} opacity=${opacity}>
    ${
      fit &&
      html`<g class="pill"><rect x=${left} y=${top} width=${w} height=${h} rx=${h / 2} />
      <${Text} x=${left + w / 2} y=${top + h / 2} texts=${[fit.text]} room=${w - 20} size=${13} isMono anchor="middle" /></g>`
    }
    <${Who} sale=${sale} x=${x} y=${y} r=${isUpright ? 10 : 11} />
  </g>`;
}
