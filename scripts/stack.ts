import dotenv from 'dotenv';
import { z } from 'zod';
import { readSettingsOrExit, redisUrl } from '../services/inventory/settings.ts';
import { type NginxServer, startNginx } from './nginx.ts';
import { dismissReaper, freePort, makeTempDir, nodeArgs, type Part, startPart } from './parts.ts';
import { openRedis, type RedisServer } from './redis.ts';

export interface Node {
  name: string;
  url: string;
  labUrl: string;
  part: Part;
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
  const { nginx: nginxPort, nodes: nodePorts } = ports ?? (await freePorts());
  const temp = makeTempDir();
  const parts: Part[] = [];
  let isStopping = false;

  async function stop() {
    if (isStopping) return;
    isStopping = true;
    // From the outside in: no part loses the one it depends on.
    for (const part of parts.toReversed()) await part.stop();
    temp.remove();
    await dismissReaper();
  }

  try {
    const redis = await openRedis(REDIS_URL, temp.dir);
    if (redis.part) parts.push(redis.part);

    const nodes = await Promise.all(
      nodePorts.map(async ({ port, labPort }, index): Promise<Node> => {
        const name = `node-${index + 1}`;
        const url = `http://127.0.0.1:${port}`;
        const part = await startPart({
          name,
          command: process.execPath,
          args: nodeArgs('services/inventory/main.ts'),
          env: {
            ...process.env,
            ...env,
            REDIS_URL: redis.url,
            PORT: String(port),
            NODE_NAME: name,
            LAB_PORT: String(labPort),
            LAB_HOST: '127.0.0.1',
          },
          isReady: async () => (await fetch(`${url}/readyz`)).ok,
          onLine: (line) => onLine?.(name, line),
        });
        parts.push(part);
        return { name, url, labUrl: `http://127.0.0.1:${labPort}`, part };
      }),
    );

    const nginx = await startNginx({
      port: nginxPort,
      nodes: nodePorts.map(({ port }) => `127.0.0.1:${port}`),
      dir: temp.dir,
    });
    parts.push(nginx.part);

    const partDied = Promise.race(
      parts.map(async (part) => {
        const sentence = await part.ended;
        return isStopping ? new Promise<never>(() => {}) : sentence;
      }),
    );
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
