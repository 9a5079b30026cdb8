// How wide a text is in a common sans-serif font, where nothing can be measured.

/** The sizes in which a text may be drawn, in pixels. */
export const SMALLEST = 14;
export const SIZES = [18, 17, 16, 15, SMALLEST];

/** The width of a text in pixels, on the wide side. */
export function textWidth(text: string, size: number, isBold = false): number {
  let ems = 0;
  for (const letter of text) ems += widthInEms(letter);
  return ems * size * (isBold ? 1.07 : 1);
}

function widthInEms(letter: string): number {
  if (/[\sijltfrI.,:;'|!()[\]-]/.test(letter)) return 0.34;
  if (/[mwMW—…]/.test(letter)) return 0.9;
  return /[A-Z]/.test(letter) ? 0.72 : 0.57;
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
