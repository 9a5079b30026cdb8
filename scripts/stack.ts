import dotenv from 'dotenv';
import { z } from 'zod';
import { inventorySettings, readSettingsOrExit, redisUrl } from '../services/inventory/settings.ts';
import { type NginxServer, startNginx } from './nginx.ts';
import { dismissReaper, freePort, makeTempDir, nodeArgs, type Part, startPart } from './parts.ts';
import { openRedis, type RedisServer } from './redis.ts';

/** How long a part that starts may take to answer one question, in milliseconds. */
const ASK_LIMIT_MS = 1_000;

export interface Node {
  name: string;
  url: string;
  labUrl: string;
  /** Sends a signal to the process: SIGSTOP pauses it, SIGCONT lets it go on. */
  signal(name: NodeJS.Signals): void;
  /** Ends the process at once, as a crash would. Nobody is told that a part has died. */
  kill(): Promise<void>;
  /** Starts the process again after kill(), on the same ports. */
  start(): Promise<void>;
}

export interface Stack {
  redis: RedisServer;
  nginx: NginxServer;
  nodes: Node[];
  /** Resolves with a sentence as soon as a part ends that nobody stopped. */
  partDied: Promise<string>;
  stop(): Promise<void>;
}

export interface Ports {
  nginx: number;
  nodes: { port: number; labPort: number }[];
}

export interface StackOptions {
  /** Where to listen; free ports when it is not given. */
  ports?: Ports | undefined;
  /** Settings for both nodes, over those of the environment. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Given every line that a part prints. */
  onLine?: ((name: string, line: string) => void) | undefined;
}

/** Starts redis, two nodes and nginx, and resolves when each of them answers. Leaves nothing behind when it rejects. */
export async function startStack({ ports, env = {}, onLine }: StackOptions = {}): Promise<Stack> {
  dotenv.config({ quiet: true });
  const { REDIS_URL } = readSettingsOrExit(z.object({ REDIS_URL: redisUrl().optional() }), process.env);
  // Each node would say the same of a bad value.
  readSettingsOrExit(inventorySettings, { ...process.env, ...env });
  const { nginx: nginxPort, nodes: nodePorts } = ports ?? (await freePorts());
  const temp = makeTempDir();
  const parts = new Set<Part>();
  let isStopping = false;
  let tellDeath: (sentence: string) => void;
  const partDied = new Promise<string>((resolve) => {
    tellDeath = resolve;
  });

  /** From here on the part's end is a death, unless the stack stops or the part is let go. */
  function watch(part: Part): Part {
    parts.add(part);
    void part.ended.then((sentence) => {
      if (parts.delete(part) && !isStopping) tellDeath(sentence);
    });
    return part;
  }

  async function stop() {
    if (isStopping) return;
    isStopping = true;
    // From the outside in: no part loses the one it depends on.
    for (const part of [...parts].toReversed()) await part.stop();
    temp.remove();
    await dismissReaper();
  }

  async function startNode(index: number, redisUrl: string): Promise<Node> {
    const { port = 0, labPort = 0 } = nodePorts[index] ?? {};
    const name = `node-${index + 1}`;
    const url = `http://127.0.0.1:${port}`;
    const startProcess = () =>
      startPart({
        name,
        command: process.execPath,
        args: nodeArgs('services/inventory/main.ts'),
        env: {
          ...process.env,
          ...env,
          REDIS_URL: redisUrl,
          PORT: String(port),
          NODE_NAME: name,
          LAB_PORT: String(labPort),
          LAB_HOST: '127.0.0.1',
        },
        isReady: async () => (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ASK_LIMIT_MS) })).ok,
        onLine: (line) => onLine?.(name, line),
      });
    let part = watch(await startProcess());
    return {
      name,
      url,
      labUrl: `http://127.0.0.1:${labPort}`,
      signal: (signal) => part.signal(signal),
      async kill() {
        parts.delete(part);
        part.signal('SIGKILL');
        await part.ended;
      },
      async start() {
        part = watch(await startProcess());
      },
    };
  }

  try {
    const redis = await openRedis(REDIS_URL, temp.dir);
    if (redis.part) watch(redis.part);
    const starts = await Promise.allSettled(nodePorts.map((_, index) => startNode(index, redis.url)));
    const nodes = starts.map((start) => {
      if (start.status === 'rejected') throw start.reason;
      return start.value;
    });
    const nginx = await startNginx({
      port: nginxPort,
      nodes: nodePorts.map(({ port }) => `127.0.0.1:${port}`),
      dir: temp.dir,
    });
    watch(nginx.part);
    return { redis, nginx, nodes, partDied, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function freePorts(): Promise<Ports> {
  const [nginx, ...rest] = [await freePort(), await freePort(), await freePort(), await freePort(), await freePort()];
  const [port1, labPort1, port2, labPort2] = rest as [number, number, number, number];
  return {
    nginx,
    nodes: [
      { port: port1, labPort: labPort1 },
      { port: port2, labPort: labPort2 },
    ],
  };
}
