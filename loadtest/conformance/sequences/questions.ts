// What is asked of every lock after a sequence. None may answer otherwise after some sequence than it does after none.

import type { Holder } from '../holder.ts';
import type { Scene } from './scene.ts';

const RENEWED_LEASES = 3;

/** Who should be inside is alone, the next one gets in and is renewed, both processes get in, and nothing is left. */
export async function askAll(scene: Scene) {
  const { nodes, holder } = scene;
  if (holder) {
    await stays(scene, holder);
    scene.tell('others asked in vain');
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

/** A holder that has lost the lock was told so, once, where the lock tells. */
export function wasTold(scene: Scene, { name, losses }: Holder, how: string) {
  if (!scene.abilities.callsOnLeaseLost || losses.length === 1) return;
  const times = losses.length === 0 ? 'was not called' : `was called ${losses.length} times`;
  throw scene.fault(`${name} lost the lock to ${how}, and its \`onLeaseLost\` ${times}.`);
}

/** A holder is alone, now and, when it renews, for three leases more. */
export async function stays(scene: Scene, inside: Holder, leaseMs = scene.leaseMs) {
  const { nodes, story, abilities } = scene;
  const isAlone = async (since: string) => {
    if (abilities.callsOnLeaseLost && inside.losses.length > 0)
      throw scene.fault(`${inside.name} had the lock, and its \`onLeaseLost\` was called.`);
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

/** Nobody is inside: the process sends nothing for two leases, and no timer of the lock runs. */
export async function leavesNothing(scene: Scene) {
  const { nodes, story, leaseMs } = scene;
  await scene.settle();
  const from = story.now();
  await story.pass(2 * leaseMs);
  const sent = nodes.p.sentSince(from).length;
  if (sent > 0) throw scene.fault(`everybody had left, and the process sent ${sent} commands in two leases.`);
  const more = nodes.p.timers() - nodes.timers;
  if (more > 0) throw scene.fault(`everybody had left, and ${more} timers of the lock still ran.`);
}
