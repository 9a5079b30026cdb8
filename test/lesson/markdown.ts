// What a test reads in a page: its prose, its commands, its links, and the anchors that others may link to.

const FENCE = /^( *)```(\w*)[^\n]*\n(.*?)^\1```/gms;
const FIGURES = /<!-- figures: .*?<!-- \/figures -->/gs;

/** Blanks in the place of the text, with its line ends, so that what follows keeps its place. */
const blank = (text: string) => text.replace(/[^\n]/g, ' ');

/** The page without its blocks of code and its recorded figures; every line keeps its number. */
export function proseOf(page: string): string {
  return page.replace(FENCE, blank).replace(FIGURES, blank);
}

/** The paragraphs, list items and cells of the prose, each on one line, with the number of the line that it begins on. */
export function paragraphsOf(page: string): { line: number; text: string }[] {
  const starts = /^\s*$|^\s*([-*]|\d+\.) |^#|^\s*\||^\s*<\/?(details|summary)/;
  const paragraphs: { line: number; text: string }[] = [];
  for (const [index, line] of proseOf(page).split('\n').entries()) {
    const last = paragraphs.at(-1);
    if (last === undefined || starts.test(line)) paragraphs.push({ line: index + 1, text: line.trim() });
    else last.text = `${last.text} ${line.trim()}`.trim();
  }
  return paragraphs.filter(({ text }) => text !== '');
}

/** Commands of a page that stand together: the lines of a block for a shell, or one piece of inline code that calls npm. */
export interface Commands {
  isInline: boolean;
  lines: string[];
}

/** The commands of a page, in its order; comments and line ends are taken off. */
export function commandsOf(page: string): Commands[] {
  const blocks = [...page.matchAll(FENCE)]
    .filter(([, , language = '']) => /^(sh|bash)$/.test(language))
    .map(({ 3: body = '', index }) => ({ index, isInline: false, lines: body.replace(/\\\n\s*/g, ' ').split('\n') }));
  // Every piece of code is read, so that what stands between two of them is not taken for one.
  const inline = [...proseOf(page).matchAll(/`((?:[^`\n]|\n(?!\s*\n))+)`/g)]
    .filter(([, code = '']) => /\bnpm (run |start|test)/.test(code))
    .map(({ 1: code = '', index }) => ({ index, isInline: true, lines: [code.replace(/\s+/g, ' ')] }));
  return [...blocks, ...inline]
    .toSorted((a, b) => a.index - b.index)
    .map(({ isInline, lines }) => ({
      isInline,
      lines: lines.map((line) => line.replace(/(^|\s)#.*$/, '').trim()).filter((line) => line !== ''),
    }));
}

/** The command lines of a page. */
export function commandLinesOf(page: string): string[] {
  return commandsOf(page).flatMap(({ lines }) => lines);
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
