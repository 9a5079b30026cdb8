import type { NetworkInterfaceInfo } from 'node:os';
import { expect, test } from 'vitest';
import { addressesToShare } from '../../../workshop/server/own-addresses.ts';

const one = (address: string, internal = false) => {
  const family = address.includes(':') ? { family: 'IPv6', scopeid: 0 } : { family: 'IPv4' };
  return { address, internal, netmask: '', mac: '', cidr: null, ...family } as NetworkInterfaceInfo;
};
const interfaces = {
  lo: [one('127.0.0.1', true), one('::1', true)],
  docker0: [one('172.17.0.1')],
  wlan1: [one('169.254.7.7')],
  wlan0: [one('fe80::1'), one('192.168.1.5')],
};

test('shared is the address that a room can reach, before those of containers and those that no router gave', () => {
  expect(addressesToShare(interfaces)).toEqual(['192.168.1.5', '169.254.7.7', '172.17.0.1']);
  expect(addressesToShare({ lo: interfaces.lo })).toEqual([]);
});
