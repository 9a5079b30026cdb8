// Reads a table of what is taught: the signs by row and column, as they stand in the text.
//
//   rush             A line for each column: its name stands over its signs,
//   │  failover      and a bar leads down to them past the names of the columns on its right.
//   ✘  ·             Then a line for each row: its name, which begins the line, and a sign under each column.

/** What a table says, its rows and columns in the order of the text. */
export interface Table<Sign extends string> {
  columns: string[];
  /** The signs of each row, by the names of the columns. */
  rows: Record<string, Record<string, Sign>>;
}

/** What a table may say. */
export interface Known<Sign extends string> {
  columns: string[];
  rows: string[];
  signs: readonly Sign[];
}

interface Column {
  name: string;
  /** How many characters stand left of its signs. */
  at: number;
}

/** Throws, with a sentence that names the row or column, unless the table has each of these once, no other, and a sign in each cell. */
export function readTable<Sign extends string>(text: string, known: Known<Sign>): Table<Sign> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const columns: Column[] = [];
  for (const line of lines.filter(isOfColumn)) columns.push(readColumn(line, columns));
  checkNames('column', namesOf(columns), known.columns);

  const rows = lines.filter((line) => !isOfColumn(line)).map((line) => readRow(line, columns, known.signs));
  checkNames('row', namesOf(rows), known.rows);
  return { columns: namesOf(columns), rows: Object.fromEntries(rows.map(({ name, signs }) => [name, signs])) };
}

const isOfColumn = (line: string) => line.startsWith(' ');
const namesOf = (named: { name: string }[]) => named.map(({ name }) => name);

function readColumn(line: string, before: Column[]): Column {
  const name = line.match(/[a-z0-9-]+$/)?.[0];
  if (name === undefined) throw new Error(`This line of the table ends with no name of a column: "${line}".`);
  const at = line.length - name.length;
  const bars = Array.from({ length: at }, (_, i) => (before.some((column) => column.at === i) ? '│' : ' '));
  if (bars.join('') !== line.slice(0, at) || before.some((column) => column.at >= at)) {
    throw new Error(`Left of the column ${name} there must be a bar under each column before it, and nothing else.`);
  }
  return { name, at };
}

function readRow<Sign extends string>(line: string, columns: Column[], known: readonly Sign[]) {
  const name = line.match(/^[a-z0-9-]+/)?.[0];
  if (name === undefined) throw new Error(`This line of the table begins with no name of a row: "${line}".`);
  const stray = [...line.matchAll(/\S/g)].find(
    ({ index }) => index >= name.length && !columns.some(({ at }) => at === index),
  );
  if (stray !== undefined) throw new Error(`In the row ${name}, ${stray[0]} stands under no column.`);
  const signs = columns.map((column) => [column.name, readSign(line, name, column, known)] as const);
  return { name, signs: Object.fromEntries(signs) };
}

function readSign<Sign extends string>(line: string, row: string, { name, at }: Column, known: readonly Sign[]): Sign {
  const sign = line[at] ?? ' ';
  if (at < row.length || sign === ' ') throw new Error(`The row ${row} has no sign under ${name}.`);
  const found = known.find((each) => each === sign);
  if (found !== undefined) return found;
  throw new Error(`The row ${row} has ${sign} under ${name}: a sign is one of ${known.join(' ')}.`);
}

function checkNames(kind: 'column' | 'row', names: string[], known: string[]) {
  const double = names.find((name, i) => names.indexOf(name) !== i);
  if (double !== undefined) throw new Error(`The table has the ${kind} ${double} twice.`);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`The table has a ${kind} ${unknown}, which is not known.`);
  const missing = known.find((name) => !names.includes(name));
  if (missing !== undefined) throw new Error(`The table has no ${kind} ${missing}.`);
}
