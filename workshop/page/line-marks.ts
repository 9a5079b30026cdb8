// Instruments a lock's text so that the code reports its current line, without moving lines or changing the order of execution.

import { parser } from '@lezer/javascript';

const typescript = parser.configure({ dialect: 'ts' });

function lineIn(source: string) {
  const starts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return (place: number) => starts.findLastIndex((start) => start <= place) + 1;
}

/** The first line with a syntax error. Undefined if there is none. */
export function brokenLine(source: string): number | undefined {
  let place: number | undefined;
  typescript.parse(source).iterate({
    enter({ type, from }) {
      if (type.isError) place ??= from;
    },
  });
  return place === undefined ? undefined : lineIn(source)(place);
}

/** Calls `$line` with the line number before each statement of a block, and before each await. */
export function saying(source: string): string {
  const lineAt = lineIn(source);
  const added: [place: number, text: string][] = [];
  // What can't be read is refused by whoever evaluates it.
  if (brokenLine(source) !== undefined) return source;
  typescript.parse(source).iterate({
    enter({ type, from, to, node }) {
      const { parent, lastChild } = node;
      if (parent?.name === 'Block' && /(Statement|VariableDeclaration)$/.test(type.name)) {
        added.push([from, `$line(${lineAt(from)});`]);
      }
      if (type.name !== 'AwaitExpression' || lastChild === null) return;
      added.push([lastChild.from, `($line(${lineAt(from)}), `], [to, ')']);
    },
  });
  const inOrder = added.toSorted(([one], [other]) => one - other);
  let text = '';
  let at = 0;
  for (const [place, more] of inOrder) {
    text += source.slice(at, place) + more;
    at = place;
  }
  return text + source.slice(at);
}
