import { expect, test } from 'vitest';
import { addressOf, livePorts, MOST_NODES, upPorts, upPortsFor } from '../../stack/usual-ports.ts';

test('two nodes have the ports of the course, and more nodes change none of them', () => {
  expect(upPortsFor(2)).toEqual(upPorts);
  expect(upPortsFor(3)).toEqual({ ...upPorts, NODE_3_PORT: 9_003, NODE_3_LAB_PORT: 9_103 });
});

test('the ports of the largest stack, of the live page and of the node-3 of scripts/lab.sh are all different', () => {
  const taken = [...Object.values(upPortsFor(MOST_NODES)), ...Object.values(livePorts), 9_999, 10_000];
  // The two nodes have two ports each, as every other one; Redis, MySQL and nginx one.
  expect(Object.keys(upPortsFor(MOST_NODES))).toHaveLength(2 * MOST_NODES + 3);
  expect(taken).toHaveLength(new Set(taken).size);
});

test('HOST is where nginx and the nodes listen, however many there are; a lab listener is for this machine', () => {
  expect(addressOf('NODE_16_PORT', 9_016, '0.0.0.0')).toEqual({ host: '0.0.0.0', port: 9_016 });
  expect(addressOf('NODE_16_LAB_PORT', 9_116, '0.0.0.0')).toEqual({ port: 9_116 });
});
