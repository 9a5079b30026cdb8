// What the search says, in English: its scopes, what happens in a step, what came of it, what is violated, and why a cell is as it is.
// The Chinese is in wording.zh.ts. This file imports types alone: the page speaks by it, too.

import { type FormsOf, type Given, type Sentence, type Wording, worded } from '../simulation/wording.ts';
import type { Told } from './process.ts';

/** What each scope lets go wrong, by its name. */
export const scopesInEnglish = {
  plain: 'No fault is staged.',
  'lost-wakeup': 'No fault is staged, and nobody may wait while the lock is free.',
  'script-cache-empty': 'The server knows no script yet.',
  'crashed-holder': 'A holder is killed.',
  'slow-holder': 'A holder is paused, and what it does later must not harm the next holder.',
  'late-release': 'A release is held up on its way, and must not harm the next holder.',
  'nested-call': 'A holder asks for its own lock once more.',
  'nested-object': 'A holder asks once more through another lock object of the same request.',
  'nested-long-sale': 'A holder asks once more, gives that up, and then works for two and a half leases.',
  'long-sale': 'Each sale takes two and a half leases.',
  'paused-process': 'A holder is paused. Even so, no unit should be sold twice.',
  'late-write': 'A write is held up until another sale has written.',
  'crossed-write': 'A write is held up until another sale has read, and not yet written.',
  'early-read': 'One process sells; the others only look, and read the stock twice under the read lock.',
  failover: 'The server is replaced by a replica that has not heard of the last command.',
  'client-gone': 'A client hangs up while it waits.',
  'zombie-renewal': 'The first holder outlives its lease in a pause, and goes on for long; the next holder is killed.',
  'crossed-skus': 'No fault is staged, and each sale is one of two skus, which the processes name in different orders.',
  'put-back': 'A unit is put back while two others want to buy.',
  'frozen-master': 'A master stands still.',
  'late-votes': 'A vote is held up on its way back.',
  amnesia: 'A master is started again, and has forgotten its votes.',
  'clock-jump': 'The clock of a master jumps ahead by a lease.',
  'three-clerks': 'No fault is staged, and three processes share two permits.',
  'fourth-clerk': 'A holder is paused, and three processes share two permits.',
};
export type ScopeName = keyof typeof scopesInEnglish;

type Argument = string | number;
/** A command as people read it: a script by its name, its keys and its arguments. */
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
  const { script = 'a script of its own', isInFull, keys, args } = command;
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

/** What happens, as a clause without its subject. */
const happenings = {
  // To a process.
  begins: () => 'begins a sale',
  'begins to look': () => 'begins to look',
  sends: ({ command }: OfCommand) => readInEnglish(command),
  'sends to a master': ({ command, master }: OfCommand & { master: number }) =>
    `${readInEnglish(command)} at master ${master}`,
  'sends late': ({ command }: OfCommand) => `${readInEnglish(command)}, held up until now,`,
  'sends, the reply is held up': ({ command, master }: OfCommand & { master: number }) =>
    `${readInEnglish(command)} at master ${master}, and the reply is held up`,
  'reads the reply': ({ reply }: { reply: string }) => `reads the reply ${reply}`,
  hears: ({ message, channel }: { message: string; channel: string }) => `hears ${message} on ${channel}`,
  'timer fires': () => 'has a timer fire',

  // What may go wrong with a process.
  'is paused': () => 'is paused',
  'wakes up': () => 'wakes up',
  'is held up': ({ command }: OfCommand) => `has a command held up: ${readInEnglish(command)}`,
  'is killed': () => 'is killed',
  'hangs up': () => 'has a client that hangs up',

  // To a server, and to the clock.
  'fails over': () => 'fails, and its replica has not heard of the last command',
  'stands still': ({ master }: { master: number }) => `of master ${master} stands still`,
  'starts again empty': ({ master }: { master: number }) => `of master ${master} is started again, empty`,
  'clock jumps': ({ master, ms }: { master: number; ms: number }) =>
    `of master ${master} has its clock jump ahead by ${ms} ms`,
  'clock goes on': ({ ms }: { ms: number }) => `goes on to ${ms} ms`,
};
export type HappeningForms = FormsOf<typeof happenings>;
export type Happening = Sentence<HappeningForms>;

/** What happened in a step. With other luck the process might have done something else. */
const clauses = {
  ...happenings,
  'with luck': ({ what, chance }: { what: Happening; chance: number }) =>
    `${worded<HappeningForms>(happenings, what)} (Math.random() is ${chance})`,
};
export type ClauseForms = FormsOf<typeof clauses>;
export type Clause = Sentence<ClauseForms>;

/** What came of a step, as a clause without its subject. */
export type ToldWording = Record<Told['step'], (told: Told) => string>;

const tells: ToldWording = {
  entered: ({ bucket }) => (bucket === undefined ? 'is inside' : `is inside of bucket ${bucket}`),
  nested: () => 'has its own lock once more',
  read: ({ stock }) => (stock === undefined ? 'has read every stock' : `has read stock ${stock}`),
  wrote: ({ stock }) => (stock === undefined ? 'has written every stock' : `has written stock ${stock}`),
  'put back': ({ stock }) => `has put a unit back: stock ${stock}`,
  'sold out': () => 'finds it sold out',
  left: () => 'leaves',
  'waits again': () => 'looks again',
  released: () => 'has given the lock up',
  failed: ({ why }) => `fails: ${why}`,
};

/** What is there at the end, and must not be. */
const leftovers = {
  key: ({ key }: { key: string }) => `the key ${key}`,
  subscription: ({ channel }: { channel: string }) => `a subscription to ${channel}`,
  timer: ({ process, ms }: OfProcess & { ms: number }) => `a timer of ${process} for ${ms} ms`,
};
export type LeftoverForms = FormsOf<typeof leftovers>;
export type Leftover = Sentence<LeftoverForms>;

/** Where a replay went another way. */
const differences = {
  'told otherwise': ({ process, told }: OfProcess & { told: Told[] }) => `${process} told ${JSON.stringify(told)}.`,
  'sends otherwise': ({ command }: { command: Argument[] | undefined }) => `it sends ${JSON.stringify(command)}.`,
  'answer to another': ({ id }: { id: number | undefined }) => `the answer is to another command than ${id}.`,
  'replied otherwise': ({ reply, wanted }: { reply: string; wanted: string | undefined }) =>
    `the reply is ${reply} instead of ${wanted}.`,
  'hears otherwise': ({ message }: { message: string | undefined }) => `it hears ${message}.`,
};
export type DifferenceForms = FormsOf<typeof differences>;
export type Difference = Sentence<DifferenceForms>;

type TwoProcesses = { one: string; other: string };

/** What is violated. */
const violations = {
  // In a state.
  died: ({ process, why }: OfProcess & { why: string }) => `${process} ends by an error that nobody catches: ${why}`,
  'refused, though a unit was left': ({ process }: OfProcess) =>
    `${process} finds it sold out, and a unit was left at every moment since it came.`,
  together: ({ one, other }: TwoProcesses) => `${one} and ${other} are inside at the same time.`,
  'more than permits': ({ inside, permits }: { inside: number; permits: number }) =>
    `${inside} are inside at the same time, with ${permits} permits.`,
  'together within leases': ({ one, other }: TwoProcesses) =>
    `${one} and ${other} are inside at the same time, and the leases of both run.`,
  'another stock': ({ process }: OfProcess) => `${process} reads twice under the read lock, and sees another stock.`,
  'refused within its lease': ({ process }: OfProcess) =>
    `The stock refuses ${process}, whose lease runs: another has a newer token.`,
  "changes another's lock": ({ process, holder }: OfProcess & { holder: string }) =>
    `${process} changes the lock that ${holder} holds: ${holder} is inside and within its lease.`,
  'gave its lock up': ({ process, other }: OfProcess & { other: string }) =>
    `${process} gave its lock up while it was inside, and ${other} took it.`,
  'waits for a free lock': ({ process, ms }: OfProcess & { ms: number }) =>
    `The lock is free, and ${process}, which waits for it, has not entered ${ms} ms later.`,
  'nobody after a crash': ({ ms }: { ms: number }) => `Nobody has entered within two leases (${ms} ms) of the crash.`,
  'waits for its own lock': ({ process }: OfProcess) => `${process} waits for its own lock until its lease is over.`,
  'enters after a hang-up': ({ process }: OfProcess) =>
    `${process} waits on after its client has hung up, and enters later.`,
  'sale failed': ({ process, why }: OfProcess & { why: string | undefined }) => `${process} fails: ${why}`,
  deadlock: ({ processes }: { processes: string[] }) =>
    `${processes.slice(0, -1).join(', ')} and ${processes.at(-1)} wait for each other: every lock is held, and nobody is inside.`,

  // At an end.
  'waits for ever': ({ process }: OfProcess) => `${process} waits for ever.`,
  'sales never end': ({ process, sales }: OfProcess & { sales: number[] }) =>
    `${process} waits for ever: its sales ${sales.join(', ')} never end.`,
  'something left': ({ left }: { left: Leftover[] }) =>
    `All sales have ended, and there is still ${left.map((each) => worded<LeftoverForms>(leftovers, each)).join(', ')}.`,
  lost: ({ sold, stock, left }: { sold: number; stock: number; left: number }) =>
    `${sold} were sold of ${stock}, and ${left} are left: ${left - (stock - sold)} sold twice.`,
  'lost of a sku': ({ sold, stock, left, key }: { sold: number; stock: number; left: number; key: string }) =>
    `${sold} were sold of ${stock}, and ${left} are left of ${key}: ${left - (stock - sold)} sold twice.`,
  'lost what was put back': ({ due, left }: { due: number; left: number }) =>
    `${due} must be left, and there are ${left}: what was put back is lost.`,
  'sales together': ({ process }: OfProcess) => `Two sales of ${process} were inside at the same time.`,

  // At the horizon.
  'still waits': ({ process, ms }: OfProcess & { ms: number }) =>
    `The lock is free, and ${process}, which waits for it, still has not entered ${ms} ms later.`,
  'timer still fires': ({ process, ms }: OfProcess & { ms: number }) =>
    `All sales have ended, and ${ms} ms later a timer of ${process} still fires.`,
};

/** Why nothing is violated, or nothing is known. */
const verdicts = {
  holds: () => 'No order of events violates it.',
  'nobody was inside': () => 'Nobody was inside in any order of events, so nothing was put to the test.',
  'nothing went wrong': () => 'What may go wrong happened in no order of events, so nothing was put to the test.',
  'too many states': ({ states }: { states: number }) =>
    `The search stopped at ${states.toLocaleString('en')} states, before it had seen every order.`,
  'too much memory': ({ bytes }: { bytes: number }) => `It takes more than ${Math.round(bytes / 1e6)} MB.`,
  'beyond the horizon': ({ cut, ms }: { cut: number; ms: number }) =>
    `${cut} interleavings go on for longer than ${ms} ms, where the search stops.`,
  'not controlled': ({ name }: { name: string }) => `The lock uses ${name}, which the search does not control.`,
  'a key for each holder': ({ keys }: { keys: string[] }) =>
    `Each holder has a key of its own, such as ${keys.join(' and ')}, so the search can't see whether the lock is free.`,
  'a lease in a value': ({ keys }: { keys: string[] }) =>
    `The key ${keys.join(' and ')} has no TTL, and another enters when the lease is over, so the search can't see until when it is held.`,
  'a key that stays': ({ keys }: { keys: string[] }) =>
    `The key ${keys.join(' and ')} is still there when the lock is given up, so the search can't see whether the lock is free.`,
  'replay differs': (at: { replay: number; of: number; step: number; differs: Difference }) =>
    `Replay ${at.replay} of ${at.of} of the counterexample went another way, at step ${at.step}: ${worded<DifferenceForms>(differences, at.differs)}`,
  'search died': () => 'The process of the search has died, or did not come back.',
  interrupted: () => 'The search was interrupted.',
  /** The lock can't be read: what its file says against it. */
  unreadable: ({ problem }: { problem: string }) => problem,
};

/** A move of the game. */
interface Move extends OfProcess {
  what: Clause;
}
/** A step of the game, and what came of it. */
interface Made extends Move {
  came: Told[];
}

const ofCommands: Clause['form'][] = ['sends', 'sends to a master', 'sends late', 'sends, the reply is held up'];

/** What happened is that a command has reached its server: who has sent it stands before a colon. */
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
/** What the search or the game says, as a whole sentence. */
export type SearchSentence = Sentence<SearchForms>;
export type SearchWording = Wording<SearchForms>;

export const happens = <Form extends keyof HappeningForms>(form: Form, ...[values]: Given<HappeningForms[Form]>) =>
  ({ form, values: values ?? {} }) as Happening;
export const says = <Form extends keyof SearchForms>(form: Form, ...[values]: Given<SearchForms[Form]>) =>
  ({ form, values: values ?? {} }) as SearchSentence;

/** What the scope of this name lets go wrong. */
export const saysOfScope = (name: string): SearchSentence | undefined =>
  Object.hasOwn(scopesInEnglish, name) ? says('scope', { name: name as ScopeName }) : undefined;

/** The sentence in English. */
export const inEnglish = (sentence: SearchSentence): string => worded<SearchForms>(searchWords, sentence);
/** What happened in a step in English, without who or what it happened to. */
export const clauseInEnglish = (what: Clause): string => worded<ClauseForms>(clauses, what);
/** What came of a step in English, as a clause without its subject: `has read stock 10`. */
export const toldInEnglish = (told: Told): string => tells[told.step](told);
