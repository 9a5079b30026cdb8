// Parses a table of expected results: the signs by row and column.
//
//   rush             A line for each column: its name stands over its signs,
//   │  failover      and a bar leads down to them past the names of the columns on its right.
//   ✘  ·             Then a line for each row: its name, which begins the line, and a sign under each column.

/** A parsed table, with its rows and columns in the order of the text. */
interface Table<Sign extends string> {
  columns: string[];
  /** The signs of each row, by the names of the columns. */
  rows: Record<string, Record<string, Sign>>;
}

/** The rows, columns and signs that a table may have. */
interface Known<Sign extends string> {
  /** Any when they are not given. */
  columns?: string[] | undefined;
  rows?: string[] | undefined;
  signs: readonly Sign[];
}

/** Throws, with a sentence that names the row or column, unless the table has each of these once, no other, and a sign in each cell. */
export function readTable<Sign extends string>(text: string, { columns, rows, signs }: Known<Sign>): Table<Sign> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const heads = lines
    .filter((line) => line.startsWith(' '))
    .map((line) => ({ name: line.replace(/[ │]/g, ''), at: line.search(/[^ │]/) }));
  const own = lines.filter((line) => !line.startsWith(' ')).map((line) => ({ line, name: line.split(' ')[0] ?? '' }));
  checkNames('column', heads, columns);
  checkNames('row', own, rows);
  const read = own.map(({ line, name }) => {
    const [, ...found] = line.matchAll(/\S+/g);
    const stray = found.find(({ index }) => !heads.some(({ at }) => at === index));
    if (stray !== undefined) throw new Error(`In the row ${name}, ${stray[0]} stands under no column.`);
    const cells = heads.map((head): [string, Sign] => {
      const sign = signs.find((each) => each === line[head.at]);
      if (sign === undefined) throw new Error(`The row ${name} has none of ${signs.join(' ')} under ${head.name}.`);
      return [head.name, sign];
    });
    return [name, Object.fromEntries(cells)] as const;
  });
  return { columns: heads.map(({ name }) => name), rows: Object.fromEntries(read) };
}

function checkNames(kind: 'column' | 'row', named: { name: string }[], expected?: string[]) {
  const names = named.map(({ name }) => name);
  const known = expected ?? names;
  const odd = names.find((name, i) => !known.includes(name) || names.indexOf(name) !== i);
  if (odd !== undefined) throw new Error(`The table has the ${kind} ${odd} twice, or it is not known.`);
  const missing = known.find((name) => !names.includes(name));
  if (missing !== undefined) throw new Error(`The table has no ${kind} ${missing}.`);
}
