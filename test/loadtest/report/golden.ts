// What a page says, as a text of its lines: the styles are left out, and a drawing is what it says of itself.

export function bodyOf(page: string): string {
  return `${page
    .replace(/<style>.*?<\/style>/gs, '<style>…</style>')
    .replace(/<svg[^>]*aria-label="([^"]*)"[^>]*>.*?<\/svg>/gs, '<svg $1>')
    .replace(/(?<=")\n>/g, '>')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')}\n`;
}
