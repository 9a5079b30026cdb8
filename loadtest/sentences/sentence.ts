// Sentences with gaps: `<sale> sells at <node>` matches `A sells at node-1`. A part in brackets is optional.

import type { LockTiming } from '../../services/inventory/sale/contract.ts';
import type { Hold } from '../evidence/history.ts';
import type { Clock } from '../harness/clock.ts';
import type { Need, TargetNode } from '../harness/target.ts';
import type { Sight } from '../narration/evidence.ts';
import type { Reason } from '../narration/reasons.ts';
import type { StepSentence } from '../narration/steps.ts';

/** What fills a gap, as a regular expression. */
const gaps = {
  sale: '[A-Z]',
  other: '[A-Z]',
  node: 'node-[12]',
  count: String.raw`\d+`,
  skus: String.raw`\d+ and \d+`,
  time: String.raw`[\d./]+ (?:leases?|ms|s)`,
  limit: String.raw`[\d./]+ (?:leases?|ms|s)`,
  replica: 'the (?:first |second )?replica',
  /** Empty, or what may come instead. */
  orElse: '(?:,? or [a-z ]+)?',
  which: '(?:the same|another)',
  stays: '(?:stalls inside the sale|hangs, and its process stays alive)',
  where: '(?:node-[12]|both nodes)',
  run: '[A-Z]',
  did: '(?:read|closed|restored)',
  command: '(?:write|release)',
  user: '[a-z]+',
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
    : Name extends 'command'
      ? 'write' | 'release'
      : string;
/** What the values are resolved against. The settings of a scenario have no nodes yet, and no lease. */
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

/** A known sentence, and what it means when its gaps are filled. */
export interface Known<Meaning> {
  form: string;
  means(filled: Record<string, string>): Meaning;
}

/** What one line of a scenario does. */
export interface Step<Playing> {
  /** What it takes, besides two nodes. */
  needs?: Need[];
  /** What it asks of the lock's timing. */
  timing?: LockTiming;
  /** The units in stock. */
  stock?: number;
  /** The scenario is played once for each command of a release. */
  playsEachRelease?: boolean;
  /** Resolves with what has happened. Throws NotStagedError when it has no effect. Absent of what sets something before the drill. */
  act?(playing: Playing): Promise<StepSentence>;
}

/**
 * The explanations of a verdict, beside the figures: why it holds, also because everybody waited or the first sale was refused, and why it
 * fails, also because too little happened or it never ended.
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
  /** What is wrong, in one reason or some; none when nothing is. */
  wrong?: Reason | Reason[] | false | undefined;
  /** What there is to say when nothing is wrong. */
  right?: Reason;
  figures?: Record<string, number>;
  evidence?: Sight[];
  /** Why it is wrong, where most fail for another reason. */
  ending?: Ending;
  /** Which holders may not meet; all of them when it is not given. */
  isJudged?: (hold: Hold) => boolean;
}

/** Checks what must be true at the end. Throws NotStagedError when that can't be told. */
export type Demand<Playing, Outcome> = (playing: Playing, outcome: Outcome) => Finding | Promise<Finding>;

export interface ScenarioOf<Playing, Outcome> {
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
  steps: (Step<Playing> & { line: string; endsParagraph: boolean; demands: Demand<Playing, Outcome>[] })[];
  words: Partial<Record<Ending, string>>;
  /** The same in Chinese. */
  chinese: Partial<Record<Ending, string>>;
}

/** Makes the sentences for a kind of playing. Each step resolves with what it narrates. */
export function sentencesOf<Playing extends Ground, Outcome>() {
  function step<Form extends string>(
    form: Form,
    act: (playing: Playing, filled: Filled<Form>) => Promise<StepSentence>,
    more: Omit<Step<Playing>, 'act'> = {},
  ): Known<Step<Playing>> {
    return { form, means: (filled) => ({ ...more, act: (playing) => act(playing, read(filled, playing)) }) };
  }

  return {
    step,
    /** Steps that need this, besides two nodes. */
    needing:
      (...needs: Need[]): typeof step =>
      (form, act, more) =>
        step(form, act, { needs, ...more }),
    /** A sentence that changes a setting before the drill, and does nothing in it. */
    setting<Form extends string>(
      form: Form,
      set: (filled: Filled<Form>) => Omit<Step<Playing>, 'act'>,
    ): Known<Step<Playing>> {
      return {
        form,
        means: (filled) => set(read(filled, { leaseMs: Number.NaN })),
      };
    },
    demand<Form extends string>(
      form: Form,
      judge: (playing: Playing, outcome: Outcome, filled: Filled<Form>) => Finding | Promise<Finding>,
    ): Known<Demand<Playing, Outcome>> {
      return { form, means: (filled) => (playing, outcome) => judge(playing, outcome, read(filled, playing)) };
    },
  };
}

/** The sentences that a kind of scenario may have. */
export interface Vocabulary<On, Outcome> {
  steps: Known<Step<On>>[];
  demands: Known<Demand<On, Outcome>>[];
}

/** The meaning of a line among the known sentences. Throws an Error that names the nearest one. */
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
  throw new Error(`Unknown sentence "${line}". The nearest one is "${nearest?.form}".`);
}

const wordsOf = (sentence: string) => sentence.split(/[\s,]+/);

function patternOf(form: string): RegExp {
  const literal = form.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const withGaps = literal.replace(/<(\w+)>/g, (_, gap: Gap) => `(?<${gap}>${gaps[gap]})`);
  return new RegExp(`^${withGaps.replaceAll('\\[', '(?:').replaceAll('\\]', ')?')}$`);
}

/** The playing that the steps of a scenario work on. */
export interface Playable<Outcome> {
  clock: Clock;
  /** Narrates what happens, and returns at once. After a step it waits for the audience, and nothing may depend on how long that takes. */
  say(sentence: StepSentence, isStep?: boolean, line?: string): Promise<void>;
  /** Waits until all has ended, and resolves with what is left. Throws NotStagedError when something never ends. */
  outcome(): Promise<Outcome>;
  /** What must be seen in the history: each throws NotStagedError when it was not, and then nothing may be concluded. */
  evidence: ((outcome: Outcome) => void | Promise<void>)[];
  /** What is said of what holds for another reason than most. */
  ending?: Ending;
  /** What was measured on the way. */
  figures?: Record<string, number>;
}
