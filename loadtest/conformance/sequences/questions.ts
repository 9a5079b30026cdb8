// What must hold for every lock after a sequence. A lock must behave after any sequence as it does after none.

import type { Holder } from '../holder.ts';
import type { Scene } from './scene.ts';

const RENEWED_LEASES = 3;

/** The holder must be alone, the next one must enter and be renewed, both processes must enter, and nothing may be left. */
export async function askAll(scene: Scene) {
  const { nodes, holder } = scene;
  if (holder) {
    await stays(scene, holder);
    scene.tell('others tried, and were kept out');
    for (; scene.depth > 0; scene.depth -= 1) await scene.mustLeave(holder);
    scene.tell(`${holder.name} released`);
  }
  const next = scene.caller();
  await scene.mustEnter(next);
  await stays(scene, next);
  await scene.mustLeave(next);
  for (const process of [nodes.q, nodes.p]) {
    const each = scene.caller(process);
    await scene.mustEnter(each);
    // A lease of its own is renewed as that of the first.
    if (process === nodes.q && scene.otherLeaseMs !== scene.leaseMs) await stays(scene, each, scene.otherLeaseMs);
    await scene.mustLeave(each);
  }
  await leavesNothing(scene);
}

/** A holder that has lost the lock must be told so once, if the lock does that. */
export function wasTold(scene: Scene, { name, losses }: Holder, how: string) {
  if (!scene.abilities.callsOnLeaseLost || losses.length === 1) return;
  const times = losses.length === 0 ? 'was not called' : `was called ${losses.length} times`;
  throw scene.fault(`${name} lost the lock to ${how}, but its \`onLeaseLost\` ${times}.`);
}

/** A holder must be alone, now and, if it renews, for three more leases. */
export async function stays(scene: Scene, inside: Holder, leaseMs = scene.leaseMs) {
  const { nodes, story, abilities } = scene;
  const isAlone = async (since: string) => {
    if (abilities.callsOnLeaseLost && inside.losses.length > 0)
      throw scene.fault(`${inside.name} had the lock, but its \`onLeaseLost\` was called.`);
    for (const process of [nodes.p, nodes.q]) {
      const rival = scene.caller(process);
      const whose = process === nodes.p ? 'the same' : 'another';
      await scene.mustStayOut(
        rival,
        `${rival.name}, in ${whose} process, entered while ${inside.name} was inside${since}.`,
      );
    }
  };
  await isAlone('');
  if (!abilities.hasRenewal) return;
  await story.pass(RENEWED_LEASES * leaseMs);
  await isAlone(`: the lease of ${inside.name} had not been renewed`);
}

/** When nobody is inside, the process must send nothing for two leases, and have no timer of the lock. */
export async function leavesNothing(scene: Scene) {
  const { nodes, story, leaseMs } = scene;
  await scene.settle();
  const from = story.now();
  await story.pass(2 * leaseMs);
  const sent = nodes.p.sentSince(from).length;
  if (sent > 0) throw scene.fault(`every holder had left, but the process sent ${sent} commands in two leases.`);
  const more = nodes.p.timers() - nodes.timers;
  if (more > 0) throw scene.fault(`every holder had left, but ${more} timers of the lock were still active.`);
}
