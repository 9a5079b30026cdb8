// Which patterns make a test a matter of luck, and where they are. After src/tidy.zig of TigerBeetle.

import { codeOf } from './code-of.ts';

interface Rule {
  /** What is refused, in the code alone: comments, strings, templates and regular expressions are blanked. */
  pattern: RegExp;
  instead: string;
  /** What makes it right: in the call itself, in what is expected by it, or in the file. */
  unless?: (place: Place) => boolean;
}

interface Place {
  file: string;
  /** What is found, up to the end of its call. */
  call: string;
  /** What is expected by it. */
  expected: string;
  /** The whole file. */
  code: string;
}

const EVENT = 'await the event, or move the virtual clock';
const NAMED = 'give a virtual clock, and compare the time by toBe';
/** A wait with a limit below this says how fast the machine is. */
const LONG_MS = 60_000;

/** Its `sleep` is that of the harness, and its drills are played in the virtual world. */
const isVirtual = ({ file }: Place) => /^test\/(loadtest\/worlds\/simulated|simulation)\//.test(file);
/** A file whose timers and clock are those of a world that it moves itself. */
const hasOwnClock = ({ code }: Place) =>
  /\bvi\.useFakeTimers\(/.test(code) || /\{[^{}]*\bsetTimeout\b[^{}]*\}\s*=[^=]/.test(code);

const rules: Rule[] = [
  { pattern: /(?<![.\w])sleep\(/g, instead: EVENT, unless: isVirtual },
  { pattern: /(?<![.\w])setTimeout\(|\bsetTimeout as\b/g, instead: EVENT, unless: hasOwnClock },
  { pattern: /\b(performance|Date)\.now\b|\bprocess\.hrtime\b/g, instead: NAMED, unless: hasOwnClock },
  { pattern: /\b(atMost|atLeast)\(/g, instead: NAMED },
  {
    pattern: /\.toBe(Less|Greater)Than(OrEqual)?\(/g,
    instead: NAMED,
    // A bound on what is counted is no claim of a duration, nor is one on the clock of the lab.
    unless: (place) =>
      !/(Ms|_MS|\.ms)\b/.test(place.expected + place.call) || /\blab\./.test(place.expected) || isVirtual(place),
  },
  { pattern: /\bretry:(?!\s*0\b)|(?<!\w)retry\(/g, instead: 'mend what fails: a test that fails once is a fault' },
  { pattern: /\blisten\(\s*(\{[^}]*\bport:\s*)?[1-9]\d*/g, instead: 'listen on port 0, and read the port' },
  { pattern: /\bMath\.random\(/g, instead: 'draw from a seed; listen on port 0' },
  {
    pattern: /\bfc\.assert\(/g,
    instead: 'give a seed: what is drawn anew in each run fails in one of many',
    unless: ({ code }) => /\bseed:/.test(code),
  },
  { pattern: /\b(test|it|describe)(\.\w+)*\.(skip|only|todo|fails)\b/g, instead: 'mend the test, or delete it' },
  { pattern: /\b(test|it|describe)(\.\w+)*\.concurrent\b/g, instead: 'let it run by itself' },
  {
    pattern: /\bvi\.wait(For|Until)\(|\bexpect\.poll\(/g,
    instead: 'await the event, or expect.poll with the limit of vitest.config.ts',
    unless: isPatient,
  },
];

/** Whether a wait has a limit so long that it says nothing of the machine. `vi.waitFor` alone waits for a second. */
function isPatient({ call, code }: Place): boolean {
  const [, limit] = /\btimeout:\s*([\w.]+)[^()]*\)$/.exec(call) ?? /,\s*([\d_]+)\s*\)$/.exec(call) ?? [];
  if (limit === undefined) return !call.startsWith('vi.wait');
  const [, value = limit] = new RegExp(`\\bconst ${limit} = ([\\d_]+)`).exec(code) ?? [];
  // A limit that is made elsewhere is one for all waits.
  return !/^[\d_]+$/.test(value) || Number(value.replaceAll('_', '')) >= LONG_MS;
}

/** Every place of a file that is a matter of luck, as `file:line what is refused: what to write instead`. */
export function luckIn(file: string, text: string): string[] {
  const code = codeOf(text);
  const places = rules.flatMap(({ pattern, instead, unless }) =>
    [...code.matchAll(pattern)].flatMap((match) => {
      const [found] = match;
      const call = found.endsWith('(') ? code.slice(match.index, endOfCall(code, match.index + found.length)) : found;
      const expected = /.*\bexpect(\.\w+)?\((.*)/s.exec(code.slice(0, match.index))?.[2] ?? '';
      if (unless?.({ file, call, expected, code })) return [];
      const line = code.slice(0, match.index).split('\n').length;
      return [{ line, what: `${found.replace(/[(\s].*/s, '')}: ${instead}` }];
    }),
  );
  return places.sort((a, b) => a.line - b.line).map(({ line, what }) => `${file}:${line} ${what}`);
}

/** Where the call ends whose arguments begin here. */
function endOfCall(code: string, from: number): number {
  let [open, at] = [1, from];
  for (; at < code.length && open > 0; at += 1) open += { '(': 1, ')': -1 }[code[at] as string] ?? 0;
  return at;
}

/** These have time for their subject, or run by hand: the soak, the mutations, and the bugs of the catalogues. */
export const isExempt = (file: string) =>
  file.startsWith('test/soak/') || (/^test\/(mutations|known-bugs)\//.test(file) && !file.endsWith('.test.ts'));
