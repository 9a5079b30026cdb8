// The published locks: which conformance checks each fails.

import { peerNames, rowOfPeer } from '../../loadtest/peers/peer.ts';
import { peerVerdicts } from '../../loadtest/peers/verdicts.ts';
import { codeOf, tableOf } from './markdown.ts';

/** A row for each library, in the version that is installed. */
export function libraries(): string {
  const rows = peerNames.map((name) => {
    const { fails = '', notPromised = '' } = peerVerdicts[name] ?? {};
    const cellOf = (names: string) => (names === '' ? 'none' : names.split(' ').map(codeOf).join(', '));
    return [rowOfPeer(name), cellOf(fails), cellOf(notPromised)];
  });
  return tableOf(['library', 'fails', 'fails, and does not promise'], rows);
}
