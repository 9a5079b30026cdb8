/** The version in an answer to INFO server. Valkey also names the version of Redis that it stands for. */
export function versionIn(info: string): string | undefined {
  return /valkey_version:(\S+)/.exec(info)?.[1] ?? /redis_version:(\S+)/.exec(info)?.[1];
}

/** The server of an answer to INFO server, such as `Redis 7.0.15` or `Valkey 9.1.1`. */
export function nameIn(info: string): string {
  return `${/valkey_version:/.test(info) ? 'Valkey' : 'Redis'} ${versionIn(info) ?? 'of an unknown version'}`;
}

/** All commands in an answer to INFO commandstats, those inside scripts included, without INFO: only the counting sends that. */
export function countCommands(commandstats: string): number {
  const lines = [...commandstats.matchAll(/cmdstat_([^:]+):calls=(\d+)/g)];
  return lines.reduce((sum, [, name, calls]) => (name === 'info' ? sum : sum + Number(calls)), 0);
}
