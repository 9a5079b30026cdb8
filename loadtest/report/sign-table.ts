// A table of signs on the terminal, narrow enough for one of 80 columns: the name of each column stands above it, on a line of its own.

/** A row for each name, and a sign for each column, which may be painted. */
export function signTable(columns: string[], rows: { name: string; signs: string[] }[]): string[] {
  const width = Math.max(...rows.map(({ name }) => name.length)) + 2;
  return [
    ...columns.map((column, at) => `${' '.repeat(width)}${'│ '.repeat(at)}${column}`),
    ...rows.map(({ name, signs }) => `${name.padEnd(width)}${signs.join(' ')}`),
  ];
}
