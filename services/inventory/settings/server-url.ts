/**
 * The parts of `scheme://user:password@host:port/path`. Undefined when no client can connect to what it
 * names: without a host, with a port from which nobody answers, or with a % that stands for no sign. Nor may
 * it have a query: clients take options from it, over those that the node gives them.
 */
export function readServerUrl(url: string): URL | undefined {
  if (!URL.canParse(url) || /[?#]/.test(url)) return undefined;
  const parts = new URL(url);
  const { hostname, port, username, password } = parts;
  if (hostname === '' || port === '0') return undefined;
  try {
    for (const part of [hostname, username, password]) decodeURIComponent(part);
  } catch {
    return undefined;
  }
  return parts;
}
