// What a phone remembers of itself: the id that the server gave it, and what it has said. All its windows have one vote.

import type { Vote } from '../room-contract.ts';
import { texts } from '../texts/en.ts';
import { pageValue } from './page-value.ts';

interface Follower {
  id: string;
  vote: Vote | null;
}

const KEY = 'lockstep-follower';

/** Null on the page of the presenter. */
export const follower = pageValue<Follower | null>(null);

/** The server has said who this page is. Another id means that what was said before is forgotten there. */
export function becomeFollower(id: string) {
  if (follower.value === null) addEventListener('storage', hearOtherWindow);
  const before = follower.value ?? remembered();
  remember(before?.id === id ? before : { id, vote: null });
}

/** Another window of this browser has voted. */
function hearOtherWindow({ key }: StorageEvent) {
  if (key === KEY) follower.value = remembered() ?? follower.value;
}

/** Where the stream is: with the id that this browser had before, so that its vote is found again. */
export function streamPath(token: string): string {
  const id = (follower.value ?? remembered())?.id;
  return `/stream?${new URLSearchParams({ token, ...(id !== undefined && { id }) })}`;
}

/** Sends a vote. Resolves with why it was not taken, in a sentence, or with null. */
export async function sendVote(token: string, vote: Vote): Promise<string | null> {
  const { id } = follower.value ?? { id: '' };
  try {
    const response = await fetch('/vote', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}`, 'Follower-Id': id },
      body: JSON.stringify(vote),
    });
    if (!response.ok) return ((await response.json()) as { detail?: string }).detail ?? texts.room.voteFailed;
  } catch {
    return texts.room.voteFailed;
  }
  remember({ id, vote });
  return null;
}

function remember(now: Follower) {
  follower.value = now;
  try {
    localStorage.setItem(KEY, JSON.stringify(now));
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
}

function remembered(): Follower | null {
  try {
    const { id, vote } = JSON.parse(localStorage.getItem(KEY) ?? 'null');
    return typeof id === 'string' ? { id, vote } : null;
  } catch {
    return null;
  }
}
