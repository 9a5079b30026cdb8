import { type Node, type StackOptions, startStack } from '../scripts/stack.ts';
import { type LabClient, openLabClient } from './lab-client.ts';
import type { Results } from './results.ts';

export interface TargetNode extends LabClient {
  name: string;
  /** The node's process, when it is ours to stop and to kill. */
  process?: Pick<Node, 'signal' | 'kill' | 'start'>;
}

/** Two nodes behind a load balancer, for the drills to aim at. */
export interface Target {
  /** The load balancer. */
  url: string;
  nodes: TargetNode[];
  redis: Results['environment']['redis'];
  nginx: string;
  /** Resolves with a sentence when a part of the stack dies that no drill killed. */
  partDied: Promise<string>;
  /** Leaves the target as it was found. */
  close(): Promise<void>;
}

/** Starts a stack of its own on free ports. */
export async function openLocalTarget(options: StackOptions = {}): Promise<Target> {
  const stack = await startStack(options);
  try {
    const nodes = await Promise.all(
      stack.nodes.map(async (node) => ({ name: node.name, process: node, ...(await openLabClient(node.labUrl)) })),
    );
    // A Redis of our own ends with the stack; a given one is left as it was found.
    const putStockBack = stack.redis.kind === 'external' ? await rememberStock(nodes) : async () => {};
    return {
      url: stack.nginx.url,
      nodes,
      redis: { kind: stack.redis.kind, version: await versionOf(nodes) },
      nginx: `${stack.nginx.kind} ${stack.nginx.version}`,
      partDied: stack.partDied,
      async close() {
        await putStockBack();
        await stack.stop();
      },
    };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

/** Aims at a stack that runs already. Its lock and its stock are put back on closing. */
export async function openRunningTarget(url: string, labUrls: string[]): Promise<Target> {
  const labs = await Promise.all(labUrls.map(openLabClient));
  const states = await Promise.all(labs.map((lab) => lab.state()));
  if (new Set(states.map(({ instance }) => instance)).size < states.length) {
    throw new Error(`--lab names the same node twice: ${labUrls.join(' and ')} are both ${states[0]?.node}.`);
  }
  const busy = states.find(({ inFlight }) => inFlight > 0);
  if (busy) throw new Error(`${busy.node} has sales in progress: ${busy.inFlight}. Run it again when they have ended.`);
  const nodes = labs.map((lab, index) => ({ name: states[index]?.node ?? '', ...lab }));
  const putStockBack = await rememberStock(nodes);
  const answer = await fetch(`${url}/healthz`).catch((error: Error) => {
    throw new Error(`${url} does not answer: ${error.cause instanceof Error ? error.cause.message : error.message}`);
  });
  return {
    url,
    nodes,
    redis: { kind: 'external', version: await versionOf(nodes) },
    nginx: `external ${answer.headers.get('server') ?? ''}`.trim(),
    partDied: new Promise(() => {}),
    async close() {
      for (const [index, node] of nodes.entries()) {
        const { lock = '', leaseMs, retryDelayMs, waitTimeoutMs } = states[index] ?? {};
        await node.setLock(lock, { leaseMs, retryDelayMs, waitTimeoutMs }).catch((error: Error) => {
          process.stderr.write(`The lock of ${node.name} could not be put back: ${error.message}\n`);
        });
      }
      await putStockBack();
    },
  };
}

async function versionOf([node]: LabClient[]): Promise<string> {
  if (node === undefined) return 'unknown';
  const { server, version } = await node.redis();
  return `${server} ${version}`;
}

/** Resolves with a function that brings the stock back to what it is now, if the nodes still answer. */
async function rememberStock([node]: LabClient[]): Promise<() => Promise<void>> {
  const stock = await node?.stock();
  return async () => {
    const putBack = stock === undefined ? node?.clear() : node?.setStock(stock);
    await putBack?.catch((error: Error) => process.stderr.write(`The stock could not be put back: ${error.message}\n`));
  };
}
