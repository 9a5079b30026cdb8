import { expect, test } from 'vitest';
import type { Narrate } from '../../../../loadtest/harness/drill.ts';
import { createFaults } from '../../../../loadtest/harness/faults/faults.ts';
import type { TargetNode } from '../../../../loadtest/harness/target.ts';
import { ourWire } from '../../../../loadtest/harness/wire.ts';
import { drills } from '../../../../loadtest/scenarios/index.ts';
import { machineClock, machineNetwork } from '../../../../loadtest/worlds/real/machine.ts';
import { playDrill } from '../../../../loadtest/worlds/simulated/play.ts';
import { stockKey } from '../../../../services/inventory/servers/store.ts';

/** A node that can be killed; `start` is how it comes back. */
const nodeThat = (name: string, start: () => Promise<void>) =>
  ({
    name,
    process: { signal() {}, async kill() {}, start },
    history: async () => ({ events: [{ at: 1, type: 'waiting', node: name, saleId: '0001' }], dropped: 0 }),
    state: () => Promise.reject(new Error('dead')),
  }) as unknown as TargetNode;

const faultsOf = (...nodes: TargetNode[]) =>
  createFaults(
    { nodes, stack: undefined, clock: machineClock, network: machineNetwork, wire: ourWire },
    { backend: 'redis', stage: '6-lua-release' },
  );

test('faults: a node that does not come back counts as dead, though another one has come back', async () => {
  const first = nodeThat('node-1', () => Promise.reject(new Error('it does not start')));
  const second = nodeThat('node-2', async () => {});
  const faults = faultsOf(first, second);
  await faults.kill(first);
  await faults.kill(second);
  expect([first, second].map(faults.isDead)).toEqual([true, true]);

  await expect(faults.undoAll()).rejects.toThrow('it does not start');

  expect([first, second].map(faults.isDead)).toEqual([true, false]);
  // What died with a process stays dead.
  expect(faults.deaths.map(({ node }) => node)).toEqual(['node-1', 'node-2']);
});

test('faults: a node counts as dead as soon as it is being killed', async () => {
  const node = nodeThat('node-1', async () => {});
  const faults = faultsOf(node);
  const seen: boolean[] = [];
  Object.assign(node.process as object, { kill: async () => void seen.push(faults.isDead(node)) });

  await faults.kill(node);

  expect(seen).toEqual([true]);
});

test.each([
  // Its tokens are under a key of their own, which has no end.
  ['fenced', 'lease ended'],
  ['3-spin', 'lease has no end'],
])('faults: the lease of %s, which the drill ends: %s', async (stage, form) => {
  const forms: string[] = [];
  const narrate: Narrate = async (said) => void forms.push(said.form);

  await playDrill(drills.find(({ name }) => name === 'crossed-write') as (typeof drills)[number], stage, { narrate });

  expect(forms.filter((said) => said.includes('lease'))).toEqual([form]);
});

test.each([
  [{ name: 'GET', args: [stockKey('001')] }, false],
  [{ name: 'MGET', args: [stockKey('001'), `${stockKey('001')}:1`] }, false],
  [{ name: 'EVALSHA', script: 'read-if-newest', args: ['sha', '2', stockKey('001'), 'fence'] }, false],
  [{ name: 'SET', args: [stockKey('001'), '99'] }, true],
  [{ name: 'EVALSHA', script: 'write-if-newest', args: ['sha', '2', stockKey('001'), 'fence'] }, true],
  [{ name: 'EVALSHA', script: 'take-one', args: ['sha', '1', stockKey('001')] }, true],
  [{ name: 'EVALSHA', script: 'release-if-owner', args: ['sha', '1', 'lock'] }, false],
])('faults: %o writes the stock: %s', (command, isIt) => {
  expect(ourWire.isStockWrite(command)).toBe(isIt);
});
