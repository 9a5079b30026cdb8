// The least version of Redis that the lab works with.

/**
 * The first with CLIENT INFO: a node names its last connection by it, and has it ended after an outage. A Valkey says
 * in INFO which Redis it works like.
 */
export const LEAST_REDIS = '6.2';

/** Throws a sentence when the version that a server says is older. One that says none passes. */
export function refuseOldRedis(server: string, version: string | undefined) {
  if (version === undefined || isAtLeast(version, LEAST_REDIS)) return;
  throw new Error(`${server} is version ${version}, and the lab needs Redis ${LEAST_REDIS} or newer, or Valkey`);
}

function isAtLeast(version: string, least: string) {
  return version.localeCompare(least, 'en', { numeric: true }) >= 0;
}
