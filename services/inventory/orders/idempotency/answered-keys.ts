import { type KeyedRequest, mustBeSame } from './once.ts';

/** How many keys it remembers at most. The oldest go first. */
const MOST_KEYS = 10_000;

/** What this process knows of keys that have an answer: until their time is over, nobody can send them for something else. */
export function createAnsweredKeys() {
  const answered = new Map<string, { fingerprint: string; until: number }>();

  return {
    /** The key is kept for `leftMs` more, in milliseconds. */
    remember({ key, fingerprint }: KeyedRequest, leftMs: number) {
      answered.delete(key);
      answered.set(key, { fingerprint, until: performance.now() + leftMs });
      const [oldest] = answered.keys();
      if (answered.size > MOST_KEYS && oldest !== undefined) answered.delete(oldest);
    },
    /** Throws ProblemError IDEMPOTENCY_KEY_REUSED when the key was answered for something else. */
    refuseOther(request: KeyedRequest) {
      const known = answered.get(request.key);
      if (known !== undefined && known.until > performance.now()) mustBeSame(known, request);
    },
  };
}
