// Reads lock files of npm: which packages a platform needs, and the same lock with packages from files.

/** An entry of a lock file, as far as it matters here. */
export interface LockedPackage {
  version?: string;
  /** Its name, where it is installed under another one. */
  name?: string;
  resolved?: string;
  integrity?: string;
  optional?: boolean;
  inBundle?: boolean;
  link?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
}

export interface Lock {
  packages: Record<string, LockedPackage>;
}

/** A package as npm fetches it, such as `zod@4.6.7`. */
export interface WantedPackage {
  name: string;
  spec: string;
  integrity?: string;
  isOptional: boolean;
  entry: LockedPackage;
}

export interface Platform {
  title: string;
  os: string;
  cpu: string;
  libc?: string;
}

/** Those that a room may have. */
export const platforms: Platform[] = [
  { title: 'Linux x64', os: 'linux', cpu: 'x64', libc: 'glibc' },
  { title: 'Linux arm64', os: 'linux', cpu: 'arm64', libc: 'glibc' },
  { title: 'macOS arm64', os: 'darwin', cpu: 'arm64' },
  { title: 'macOS x64', os: 'darwin', cpu: 'x64' },
];

/** True when npm installs the package there. */
export function isFor({ os, cpu, libc }: LockedPackage, platform: Platform): boolean {
  return allows(os, platform.os) && allows(cpu, platform.cpu) && allows(libc, platform.libc);
}

/** A list names what is allowed, or, with a `!`, what is not. */
function allows(list: string[] | undefined, value: string | undefined): boolean {
  if (list === undefined) return true;
  if (value === undefined || list.includes(`!${value}`)) return false;
  return list.includes(value) || list.every((one) => one.startsWith('!'));
}

/** Every package that one of these platforms needs, once each. */
export function wantedPackages(lock: Lock, on: Platform[]): WantedPackage[] {
  const wanted = new Map<string, WantedPackage>();
  for (const [place, entry] of Object.entries(lock.packages)) {
    if (place === '' || entry.link || entry.inBundle || !on.some((platform) => isFor(entry, platform))) continue;
    const spec = specOf(place, entry);
    const isOptional = (entry.optional ?? false) && (wanted.get(spec)?.isOptional ?? true);
    const integrity = entry.integrity;
    wanted.set(spec, { name: nameOf(place, entry), spec, isOptional, entry, ...(integrity && { integrity }) });
  }
  return [...wanted.values()];
}

/** A file that holds a package. */
export interface PackedPackage {
  file: string;
  integrity: string;
}

/** The lock with every packed package from its file: npm then asks no registry. `folder` leads from the lock to the files. */
export function lockFromFiles(lock: Lock, packed: Map<string, PackedPackage>, folder: string): Lock {
  const packages = Object.entries(lock.packages).map(([place, entry]) => {
    const found = place === '' || entry.link || entry.inBundle ? undefined : packed.get(specOf(place, entry));
    if (found === undefined) return [place, entry] as const;
    return [place, { ...entry, resolved: `file:${folder}/${found.file}`, integrity: found.integrity }] as const;
  });
  return { ...lock, packages: Object.fromEntries(packages) };
}

function nameOf(place: string, { name }: LockedPackage): string {
  return name ?? place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

const specOf = (place: string, entry: LockedPackage) => `${nameOf(place, entry)}@${entry.version}`;
