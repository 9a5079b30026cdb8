// What a test reads in a page: its commands, its links, and the anchors that others may link to.

const FENCE = /^( *)```(\w*)[^\n]*\n(.*?)^\1```/gms;

/** Blanks in the place of the text, with its line ends, so that what follows keeps its place. */
const blank = (text: string) => text.replace(/[^\n]/g, ' ');

/** The page without its blocks of code. */
function proseOf(page: string): string {
  return page.replace(FENCE, blank);
}

/** The pieces of code that stand in the text. Every one is read, so that what stands between two of them is not taken for one. */
export function inlineCodeOf(page: string): string[] {
  const pieces = proseOf(page).matchAll(/`((?:[^`\n]|\n(?!\s*\n))+)`/g);
  return [...pieces].map(([, code = '']) => code.replace(/\s+/g, ' '));
}

/** The command lines of a page: of its blocks for a shell, and of its inline code that calls npm. Comments are taken off. */
export function commandLinesOf(page: string): string[] {
  const blocks = [...page.matchAll(FENCE)]
    .filter(([, , language = '']) => /^(sh|bash)$/.test(language))
    .flatMap(([, , , body = '']) => body.replace(/\\\n\s*/g, ' ').split('\n'));
  const inline = inlineCodeOf(page).filter((code) => /\bnpm (run |start|test)/.test(code));
  return [...blocks, ...inline].map((line) => line.replace(/(^|\s)#.*$/, '').trim()).filter((line) => line !== '');
}

/** Where the page leads: the targets of its links and pictures. */
export function linksOf(page: string): string[] {
  const text = proseOf(page).replace(/`[^`\n]*`/g, blank);
  return [
    ...[...text.matchAll(/\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)*)\)/g)],
    ...[...text.matchAll(/\b(?:href|src)="([^"]+)"/g)],
  ].map(([, target]) => target as string);
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(page: string): string[] {
  const seen = new Map<string, number>();
  return [...page.replace(FENCE, blank).matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, heading = '']) => {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replace(/ /g, '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  });
}
