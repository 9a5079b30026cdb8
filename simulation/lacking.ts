// Node's APIs as a simulated process sees them. Using an API that the simulation lacks is noted, and throws.

import nodeExports from './node-exports.json' with { type: 'json' };
import { type Members, namesIn, ownVersion } from './own-module.ts';

export type Run = (...args: unknown[]) => unknown;

/** What each module exports in some Node from 20 to 24. */
const exportedBySome: Record<string, string> = nodeExports.modules;
export const listedModules = Object.keys(exportedBySome);
export const listedIn = (module: string): string[] => exportedBySome[module]?.split(' ') ?? [];
let names: Map<unknown, string> | undefined;
/** The name of a module, by what it is. Looked up when it is needed: the page has no modules of Node. */
function nameOfModule(value: unknown): string | undefined {
  names ??= new Map(listedModules.map((name) => [process.getBuiltinModule(name), name]));
  return names.get(value);
}

/** `moduleOf` gives a module as the process has it. */
export function createLacking(moduleOf: (module: string) => unknown) {
  let first: string | undefined;

  function refuse(what: string): never {
    first ??= what;
    throw new Error(`The simulation has no ${what}.`);
  }
  const refused = (what: string): Run =>
    function use(): never {
      return refuse(what);
    };
  const refusedObject = (what: string) =>
    new Proxy({}, { get: (_target, member) => (typeof member === 'symbol' ? undefined : refuse(`${what}.${member}`)) });

  /** Of an object that is no mere data every use is refused. */
  function copyOf(what: string, value: object): object {
    try {
      return structuredClone(value);
    } catch {
      return refusedObject(what);
    }
  }

  return {
    /** What was used first that the simulation does not have, such as `worker_threads.Worker()`. */
    first: () => first,
    refused,
    /**
     * Something of Node of which the simulation has these parts. A function that is not among them is refused when it is called, unless
     * it is harmless. So is what only another Node has.
     */
    only(what: string, real: object, parts: Members, isHarmless = (_member: string) => false): Members {
      function standsFor(member: string): unknown {
        const value = Reflect.get(real, member);
        const module = nameOfModule(value);
        if (module !== undefined) return moduleOf(module);
        if (isHarmless(member)) return value;
        if (typeof value === 'function') return refused(`${what}.${member}()`);
        return typeof value === 'object' && value !== null ? copyOf(`${what}.${member}`, value) : value;
      }
      const names = [...namesIn(real), ...listedIn(what), ...Object.keys(parts)];
      return ownVersion(real, new Set(names), (member) => {
        if (Object.hasOwn(parts, member)) return { value: parts[member] };
        if (!(member in real)) return { value: refused(`${what}.${member}()`) };
        return { get: () => standsFor(member) };
      }) as Members;
    },
  };
}

export type Lacking = ReturnType<typeof createLacking>;
