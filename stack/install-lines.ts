// The commands that install the servers that a run can use, by operating system.

import { findOnPath } from './path.ts';

/** A program that npm packages do not provide, or not for every platform. */
export type Installable = keyof typeof packages;

/** The names of the packages that provide it. scripts/setup.sh installs the same. */
export const packages = {
  redis: { apt: 'redis-server', brew: 'redis' },
  nginx: { apt: 'nginx', brew: 'nginx' },
  mysql: { apt: 'mariadb-server', brew: 'mariadb' },
  zookeeper: { apt: 'libzookeeper-java default-jre-headless', brew: 'zookeeper' },
  chromium: { apt: 'chromium', brew: '--cask chromium' },
};

/** Both lines, as part of a sentence. */
export function installLines(program: Installable): string {
  return `apt-get install ${packages[program].apt}, or brew install ${packages[program].brew}`;
}

/** How to install it on this system: a command if it is known, else a sentence. */
export function installLineHere(program: Installable, platform: NodeJS.Platform = process.platform): string {
  const { apt, brew } = packages[program];
  if (platform === 'darwin') return `brew install ${brew}`;
  if (platform === 'win32') return 'Use WSL 2 or Docker: these programs run on Linux.';
  if (findOnPath('apt-get') === undefined && platform !== 'linux') return `Install ${apt}.`;
  if (findOnPath('apt-get') === undefined)
    return `Install ${apt} (its name in Debian) with your system's package manager.`;
  return `${process.getuid?.() === 0 ? '' : 'sudo '}apt-get install ${apt}`;
}
