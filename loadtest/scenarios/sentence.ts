// Sentences with gaps: `<sale> sells at <node>` means `A sells at node-1`. What stands in brackets may be left out.

import type { LockTiming } from '../../services/inventory/lab/contract.ts';
import type { Hold } from '../evidence/history.ts';
import type { Need, TargetNode } from '../harness/target.ts';

/** What stands in a gap, and how it is written. */
const gaps = {
  sale: '[A-Z]',
  other: '[A-Z]',
  node: 'node-[12]',
  count: String.raw`\d+`,
  skus: String.raw`\d+ and \d+`,
  time: String.raw`[\d./]+ (?:leases?|ms|s)`,
  limit: String.raw`[\d./]+ (?:leases?|ms|s)`,
  replica: 'the (?:first |second )?replica',
  number: '(?:a replica copies|two replicas copy)',
  which: '(?:the same|another)',
  stays: '(?:stalls inside the sale|hangs, and its process lives)',
  where: '(?:node-[12]|both nodes)',
  tick: '[A-Z]',
  what: String.raw`(?:read|closed|restored) \d+`,
  command: '(?:write|release)',
  text: '.+',
} as const;

type Gap = keyof typeof gaps;
type GapsIn<Form extends string> = Form extends `${string}<${infer Name extends Gap}>${infer Rest}`
  ? Name | GapsIn<Rest>
  : never;
/** What fills the gaps of a sentence: a node, a number, a time in milliseconds, or the text itself. */
export type Values<Name extends Gap> = { [Each in Name]: Value<Each> };
type Filled<Form extends string> = Values<GapsIn<Form>>;
type Value<Name extends Gap> = Name extends 'node'
  ? TargetNode
  : Name extends 'count' | 'time' | 'limit'
    ? number
    : string;
/** What the values are taken from: in the settings of a page there are no nodes yet, and no lease. */
type Ground = Partial<Record<'first' | 'second', TargetNode>> & { leaseMs: number };

function read<Form extends string>(filled: Record<string, string>, { first, second, leaseMs }: Ground) {
  const asValue = (gap: string, text: string) => {
    if (gap === 'node') return text === first?.name ? first : second;
    if (gap === 'count') return Number(text);
    return ['time', 'limit'].includes(gap) ? msOf(text, leaseMs) : text;
  };
  const given = Object.entries(filled).filter(([, text]) => text !== undefined);
  return Object.fromEntries(given.map(([gap, text]) => [gap, asValue(gap, text)])) as Filled<Form>;
}

/** How long "2.5 leases", "1/3 lease", "30 s" or "500 ms" is, in milliseconds. */
function msOf(time: string, leaseMs: number): number {
  const [amount = '', unit = ''] = time.split(' ');
  const [over, under = '1'] = amount.split('/');
  const unitMs = { ms: 1, s: 1_000 }[unit] ?? leaseMs;
  return Math.round((Number(over) / Number(under)) * unitMs);
}

/** A sentence that is known, and what it means when its gaps are filled. */
export interface Known<Meaning> {
  form: string;
  means(filled: Record<string, string>): Meaning;
}

/** What one line of a page does on its course. */
export interface Step<Course> {
  /** What it takes, besides two nodes. */
  needs?: Need[];
  /** What it asks of the lock's timing. */
  timing?: LockTiming;
  /** It takes a while, so it is told when it begins. */
  isLong?: boolean;
  /** The units in stock. */
  stock?: number;
  /** It sets something before the drill. */
  isSetting?: boolean;
  /** The page is played once for each command of a release. */
  playsEachRelease?: boolean;
  /** Resolves with what there is to tell besides the line itself, if that is a text. Throws NotStagedError when it has no effect. */
  act(course: Course): Promise<unknown>;
}

/**
 * What is said of a verdict, besides the figures: why it holds, because everybody waited or the first was refused as well, and why it
 * fails, because too little came of it or it came to no end as well.
 */
export const endings = [
  'if it holds',
  'if all waited',
  'if A is refused',
  'if it fails',
  'if too few',
  'if it never ends',
] as const;
export type Ending = (typeof endings)[number];

export interface Finding {
  /** What is wrong, as a sentence; undefined when nothing is. */
  wrong?: string | undefined;
  /** What there is to say when nothing is wrong. */
  right?: string;
  figures?: Record<string, number>;
  witnesses?: string[];
  /** Why it is wrong, where most fail for another reason. */
  ending?: Ending;
  /** Which holders may not meet; all of them when it is not given. */
  isJudged?: (hold: Hold) => boolean;
}

/** What must be so in the end. Throws NotStagedError when it can't be told. */
export type Demand<Course, Outcome> = (course: Course, outcome: Outcome) => Finding | Promise<Finding>;

export interface PageOf<Course, Outcome> {
  /** The column of the staircase. */
  name: string;
  /** What it asks. */
  question: string;
  /** What it takes to stage the fault, besides two nodes. */
  needs: Need[];
  /** What it needs of the lock's timing, in milliseconds, whatever lease was asked for; and the units in stock. */
  timing: LockTiming;
  stock?: number;
  /** Each with what must be so when it has been taken: a lock that fails this goes no further. */
  steps: (Step<Course> & { line: string; endsParagraph: boolean; demands: Demand<Course, Outcome>[] })[];
  words: Partial<Record<Ending, string>>;
}

/** Makes the sentences of a kind of course. */
export function sentencesOf<Course extends { testBed: Ground }, Outcome>() {
  function step<Form extends string>(
    form: Form,
    act: (course: Course, filled: Filled<Form>) => Promise<unknown>,
    more: Omit<Step<Course>, 'act'> = {},
  ): Known<Step<Course>> {
    return { form, means: (filled) => ({ ...more, act: (course) => act(course, read(filled, course.testBed)) }) };
  }

  return {
    step,
    /** Steps that take this, besides two nodes. */
    needing:
      (...needs: Need[]): typeof step =>
      (form, act, more) =>
        step(form, act, { needs, ...more }),
    /** A sentence that sets something before the drill, and does nothing in it. */
    setting<Form extends string>(
      form: Form,
      set: (filled: Filled<Form>) => Omit<Step<Course>, 'act'>,
    ): Known<Step<Course>> {
      return {
        form,
        means: (filled) => ({ isSetting: true, ...set(read(filled, { leaseMs: Number.NaN })), async act() {} }),
      };
    },
    demand<Form extends string>(
      form: Form,
      judge: (course: Course, outcome: Outcome, filled: Filled<Form>) => Finding | Promise<Finding>,
    ): Known<Demand<Course, Outcome>> {
      return { form, means: (filled) => (course, outcome) => judge(course, outcome, read(filled, course.testBed)) };
    },
  };
}

/** The meaning of a line among the sentences that are known. Throws an Error that names the nearest one. */
export function meaningOf<Meaning>(line: string, known: Known<Meaning>[]): Meaning {
  for (const { form, means } of known) {
    const filled = patternOf(form).exec(line);
    if (filled) return means({ ...filled.groups });
  }
  const words = new Set(wordsOf(line));
  const shared = ({ form }: Known<Meaning>) => {
    const own = wordsOf(form);
    return own.filter((word) => words.has(word)).length / Math.max(own.length, words.size);
  };
  const [nearest] = known.toSorted((a, b) => shared(b) - shared(a));
  throw new Error(`"${line}" is no sentence that is known. The nearest one is "${nearest?.form}".`);
}

const wordsOf = (sentence: string) => sentence.split(/[\s,]+/);

function patternOf(form: string): RegExp {
  const literal = form.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const withGaps = literal.replace(/<(\w+)>/g, (_, gap: Gap) => `(?<${gap}>${gaps[gap]})`);
  return new RegExp(`^${withGaps.replaceAll('\\[', '(?:').replaceAll('\\]', ')?')}$`);
}
