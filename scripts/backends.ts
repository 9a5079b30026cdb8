import type { Backend } from '../locks/index.ts';

/** The servers beyond Redis that the strategies of a run need: one of each, for all stacks of the run. */
export interface Backends {
  /** Settings for the nodes of one more stack: a corner of each server that no other stack uses. */
  openCorner(): Promise<NodeJS.ProcessEnv>;
  /** Why a server can't be had: a sentence with the line that installs it. */
  lacks: Partial<Record<Backend, string>>;
  /** What there is, such as `mariadb 10.11.19`. */
  versions: Partial<Record<Backend, string>>;
  /** Resolves with a sentence as soon as a server ends that nobody stopped. */
  partDied: Promise<string>;
  stop(): Promise<void>;
}

/** Starts what is needed and not given by MYSQL_URL or ZOOKEEPER_URL. What can't be had is said in `lacks`. */
export async function startBackends(needed: Backend[]): Promise<Backends> {
  const lacks: Backends['lacks'] = {};
  for (const backend of needed) if (backend !== 'redis') lacks[backend] = `There is no ${backend} here yet.`;
  return { openCorner: async () => ({}), lacks, versions: {}, partDied: new Promise(() => {}), stop: async () => {} };
}
