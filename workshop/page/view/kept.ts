// Local storage. If the browser refuses, because it is full or not allowed, the page carries on without it.

export function readKept(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keepText(key: string, text: string) {
  try {
    localStorage.setItem(key, text);
  } catch {}
}
