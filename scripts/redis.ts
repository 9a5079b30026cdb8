import { connect } from 'node:net';
import { Redis } from 'ioredis';
import { freePort, nodeArgs, type Part, startPart } from './parts.ts';
import { findOnPath } from './path.ts';

/** How long a given Redis may take to answer, in milliseconds. */
const GIVEN_LIMIT_MS = 2_000;

export interface RedisServer {
  url: string;
  /** `external` was given as REDIS_URL, `native` is a server from the PATH, `embedded` is Valkey in WebAssembly. */
  kind: 'external' | 'native' | 'embedded';
  /** The process, when it is ours. */
  part?: Part;
}

/** The Redis to use: REDIS_URL if it is given, else a new server from the PATH, else a new embedded one. */
export async function openRedis(givenUrl: string | undefined, dir: string): Promise<RedisServer> {
  if (givenUrl !== undefined) {
    await mustAnswer(givenUrl);
    return { url: givenUrl, kind: 'external' };
  }
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const program = findOnPath('redis-server', 'valkey-server');
  const part = await startPart({
    name: 'redis',
    ...(program === undefined
      ? { command: process.execPath, args: [...nodeArgs('scripts/embedded-valkey.ts'), String(port)] }
      : { command: program, args: serverArgs(port, dir) }),
    cwd: dir,
    isReady: () => answersPing(port),
  });
  return { url, kind: program === undefined ? 'embedded' : 'native', part };
}

/** Only on loopback, nothing saved to disk. */
function serverArgs(port: number, dir: string) {
  return ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir];
}

/** Rejects with one sentence when no Redis answers at `url`. */
async function mustAnswer(url: string) {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: GIVEN_LIMIT_MS,
    socketTimeout: GIVEN_LIMIT_MS,
    retryStrategy: () => null,
  });
  let lastError = 'it was not there in time';
  redis.on('error', (error) => {
    lastError = error.message;
  });
  try {
    await redis.connect();
    await redis.ping();
  } catch {
    throw new Error(`the Redis that REDIS_URL names does not answer: ${lastError}`);
  } finally {
    redis.disconnect();
  }
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.setTimeout(1000, () => socket.destroy(new Error('no answer')));
    socket.once('error', reject);
    socket.once('data', (answer) => {
      socket.destroy();
      resolve(answer.toString().startsWith('+PONG'));
    });
  });
}
