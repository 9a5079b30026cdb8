// The faults that a drill causes, as facts, with their labels in the timeline.

import { type FormsOf, type Given, type Sentence, worded } from '../../simulation/wording.ts';

const labels = {
  /** Nodes. */
  killed: () => 'SIGKILL',
  stopped: () => 'SIGSTOP',
  blocked: () => 'event loop blocked',
  'slow clock': ({ percent }: { percent: number }) => `clock ${percent} % slow`,
  /** Messages on their way, and connections. */
  held: ({ command }: { command: 'write' | 'release' }) => `${command} held`,
  'held on its way': () => 'command held',
  'late write arrives': () => 'write arrives',
  'line cut': () => 'connection cut',
  'line slow': () => 'connection slow',
  'cut off from its lock': () => 'cut off from its lock',
  'cut off': () => 'cut off',
  'masters cut off': ({ lines }: { lines: number }) => `${lines} connections cut`,
  'votes late': () => 'votes late',
  /** Sales and buyers. */
  stalls: () => 'stalls',
  hangs: () => 'hangs',
  'asks again': () => 'acquires again',
  'lease ends': () => 'lease ends',
  'clients hang up': ({ clients }: { clients: number }) => `${clients} clients disconnect`,
  /** Servers. */
  'Redis killed': () => 'Redis killed',
  'Redis is killed': () => 'Redis is killed',
  'Redis killed for a while': () => 'Redis is killed (SIGKILL)',
  'Redis stopped for a while': () => 'Redis is paused (SIGSTOP)',
  'Redis stopped': () => 'Redis is paused',
  'replica cut off': () => 'replica cut off',
  'replication cut': () => 'replication cut',
  'one replica cut off': () => 'one replica cut off',
  'replica promoted': () => 'replica promoted',
  failover: () => 'failover',
  'master stopped': ({ master }: { master: number }) => `master ${master} SIGSTOP`,
  'master restarts empty': ({ master }: { master: number }) => `master ${master} restarts empty`,
  'lock servers killed': ({ killed }: { killed: number }) => `${killed} lock servers SIGKILL`,
  'clock jumps': ({ server }: { server: string }) => `clock of ${server} jumps`,
};

export type FaultForms = FormsOf<typeof labels>;
/** One fault. */
export type Deed = Sentence<FaultForms>;

export const deed = <Form extends keyof FaultForms>(form: Form, ...[values]: Given<FaultForms[Form]>) =>
  ({ form, values: values ?? {} }) as Deed;

/** Its label in the timeline. */
export const labelOf = (what: Deed): string => worded<FaultForms>(labels, what);
