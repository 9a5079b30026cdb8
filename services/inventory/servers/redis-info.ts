/** The version in a reply to INFO server. Valkey also names the Redis version that it is compatible with. */
export function versionIn(info: string): string | undefined {
  return /valkey_version:(\S+)/.exec(info)?.[1] ?? /redis_version:(\S+)/.exec(info)?.[1];
}

/** The server in a reply to INFO server, such as `Redis 7.0.15` or `Valkey 9.1.1`. */
export function nameIn(info: string): string {
  return `${/valkey_version:/.test(info) ? 'Valkey' : 'Redis'} ${versionIn(info) ?? 'of an unknown version'}`;
}

/**
 * The number of commands in a reply to INFO commandstats, including those inside scripts, except INFO itself, which only this
 * count sends.
 */
export function countCommands(commandstats: string): number {
  const lines = [...commandstats.matchAll(/cmdstat_([^:]+):calls=(\d+)/g)];
  return lines.reduce((sum, [, name, calls]) => (name === 'info' ? sum : sum + Number(calls)), 0);
}
