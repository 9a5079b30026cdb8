// The command line of npm run judge.

import { Option } from 'commander';
import { isExternal } from '../../loadtest/staircase/lookup.ts';
import {
  type Running,
  readSaid,
  readSale,
  type SaidInFile,
  type SaidOfService,
} from '../../loadtest/worlds/foreign/said.ts';
import { isRowPlace, type RowPlace, readRowPlace } from '../../loadtest/worlds/foreign/stock-row.ts';
import { foreignDrills } from '../../loadtest/worlds/foreign/world.ts';
import { callerDir, type Given, namesAmong, newCommand, wholeNumberFrom } from './command.ts';
import { languageOf } from './language.ts';

const milliseconds = wholeNumberFrom(1, 3_600_000);

/** What the user can say about a service so that it need not be learned, and how long to wait for it. */
const said = [
  new Option('--name <name>', 'name of the service in the report'),
  new Option(
    '--sale <request>',
    'the request that buys a unit, such as "POST /buy" or "POST /buy {...}" (default: learned)',
  ),
  new Option(
    '--stock <key>',
    'the Redis key of its stock, such as stock:42 (default: learned), or the stock in MySQL: mysql://user:password@127.0.0.1:3306/shop?table=goods&column=qty&where=id=42',
  ),
  new Option('--field <field>', 'the field of the stock, if the key is a hash'),
  new Option(
    '--sold <answer>',
    'the response to a sale: status and text, with # for a number and ~ for an id (default: learned)',
  ),
  new Option('--sold-out <answer>', 'the response when sold out, in the same form (default: learned)'),
  new Option('--lease-ms <ms>', 'the lease of its lock, if it can’t be observed').argParser(milliseconds),
  new Option('--patience <ms>', 'the longest lease to wait for').argParser(milliseconds).default(4_000),
  new Option(
    '--url <urls>',
    'two running copies, instead of a command: runs the rushes only, judged by responses and stock',
  ),
  new Option('--redis <url>', 'the Redis of those copies; their stock is restored at the end'),
  new Option('--save', 'save each step-by-step drill as a page that plays without a server'),
  new Option('--verbose', 'include the values of all keys and the service’s output in the report'),
];

export type JudgeCommand = ReturnType<typeof readJudgeOptions>;

/** Reads the command line of `npm run judge`. An invalid command line ends the process with exit code 2 and one line. */
export function readJudgeOptions(argv: string[]) {
  const command = newCommand('judge', ['drill', 'requests', 'connections', 'json', 'reports', 'lang'])
    .argument(
      '[service]',
      'the command that starts a copy, such as "java -jar shop.jar", or a folder with a lockstep.json',
    )
    .addHelpText(
      'after',
      '\nEach copy gets PORT, REDIS_URL, LEASE_MS and NODE_NAME in its environment, and MYSQL_URL if the stock is in MySQL.',
    )
    .addHelpText('after', `The drills: ${foreignDrills.join(', ')}`);
  for (const option of said) command.addOption(option);
  const { drill, requests, connections, save, json, reports, lang, patience, verbose, url, redis, sale, ...known } =
    command.parse(argv).opts<
      Pick<Given, 'drill' | 'requests' | 'connections' | 'json' | 'reports' | 'lang'> &
        Omit<SaidInFile, 'command' | 'build'> & {
          patience: number;
          url?: string;
          redis?: string;
          save?: true;
          verbose?: true;
        }
    >();
  const [text = ''] = command.args;
  const service = readOrRefuse();
  if (!isExternal(service.name)) refuse(`--name ${service.name} is the name of a built-in row: choose another`);
  if (!/^[\w.-]{1,40}$/.test(service.name))
    refuse(`--name ${service.name} must consist of letters, digits, dots and dashes`);
  const drills = namesAmong(foreignDrills, drill, command, '--drill');
  return {
    service,
    drills,
    requests,
    connections,
    longestWaitMs: patience,
    doesSave: save ?? false,
    isJson: json ?? false,
    isVerbose: verbose ?? false,
    reports,
    language: languageOf({ lang }, command),
  };

  function readOrRefuse(): SaidOfService & { place?: RowPlace; running?: Running | undefined } {
    try {
      const running = runningOf(url, redis, known.stock);
      if ((running === undefined) === (text === ''))
        throw new Error('give either a command, such as "java -jar shop.jar", or --url with two running copies');
      const own = running ? { command: '', dir: callerDir, name: 'service' } : readSaid(text, callerDir);
      const all = { ...own, ...known, running, ...(sale !== undefined && { sale: readSale(sale) }) };
      if (!isRowPlace(all.stock)) return all;
      if (running)
        throw new Error('--url needs a stock in Redis: for a stock in MySQL give the command that starts a copy');
      return { ...all, place: readRowPlace(all.stock) };
    } catch (error) {
      return refuse((error as Error).message);
    }
  }

  function refuse(line: string): never {
    return command.error(`error: ${line}`);
  }
}

/** The running copies, if any are named. Throws an error with a full sentence. */
function runningOf(url?: string, redis?: string, stock?: string): Running | undefined {
  if (url === undefined && redis === undefined) return undefined;
  const urls = (url ?? '').split(',').map((part) => addressHere(part.trim(), '--url', 'http://127.0.0.1:8081').origin);
  if (urls.length !== 2 || urls[0] === urls[1])
    throw new Error('--url needs the addresses of two copies, such as http://127.0.0.1:8081,http://127.0.0.1:8082');
  const redisUrl = addressHere(redis ?? '', '--redis', 'redis://127.0.0.1:6379').href;
  if (stock === undefined)
    throw new Error("--url needs --stock: the Redis traffic of running copies can't be observed");
  return { urls, redisUrl, stock };
}

/** Only addresses of this machine are allowed. An invalid address may contain a password anywhere, so it is not shown. */
function addressHere(text: string, option: string, example: string): URL {
  const address = URL.canParse(text) ? new URL(text) : undefined;
  if (address?.protocol === new URL(example).protocol && ['127.0.0.1', 'localhost', '[::1]'].includes(address.hostname))
    return address;
  const why = address?.protocol === 'rediss:' ? 'TLS is not supported: ' : '';
  throw new Error(`${why}${option} must be an address of this machine, such as ${example}`);
}
