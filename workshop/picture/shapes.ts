// The shapes of the pictures.

import { html } from 'htm/preact';
import { type Weight, widthOf } from './layout.ts';

/** A sale's colour, as a CSS class. */
export const colour = (sale: string) => (/^[A-D]$/.test(sale) ? `c-${sale}` : 'c-none');
/** The text in a sale's circle: its letter, or its number at its node. */
export const letter = (sale: string) => sale.replace(/^0+/, '');

export const ease = (share: number) => (share < 0.5 ? 2 * share * share : 1 - (2 - 2 * share) ** 2 / 2);
/** How far a moment lies between two others, from 0 to 1. */
export const part = (phase: number, from: number, to: number) => Math.max(0, Math.min(1, (phase - from) / (to - from)));

const SMALLEST = 11.5;

interface Words extends Weight {
  /** Alternative texts for the same thing, best first. */
  texts: string[];
  room: number;
  size?: number | undefined;
}

/** The first text that fits, and its size: texts shrink before a shorter one is used. */
export function fitted({ texts, room, size = 14, ...weight }: Words) {
  const text = texts.find((each) => widthOf(each, weight) * Math.min(SMALLEST, size) <= room);
  if (text === undefined) return undefined;
  const width = Math.max(1, widthOf(text, weight));
  const fontSize = Math.min(size, room / width);
  return { text, size: fontSize, width: width * fontSize };
}

interface TextProps extends Words {
  x: number;
  /** Its middle. */
  y: number;
  anchor?: 'start' | 'middle' | 'end';
  class?: string;
}

/** A line of text; nothing if no text fits. */
export function Text({ x, y, anchor = 'start', class: kind = '', ...words }: TextProps) {
  const fit = fitted(words);
  if (fit === undefined) return null;
  return html`<text class=${words.isMono ? `${kind} mono` : kind} x=${x} y=${y} dy=".35em" font-size=${fit.size}
    font-weight=${words.isBold ? 700 : 400} text-anchor=${anchor}>${fit.text}</text>`;
}

interface WhoProps {
  sale: string;
  x: number;
  y: number;
  r: number;
  class?: string;
}

/** A sale as a circle with its letter. */
export function Who({ sale, x, y, r, class: kind = 'who' }: WhoProps) {
  const name = letter(sale);
  return html`<circle class=${kind} cx=${x} cy=${y} r=${r} />
    <${Text} class="letter" x=${x} y=${y} texts=${[name]} room=${2 * r - 3} size=${Math.min(17, r * 1.2)} isBold anchor="middle" />`;
}

/** A part of Redis that a command touches. */
export interface Touched {
  /** A class. */
  colour: string;
  /** From 1 when it happens, down to 0. */
  flash: number;
}
