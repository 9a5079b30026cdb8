// The command line of the bench.

import { InvalidArgumentError } from 'commander';
import { lockName } from '../../locks/index.ts';
import {
  bucketCounts,
  type Contestant,
  contestants,
  httpContestants,
  ORDERS_UNDER,
  peerOf,
  withOrders,
} from '../bench/contestants.ts';
import { jsonOption, newCommand, reportsOption, wholeNumber } from './command-line.ts';

const MOST_WAITERS = 10_000;

export interface BenchOptions {
  contestants: Contestant[];
  http: boolean;
  /** Each strategy is measured with an order for each sale, too. */
  orders: boolean;
  rounds: number;
  /** How long each turn is measured. */
  seconds: number;
  /** Waiters in each of two processes; with `http` the connections to nginx. */
  waiters: number[];
  /** Sales in each turn with `http`. */
  requests: number;
  /** Spinners keep the CPUs awake. */
  spinners: boolean;
  /** Print the results alone. */
  json: boolean;
  reportsDir: string;
}

/** Reads the command line of the bench. What is not allowed ends the process with exit code 2 and one line. */
export function readBenchOptions(argv: string[]): BenchOptions {
  const command = newCommand(
    'npm run bench',
    'Measures the locks themselves, ours and published ones, in turns within one run.',
  )
    .option('--only <names>', `what to measure (default: all): ${contestants.map(({ name }) => name).join(', ')}`)
    .option('--rounds <n>', 'how often each is measured', wholeNumber, 3)
    .option('--seconds <s>', 'how long each is measured each time, in seconds', seconds, 3)
    .option(
      '--waiters <list>',
      'waiters in each of two processes; with --http and --orders connections',
      waiterList,
      [10, 100, 1_000],
    )
    .option('--http', 'sales through nginx to two nodes, instead of the locks alone', false)
    .option('--orders', 'sales with an order each, and without one to compare', false)
    .option('--requests <n>', 'with --http and --orders: sales in each turn', wholeNumber, 4_000)
    .option('--no-spinners', 'let the CPUs sleep between two round trips')
    .addOption(jsonOption())
    .addOption(reportsOption());
  const given = command.parse(argv).opts();
  const refuse = (line: string): never => command.error(`error: ${line}`);

  const { only, orders, waiters, requests } = given;
  const http = given.http || orders;
  if (http && Math.max(...waiters) > requests) {
    refuse(`--waiters ${Math.max(...waiters)} is too many for --requests ${requests}`);
  }
  const sellers = orders ? httpContestants.filter(({ kind }) => kind === 'ours') : httpContestants;
  const all = http ? sellers : contestants;
  const usual = orders ? all.filter(({ name }) => ORDERS_UNDER.includes(name)) : all;
  const chosen = only === undefined ? usual : choose(http ? all : [...all, ...bucketCounts], only, refuse);
  return {
    contestants: orders ? withOrders(chosen) : chosen,
    http,
    orders,
    rounds: given.rounds,
    seconds: given.seconds,
    waiters,
    requests,
    spinners: given.spinners,
    json: given.json,
    reportsDir: given.reports,
  };
}

/** Those that are named, in the order of the bench: a stage by its number or name, the others by name. */
function choose(all: Contestant[], names: string, refuse: (line: string) => never): Contestant[] {
  const wanted = names.split(',').map((given) => {
    const name = given.trim();
    const isNamed = (contestant: Contestant) => contestant.name === name || contestant.name === lockName(name);
    const found = all.find(isNamed) ?? all.find((contestant) => peerOf(contestant.name) === name);
    return found ?? refuse(`--only ${name} is not known: it must be one of ${all.map(({ name }) => name).join(', ')}`);
  });
  return all.filter((contestant) => wanted.includes(contestant));
}

/** Throws InvalidArgumentError for what is not a number from 0.1 to 600. */
function seconds(value: string): number {
  const number = Number(value);
  if (/^\d+(\.\d+)?$/.test(value) && number >= 0.1 && number <= 600) return number;
  throw new InvalidArgumentError('It must be a number from 0.1 to 600.');
}

/** Throws InvalidArgumentError for what is not one number of waiters, or several with commas between them. */
function waiterList(value: string): number[] {
  const numbers = value.split(',').map((part) => wholeNumber(part.trim()));
  if (Math.max(...numbers) > MOST_WAITERS) {
    throw new InvalidArgumentError(`It must be at most ${MOST_WAITERS}.`);
  }
  return [...new Set(numbers)].sort((a, b) => a - b);
}
