// A lock's text, in which the code says which line it is at. No line moves, and nothing happens in another order.

import { parser } from '@lezer/javascript';

const typescript = parser.configure({ dialect: 'ts' });

/** Calls `$line` with its number before each statement of a block, and before each thing that is waited for. */
export function saying(source: string): string {
  const starts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const lineAt = (place: number) => starts.findLastIndex((start) => start <= place) + 1;
  const added: [place: number, text: string][] = [];
  let isBroken = false;
  typescript.parse(source).iterate({
    enter({ type, from, to, node }) {
      isBroken ||= type.isError;
      const { parent, lastChild } = node;
      if (parent?.name === 'Block' && /(Statement|VariableDeclaration)$/.test(type.name)) {
        added.push([from, `$line(${lineAt(from)});`]);
      }
      if (type.name !== 'AwaitExpression' || lastChild === null) return;
      added.push([lastChild.from, `($line(${lineAt(from)}), `], [to, ')']);
    },
  });
  // What can't be read is refused by whoever evaluates it.
  if (isBroken) return source;
  const inOrder = added.toSorted(([one], [other]) => one - other);
  let text = '';
  let at = 0;
  for (const [place, more] of inOrder) {
    text += source.slice(at, place) + more;
    at = place;
  }
  return text + source.slice(at);
}
