// How wide a text is in the font of the page, and how it comes to fit its room.

/** The sizes in which a text may be drawn, in pixels. */
export const SMALLEST = 14;
export const SIZES = [18, 17, 16, 15, SMALLEST];
/** The least share of their width that letters are drawn with. */
const NARROWEST = 0.75;

/** Where no font can be measured each letter is as wide as this share of its size: in tests of the layout. */
const LETTER_IN_EMS = 0.6;

let pen: CanvasRenderingContext2D | null | undefined;

/** The width of a text in pixels. */
export function textWidth(text: string, size: number, isBold = false): number {
  pen ??= globalThis.document?.createElement('canvas').getContext('2d');
  if (!pen) return text.length * size * LETTER_IN_EMS * (isBold ? 1.07 : 1);
  pen.font = `${isBold ? 700 : 400} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

/** Cuts a text that is wider than its room. */
export function shorten(text: string, room: number, size: number, isBold = false): string {
  if (textWidth(text, size, isBold) <= room) return text;
  let kept = text;
  while (kept.length > 1 && textWidth(`${kept}…`, size, isBold) > room) kept = kept.slice(0, -1);
  return `${kept.trimEnd()}…`;
}

/** A text for its room. `length` is the width that its letters are to be drawn in, where they have to be narrower than they are. */
export interface Fitted {
  text: string;
  size: number;
  length?: number;
}

/** A text in one size: its letters are narrower where it is a little too wide, and it is cut where that does not help. */
export function narrowed(text: string, room: number, size: number, isBold = false): Fitted {
  const width = textWidth(text, size, isBold);
  if (width <= room) return { text, size };
  return width * NARROWEST > room ? { text: shorten(text, room, size, isBold), size } : { text, size, length: room };
}

/** A text for its room: smaller where it is too wide, then narrower, and cut where it is too wide all the same. */
export function fitted(text: string, room: number, isBold = false): Fitted {
  const size = SIZES.find((pixels) => textWidth(text, pixels, isBold) <= room) ?? SMALLEST;
  return narrowed(text, room, size, isBold);
}
