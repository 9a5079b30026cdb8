// What the browser keeps for the next time. Where it keeps nothing, because it is full or may not, neither does the page.

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
