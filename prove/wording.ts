// English sentences of the model checker: its fault models, the steps of an interleaving, violations, and verdicts.
// The Chinese is in wording.zh.ts. This file imports types alone: the page speaks by it, too.

import { type FormsOf, type Given, type Sentence, type Wording, worded } from '../simulation/wording.ts';
import type { Told } from './process.ts';

/** The fault model of each scope, by name. */
export const scopesInEnglish = {
  plain: 'There is no fault.',
  'lost-wakeup': 'There is no fault, and nobody may wait while the lock is free.',
  'script-cache-empty': 'The server has not loaded any script yet.',
  'crashed-holder': 'A holder is killed.',
  'slow-holder': 'A holder is paused. What it does later must not harm the next holder.',
  'late-release': 'A release is held on the way. It must not harm the next holder.',
  'nested-call': 'A holder acquires its own lock again.',
  'nested-object': 'A holder acquires its own lock again, through another lock object of the same request.',
  'nested-long-sale':
    'A holder acquires its own lock again, releases it once, and then works for two and a half leases.',
  'long-sale': 'Each sale takes two and a half leases.',
  'paused-process': 'A holder is paused. Still, no unit may be sold twice.',
  'late-write': 'A write is held until another sale has written.',
  'crossed-write': 'A write is held until another sale has read the stock and has not written it yet.',
  'early-read': 'One process sells. The others only read the stock, twice, under the read lock.',
  failover: 'The server is replaced by a replica that has not received the last command.',
  'client-gone': 'A client disconnects while it waits.',
  'zombie-renewal':
    'The first holder is paused for longer than its lease, and then runs for a long time. The next holder is killed.',
  'crossed-skus': 'There is no fault. Each sale takes two skus, and the processes name them in different orders.',
  'put-back': 'A unit is put back while two other processes want to buy.',
  'frozen-master': 'A master is paused.',
  'late-votes': 'A vote is held on the way back.',
  amnesia: 'A master restarts and has lost its votes.',
  'clock-jump': 'The clock of a master jumps ahead by a lease.',
  'three-clerks': 'There is no fault. Three processes share two permits.',
  'fourth-clerk': 'A holder is paused. Three processes share two permits.',
};
export type ScopeName = keyof typeof scopesInEnglish;

type Argument = string | number;
/** A readable command: a script by its name, with its keys and arguments. */
export type ReadCommand =
  | { words: string }
  | {
      /** None for a script of the lock's own. */
      script?: string;
      isInFull: boolean;
      /** None where the number of its keys is missing: Redis refuses it. */
      keys?: Argument[];
      args: Argument[];
    };

/** A command in English. */
export function readInEnglish(command: ReadCommand): string {
  if ('words' in command) return command.words;
  const { script = 'a script of the lock', isInFull, keys, args } = command;
  const how = [...(isInFull ? ['sent in full'] : []), ...(keys ? [] : ['without the number of its keys'])];
  const of = [
    ...(keys && keys.length > 0 ? [`of ${keys.join(', ')}`] : []),
    ...(args.length > 0 ? [`with ${args.join(', ')}`] : []),
  ];
  const sent = [script, ...how].join(', ');
  return of.length === 0 ? sent : `${sent}${how.length > 0 ? ',' : ''} ${of.join(' ')}`;
}

interface OfCommand {
  command: ReadCommand;
}
interface OfProcess {
  process: string;
}

/** What happens in a step, as a clause without its subject. */
const happenings = {
  // To a process.
  begins: () => 'starts a sale',
  'begins to look': () => 'starts to read',
  sends: ({ command }: OfCommand) => readInEnglish(command),
  'sends to a master': ({ command, master }: OfCommand & { master: number }) =>
    `${readInEnglish(command)} at master ${master}`,
  'sends late': ({ command }: OfCommand) => `${readInEnglish(command)}, held until now,`,
  'sends, the reply is held up': ({ command, master }: OfCommand & { master: number }) =>
    `${readInEnglish(command)} at master ${master}, and the reply is held`,
  'reads the reply': ({ reply }: { reply: string }) => `reads the reply ${reply}`,
  hears: ({ message, channel }: { message: string; channel: string }) => `receives ${message} on ${channel}`,
  'timer fires': () => 'runs a timer',

  // What may go wrong with a process.
  'is paused': () => 'is paused',
  'wakes up': () => 'resumes',
  'is held up': ({ command }: OfCommand) => `has a command held: ${readInEnglish(command)}`,
  'is killed': () => 'is killed',
  'hangs up': () => 'loses its client, which disconnects',

  // To a server, and to the clock.
  'fails over': () => 'fails, and its replica has not received the last command',
  'stands still': ({ master }: { master: number }) => `of master ${master} is paused`,
  'starts again empty': ({ master }: { master: number }) => `of master ${master} restarts empty`,
  'clock jumps': ({ master, ms }: { master: number; ms: number }) =>
    `of master ${master} has its clock jump ahead by ${ms} ms`,
  'clock goes on': ({ ms }: { ms: number }) => `advances to ${ms} ms`,
};
export type HappeningForms = FormsOf<typeof happenings>;
export type Happening = Sentence<HappeningForms>;

/** What happened in a step. With another random number the process might have done something else. */
const clauses = {
  ...happenings,
  'with luck': ({ what, chance }: { what: Happening; chance: number }) =>
    `${worded<HappeningForms>(happenings, what)} (Math.random() is ${chance})`,
};
export type ClauseForms = FormsOf<typeof clauses>;
export type Clause = Sentence<ClauseForms>;

/** The results of a step, as clauses without their subject. */
export type ToldWording = Record<Told['step'], (told: Told) => string>;

const tells: ToldWording = {
  entered: ({ bucket }) => (bucket === undefined ? 'is inside' : `is inside bucket ${bucket}`),
  nested: () => 'has acquired its own lock again',
  read: ({ stock }) => (stock === undefined ? 'has read every stock' : `has read stock ${stock}`),
  wrote: ({ stock }) => (stock === undefined ? 'has written every stock' : `has written stock ${stock}`),
  'put back': ({ stock }) => `has put a unit back: stock ${stock}`,
  'sold out': () => 'finds the stock sold out',
  left: () => 'leaves',
  'waits again': () => 'tries again',
  released: () => 'has released the lock',
  failed: ({ why }) => `fails: ${why}`,
};

/** What must not be left at the end. */
const leftovers = {
  key: ({ key }: { key: string }) => `the key ${key}`,
  subscription: ({ channel }: { channel: string }) => `a subscription to ${channel}`,
  timer: ({ process, ms }: OfProcess & { ms: number }) => `a timer of ${process} for ${ms} ms`,
};
export type LeftoverForms = FormsOf<typeof leftovers>;
export type Leftover = Sentence<LeftoverForms>;

/** How a replay diverged. */
const differences = {
  'told otherwise': ({ process, told }: OfProcess & { told: Told[] }) => `${process} reported ${JSON.stringify(told)}.`,
  'sends otherwise': ({ command }: { command: Argument[] | undefined }) => `it sends ${JSON.stringify(command)}.`,
  'answer to another': ({ id }: { id: number | undefined }) => `the reply is to another command than ${id}.`,
  'replied otherwise': ({ reply, wanted }: { reply: string; wanted: string | undefined }) =>
    `the reply is ${reply} instead of ${wanted}.`,
  'hears otherwise': ({ message }: { message: string | undefined }) => `it receives ${message}.`,
};
export type DifferenceForms = FormsOf<typeof differences>;
export type Difference = Sentence<DifferenceForms>;

type TwoProcesses = { one: string; other: string };

/** The violations. */
const violations = {
  // In a state.
  died: ({ process, why }: OfProcess & { why: string }) => `${process} dies of an unhandled error: ${why}`,
  'refused, though a unit was left': ({ process }: OfProcess) =>
    `${process} finds the stock sold out, although a unit was left all the time.`,
  together: ({ one, other }: TwoProcesses) => `${one} and ${other} are inside at the same time.`,
  'more than permits': ({ inside, permits }: { inside: number; permits: number }) =>
    `${inside} processes are inside at the same time, with only ${permits} permits.`,
  'together within leases': ({ one, other }: TwoProcesses) =>
    `${one} and ${other} are inside at the same time, and neither lease has ended.`,
  'another stock': ({ process }: OfProcess) =>
    `${process} reads the stock twice under the read lock, and it changes in between.`,
  'refused within its lease': ({ process }: OfProcess) =>
    `The stock refuses ${process}, although its lease has not ended: another process has a newer token.`,
  "changes another's lock": ({ process, holder }: OfProcess & { holder: string }) =>
    `${process} changes the lock that ${holder} holds: ${holder} is inside and within its lease.`,
  'gave its lock up': ({ process, other }: OfProcess & { other: string }) =>
    `${process} released its lock while it was inside, and ${other} took it.`,
  'waits for a free lock': ({ process, ms }: OfProcess & { ms: number }) =>
    `The lock is free, but ${process}, which waits for it, has not entered ${ms} ms later.`,
  'nobody after a crash': ({ ms }: { ms: number }) => `Nobody has entered within two leases (${ms} ms) of the crash.`,
  'waits for its own lock': ({ process }: OfProcess) => `${process} waits for its own lock until its lease ends.`,
  'enters after a hang-up': ({ process }: OfProcess) =>
    `${process} keeps waiting after its client has disconnected, and enters later.`,
  'sale failed': ({ process, why }: OfProcess & { why: string | undefined }) => `${process} fails: ${why}`,
  deadlock: ({ processes }: { processes: string[] }) =>
    `${processes.slice(0, -1).join(', ')} and ${processes.at(-1)} wait for each other: every lock is held, and nobody is inside.`,

  // At an end.
  'waits for ever': ({ process }: OfProcess) => `${process} waits for ever.`,
  'sales never end': ({ process, sales }: OfProcess & { sales: number[] }) =>
    `${process} waits for ever: its sales ${sales.join(', ')} never end.`,
  'something left': ({ left }: { left: Leftover[] }) =>
    `All sales have ended, but there is still ${left.map((each) => worded<LeftoverForms>(leftovers, each)).join(', ')}.`,
  lost: ({ sold, stock, left }: { sold: number; stock: number; left: number }) =>
    `${sold} of ${stock} units were sold, but ${left} are left: ${left - (stock - sold)} sold twice.`,
  'lost of a sku': ({ sold, stock, left, key }: { sold: number; stock: number; left: number; key: string }) =>
    `${sold} of ${stock} units were sold, but ${left} are left of ${key}: ${left - (stock - sold)} sold twice.`,
  'lost what was put back': ({ due, left }: { due: number; left: number }) =>
    `${due} units must be left, but there are ${left}: a unit that was put back is lost.`,
  'sales together': ({ process }: OfProcess) => `Two sales of ${process} were inside at the same time.`,

  // At the horizon.
  'still waits': ({ process, ms }: OfProcess & { ms: number }) =>
    `The lock is free, but ${process}, which waits for it, still has not entered ${ms} ms later.`,
  'timer still fires': ({ process, ms }: OfProcess & { ms: number }) =>
    `All sales have ended, but ${ms} ms later a timer of ${process} still fires.`,
};

/** The other verdicts: the lock holds, or the result is unknown. */
const verdicts = {
  holds: () => 'No interleaving breaks the lock.',
  'nobody was inside': () => 'Nobody was inside in any interleaving, so nothing was tested.',
  'nothing went wrong': () => 'The fault happened in no interleaving, so nothing was tested.',
  'too many states': ({ states }: { states: number }) =>
    `The model checker stopped at ${states.toLocaleString('en')} states, before it had seen every interleaving.`,
  'too much memory': ({ bytes }: { bytes: number }) =>
    `The model checker needs more than ${Math.round(bytes / 1e6)} MB.`,
  'beyond the horizon': ({ cut, ms }: { cut: number; ms: number }) =>
    `${cut} interleavings take longer than ${ms} ms, where the model checker stops.`,
  'not controlled': ({ name }: { name: string }) => `The lock uses ${name}, which the model checker does not control.`,
  'a key for each holder': ({ keys }: { keys: string[] }) =>
    `Each holder has its own key, such as ${keys.join(' and ')}, so the model checker can't see whether the lock is free.`,
  'a lease in a value': ({ keys }: { keys: string[] }) =>
    `The key ${keys.join(' and ')} has no TTL, and another holder enters when the lease has ended, so the model checker can't see until when the lock is held.`,
  'a key that stays': ({ keys }: { keys: string[] }) =>
    `The key ${keys.join(' and ')} is still there after a release, so the model checker can't see whether the lock is free.`,
  'replay differs': (at: { replay: number; of: number; step: number; differs: Difference }) =>
    `Replay ${at.replay} of ${at.of} of the counterexample diverged at step ${at.step}: ${worded<DifferenceForms>(differences, at.differs)}`,
  'search died': () => 'The process of the model checker died, or did not come back.',
  interrupted: () => 'The model checker was interrupted.',
  /** The lock can't be loaded: the problem of its file. */
  unreadable: ({ problem }: { problem: string }) => problem,
};

/** A move of the game. */
interface Move extends OfProcess {
  what: Clause;
}
/** A step of the game, with its results. */
interface Made extends Move {
  came: Told[];
}

const ofCommands: Clause['form'][] = ['sends', 'sends to a master', 'sends late', 'sends, the reply is held up'];

/** True when a command has reached its server: then a colon follows the sender. */
export const isCommand = (what: Clause): boolean =>
  ofCommands.includes(what.form === 'with luck' ? what.values.what.form : what.form);

const clauseOf = (process: string, what: Clause) =>
  `${process}${isCommand(what) ? ':' : ''} ${worded<ClauseForms>(clauses, what)}`;
const cameOf = ({ process, came }: Made) => came.map((told) => ` · ${process} ${tells[told.step](told)}`).join('');

const steps = {
  move: ({ process, what }: Move) => clauseOf(process, what),
  made: (made: Made) => `${clauseOf(made.process, made.what)}${cameOf(made)}`,
  'made, with a reply': ({ reply, ...made }: Made & { reply: string }) =>
    `${clauseOf(made.process, made.what)} → ${reply}${cameOf(made)}`,
};

const scope = { scope: ({ name }: { name: ScopeName }) => scopesInEnglish[name] };

const searchWords = { ...scope, ...steps, ...violations, ...verdicts };
export type SearchForms = FormsOf<typeof searchWords>;
/** A whole sentence of the model checker or the game. */
export type SearchSentence = Sentence<SearchForms>;
export type SearchWording = Wording<SearchForms>;

export const happens = <Form extends keyof HappeningForms>(form: Form, ...[values]: Given<HappeningForms[Form]>) =>
  ({ form, values: values ?? {} }) as Happening;
export const says = <Form extends keyof SearchForms>(form: Form, ...[values]: Given<SearchForms[Form]>) =>
  ({ form, values: values ?? {} }) as SearchSentence;

/** The fault model of the scope of this name. */
export const saysOfScope = (name: string): SearchSentence | undefined =>
  Object.hasOwn(scopesInEnglish, name) ? says('scope', { name: name as ScopeName }) : undefined;

/** The sentence in English. */
export const inEnglish = (sentence: SearchSentence): string => worded<SearchForms>(searchWords, sentence);
/** What happened in a step, in English, without its subject. */
export const clauseInEnglish = (what: Clause): string => worded<ClauseForms>(clauses, what);
/** The result of a step, in English, without its subject: `has read stock 10`. */
export const toldInEnglish = (told: Told): string => tells[told.step](told);
