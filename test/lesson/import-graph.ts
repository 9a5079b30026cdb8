// Who imports whom, as the files say it themselves.

import { dirname, join } from 'node:path';

/** Each file, or folder, with those that it imports. */
export type Graph = Map<string, Set<string>>;

/**
 * What a file imports of the project, as it is written: by `import` and `export … from`, for the effect alone, for its types
 * alone, or by `import()` of a literal.
 */
export function importsIn(text: string): string[] {
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*(['"`])(\.{1,2}\/[^'"`$]+)\1/g)].map(
    ([, , path]) => path as string,
  );
}

/** The graph of these files, given as paths from the project's root with their texts. */
export function graphOf(files: Map<string, string>): Graph {
  return new Map(
    [...files].map(([file, text]) => {
      const imported = importsIn(text).map((path) => join(dirname(file), path));
      return [file, new Set(imported.filter((path) => files.has(path)))];
    }),
  );
}

/** The graph of the groups that its members form; what happens within a group is left out. */
export function grouped(graph: Graph, groupOf: (member: string) => string): Graph {
  const groups: Graph = new Map([...graph.keys()].map((member) => [groupOf(member), new Set<string>()]));
  for (const [member, imported] of graph) {
    for (const other of imported) {
      if (groupOf(other) !== groupOf(member)) groups.get(groupOf(member))?.add(groupOf(other));
    }
  }
  return groups;
}

/**
 * The imports that do not lead to a floor below, each as `from → to`. The floors are groups, from the ground up; who imports
 * within its own group goes nowhere.
 */
export function upwardImports(graph: Graph, groupOf: (member: string) => string, floors: string[][]): string[] {
  const floorOf = (member: string) => floors.findIndex((floor) => floor.includes(groupOf(member)));
  return [...graph].flatMap(([member, imported]) =>
    [...imported]
      .filter((other) => groupOf(other) !== groupOf(member) && floorOf(other) >= floorOf(member))
      .map((other) => `${member} → ${other}`),
  );
}

/** A shortest circle through each member that is in one, each circle once: `a → b → a`, from its least member on. */
export function circlesIn(graph: Graph): string[] {
  const circles = [...graph.keys()].flatMap((member) => {
    const way = shortestWay(graph, member, member);
    if (way === undefined) return [];
    const least = way.indexOf([...way].sort()[0] as string);
    return [[...way.slice(least), ...way.slice(0, least), way[least]].join(' → ')];
  });
  return [...new Set(circles)].sort();
}

/** The members from `start` to the one before `end`; undefined when no import leads there. */
function shortestWay(graph: Graph, start: string, end: string): string[] | undefined {
  const before = new Map<string, string>();
  const queue = [start];
  for (let member = queue.shift(); member !== undefined; member = queue.shift()) {
    for (const next of graph.get(member) ?? []) {
      if (next === end) {
        const way = [member];
        while (way[0] !== start) way.unshift(before.get(way[0] as string) as string);
        return way;
      }
      if (before.has(next)) continue;
      before.set(next, member);
      queue.push(next);
    }
  }
  return undefined;
}
