// The names and addresses of this machine on its networks.

import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';

/** Network interfaces of containers, virtual machines and tunnels, which the attendees can't reach. */
const NOT_THE_ROOM = /^(docker|br-|veth|virbr|vmnet|vboxnet|vethernet|utun|tun|tap|tailscale|wg|lxc|podman)/i;

/** The addresses at which attendees may reach this machine, likeliest first. */
export function addressesToShare(interfaces = networkInterfaces()): string[] {
  const all = Object.entries(interfaces).flatMap(([name, ofIt = []]) => ofIt.map((one) => ({ ...one, name })));
  const reachable = all.filter(
    ({ internal, family, address }) => !internal && family === 'IPv4' && isIP(address) === 4,
  );
  // An address that a machine has given itself (169.254) means that no router gave it one.
  const doubts = ({ name, address }: (typeof reachable)[number]) =>
    Number(NOT_THE_ROOM.test(name)) * 2 + Number(address.startsWith('169.254.'));
  return reachable.toSorted((one, other) => doubts(one) - doubts(other)).map(({ address }) => address);
}

/** Every name and address of this machine. Read for each request, because a laptop changes networks. */
export function ownNames(interfaces = networkInterfaces()): string[] {
  const addresses = Object.values(interfaces).flatMap((ofIt = []) => ofIt.map(({ address }) => address));
  // Bonjour and Avahi answer for the name with .local behind it.
  const name = hostname();
  return [...addresses, name, `${name.replace(/\.local$/, '')}.local`];
}
