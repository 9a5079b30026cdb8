/** What a page says, as a text of its lines: a drawing is what it says of itself, and legends are left out. */
export function textOf(page: string): string {
  const text = page
    .replace(/<style>.*?<\/style>/gs, '')
    .replace(/<ul class="legend">.*?<\/ul>/gs, '')
    .replace(/<svg[^>]*aria-label="([^"]*)"[^>]*>.*?<\/svg>/gs, '[$1]')
    .replace(/\s*\n\s*/g, '\n')
    .replace(/\n(?=<(span|\/a|\/td))|<\/(th|dt|a)>|<br>/g, ' ')
    .replace(/<\/td>/g, ' · ')
    .replace(/<\/(p|h\d|figcaption|figure|div)>/g, '\n')
    .replace(/<[^>]*>/g, '');
  const lines = text.split('\n').map((line) => line.trim());
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}
