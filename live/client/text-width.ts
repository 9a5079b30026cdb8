// How wide a text is in the font of the page, and how it comes to fit its room.

/** The sizes in which a text may be drawn, in pixels. */
export const SMALLEST = 14;
export const SIZES = [18, 17, 16, 15, SMALLEST];

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

/** A text for its room: smaller where it is too wide, and cut where it is too wide all the same. */
export function fitted(text: string, room: number, isBold = false): { text: string; size: number } {
  const size = SIZES.find((pixels) => textWidth(text, pixels, isBold) <= room) ?? SMALLEST;
  return { text: shorten(text, room, size, isBold), size };
}
