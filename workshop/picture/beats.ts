// A playing as beats: the visible events, one by one, with the state before and after each. No sentences are made here.
//
//   events ──► trips ──► beats      scene 0 · beat 0 · scene 1 · beat 1 · scene 2 …
//
// A command, its answer and the steps that its sale takes with it are one beat; one that is held on its way is two. The end of a lease, a
// crash, a pause, and who gets a mutex are beats. Tries in vain and renewals after the first are folded into one beat with a count.

import type { LockKey, PlayEvent, Returned, Step } from '../../simulation/events.ts';
import { type Act, type AnyEvent, actOf, type Held, sentAs, type Trip, tripsOf } from './trips.ts';

/** Where a stage keeps its lock. `permits`: in Redis, with several holders at once. */
export type Place = 'none' | 'node' | 'redis' | 'permits';

/** A command as drawn. */
export interface Command {
  name: string;
  verb: string;
  args: string[] | undefined;
  about: 'stock' | 'lock' | 'other';
  act: Act;
  returned: Returned | undefined;
}

export type NodeState = 'running' | 'stopped' | 'killed' | 'blocked';

/** Why a beat is dangerous or breaks the lock. */
export type Break = 'same-read' | 'two-inside' | 'freed-other' | 'own-lock' | 'overwritten' | 'closed';

export interface Beat<Told = unknown> {
  kind:
    | 'come'
    | 'command'
    /** `hold`: a command is delayed on its way. `arrive`: it reaches Redis. */
    | 'hold'
    | 'arrive'
    | 'tries'
    | 'renews'
    /** A process reads a reply that arrived earlier. */
    | 'reads'
    | 'lease-end'
    | 'node'
    | 'mutex-take'
    | 'mutex-wait'
    | 'give-up'
    /** Something that is told but not drawn. */
    | 'told'
    | 'end';
  at: number;
  node: string;
  /** Its letter; of buyers that come at once their letters in a row. */
  sale: string;
  command?: Command;
  /** How often it happened in a row. */
  times: number;
  is?: NodeState;
  /** The reply that it reads. */
  returned?: Returned;
  /** How long the lease is that it begins, or renews. */
  leaseMs?: number;
  told?: Told;
  breaks: Break[];
}

/** A sale in the picture. */
export interface SaleScene {
  sale: string;
  node: string;
  place: 'asks' | 'waits' | 'inside' | 'gone';
  /** The line of sale.ts that it is at. */
  step: 'acquire' | 'read' | 'gap' | 'write' | 'release' | 'done';
  /** The stock that it has read; and the one that it has written. */
  read?: number | undefined;
  wrote?: number | undefined;
  /** Another one has read the same, and neither had written. */
  isTwin?: boolean;
  /** Its tries in vain. */
  tries: number;
  token?: string | undefined;
  isRefused?: boolean;
  /** The command that has got it its lock. */
  acquiredBy?: string;
  /** When it came. */
  since: number;
  /** It has learned that its lock is gone. */
  knowsLoss?: boolean;
  /** Why it was not sold, or is not known to be. */
  code?: string | undefined;
  isDead?: boolean;
  /** The line of its lock that it is at. */
  line?: number;
}

export interface Scene extends Held {
  at: number;
  /** What the stock would be if each sale had taken its unit. */
  shouldBe: number;
  /** Who took the lock that is there, whatever its value says. */
  holder?: string | undefined;
  /** Who has the mutex of each node. */
  mutex: Record<string, string | undefined>;
  nodes: Record<string, NodeState>;
  /** The nodes whose wire is cut. */
  cut: string[];
  sales: SaleScene[];
  /** The newest fencing token that the stock has seen. */
  newest?: string | undefined;
  onWire?: { node: string; sale: string; command: Command } | undefined;
  /** Who has paid, for which unit. */
  till: { sale: string; unit: number; isDouble: boolean }[];
}

export interface Beats<Told = unknown> {
  place: Place;
  stock: number;
  /** How long a lease lasts; 0 where none has begun. */
  leaseMs: number;
  beats: Beat<Told>[];
  /** One more than there are beats. */
  scenes: Scene[];
}

const NODES = ['node-1', 'node-2'];
/** Buyers who arrive within this many milliseconds arrive together. */
const TOGETHER_MS = 1;
/** Deeds that are drawn through their effects. */
const DRAWN = new Set(['held', 'late write arrives', 'lease ends', 'stopped', 'killed', 'blocked', 'asks again']);
/** Deeds that cut a node's wire. */
const CUTS = new Set(['cut off from its lock', 'cut off', 'line cut']);

export function beatsOf<Told>(given: PlayEvent<Told, unknown>[], place: Place): Beats<Told> {
  const events = comersFirst(given);
  const { tripOf, isTaken } = tripsOf(events);
  const stock = events.find((event) => event.kind === 'redis')?.stock ?? 0;
  let now: Scene = {
    ...{ at: events[0]?.at ?? 0, stock, shouldBe: stock, mutex: {} },
    ...{ nodes: Object.fromEntries(NODES.map((node) => [node, 'running'])), cut: [], sales: [], till: [] },
  };
  const beats: Beat<Told>[] = [];
  const scenes = [now];
  /** Events told as one until something else happens, and their effect. */
  let folded: Beat<Told>[] = [];
  let unseen: ((scene: Scene) => void)[] = [];
  const once = new Set<string>();
  /** A deed that is not drawn: the next sentence mentions it. */
  let isToTell = false;

  const isFirst = (what: string) => !once.has(what) && Boolean(once.add(what));

  function push(
    beat: Partial<Beat<Told>> & Pick<Beat<Told>, 'kind' | 'at'>,
    change: (scene: Scene, beat: Beat<Told>) => void,
  ) {
    const made: Beat<Told> = { node: '', sale: '', times: 1, breaks: [], ...beat };
    const scene = structuredClone(now);
    scene.at = made.at;
    for (const earlier of unseen) earlier(scene);
    unseen = [];
    change(scene, made);
    beats.push(made);
    scenes.push(scene);
    now = scene;
  }

  function flush() {
    const all = folded;
    folded = [];
    for (const beat of all.toSorted((one, other) => one.at - other.at))
      push(beat, (scene) => {
        const own = saleIn(scene, beat.sale);
        if (own && beat.kind === 'tries') own.tries += beat.times;
      });
  }

  function fold(kind: 'tries' | 'renews', at: number, { node, sale = '' }: Trip['message'], command: Command) {
    const there = folded.find((each) => each.kind === kind && each.sale === sale);
    if (there) Object.assign(there, { at, times: there.times + 1, command });
    else folded.push({ kind, at, node, sale, command, times: 1, breaks: [] });
  }

  function carriedOut(trip: Trip, at: number, wasHeld: boolean) {
    const { message, holds, steps } = trip;
    const { node, sale = '' } = message;
    const own = saleIn(now, sale);
    if (own === undefined) return hold(now, holds);
    const asker = {
      isInside: own.place === 'inside' || own.read !== undefined,
      hasLeft: own.step === 'release' || own.step === 'done',
      acquiredBy: own.acquiredBy,
      hasRead: own.read !== undefined,
    };
    const act = actOf(trip, asker, now);
    const command = commandOf(trip, act);
    // A release that is tried again in the background, of a sale that has come to its end.
    const isOver = own.step === 'done' && trip.lease === undefined;
    if ((act === 'other' || isOver) && !wasHeld) return hold(now, holds);
    if (act === 'denied' && !isFirst(`${sale} ${asker.isInside} ${now.holder}`))
      return fold('tries', at, message, command);
    if (act === 'renew' && !isFirst(`${sale} renews`)) {
      unseen.push((scene) => hold(scene, holds));
      return fold('renews', at, message, command);
    }
    flush();
    push({ kind: wasHeld ? 'arrive' : 'command', at, node, sale, command }, (scene, beat) => {
      const mine = saleIn(scene, sale) as SaleScene;
      if (wasHeld) scene.onWire = undefined;
      change(scene, mine, beat, trip, command, place);
      for (const step of steps) follow(scene, mine, beat, step, place);
    });
  }

  for (const event of events) {
    const { at } = event;
    if (event.kind === 'lease' && event.is === 'ended') {
      flush();
      push({ kind: 'lease-end', at, sale: now.holder ?? '' }, (scene) => {
        scene.lock = undefined;
        scene.holder = undefined;
      });
    } else if (event.kind === 'done') {
      const trip = tripOf(event);
      if (trip)
        carriedOut(trip, at, now.onWire !== undefined && now.onWire.sale === event.sale && isOnWire(now, event.verb));
    } else if (event.kind === 'held') {
      const trip = tripOf(event) as Trip;
      const { node, sale = '' } = event;
      flush();
      const command = commandOf(trip, event.about === 'stock' ? 'write' : 'release');
      push({ kind: 'hold', at, node, sale, command }, (scene) => {
        scene.onWire = { node, sale, command };
        const own = saleIn(scene, sale);
        if (own) own.step = event.about === 'stock' ? 'write' : 'release';
      });
    } else if (event.kind === 'node') {
      const is = stateOf(event.is);
      if (is === undefined) continue;
      flush();
      const sale = now.sales.find((each) => each.node === event.node && each.place === 'inside' && !each.isDead)?.sale;
      push({ kind: 'node', at, node: event.node, is, ...(sale && { sale }) }, (scene) => {
        scene.nodes[event.node] = is;
        if (is !== 'killed') return;
        for (const each of scene.sales) if (each.node === event.node && each.place !== 'gone') each.isDead = true;
        scene.mutex[event.node] = undefined;
      });
    } else if (event.kind === 'line') {
      const own = event.sale === undefined ? undefined : saleIn(now, event.sale);
      if (own) own.line = event.line;
    } else if (event.kind === 'redis' && !isTaken(event)) {
      hold(now, event);
      now.at = at;
    } else if (event.kind === 'reads') {
      const { node, sale, returned } = event;
      flush();
      push({ kind: 'reads', at, node, sale, returned }, () => {});
    } else if (event.kind === 'fault') {
      const { form } = event.what as { form: string };
      isToTell ||= event.is === 'begun' && !DRAWN.has(form);
      if (CUTS.has(form)) unseen.push((scene) => cut(scene, event.node ?? '', event.is === 'begun'));
    } else if (event.kind === 'server' || event.kind === 'clock') isToTell = true;
    else if (event.kind === 'sentence' && isToTell) {
      isToTell = false;
      flush();
      push({ kind: 'told', at, told: event.sentence }, () => {});
    } else if (event.kind === 'sale' && !isTaken(event)) stepAlone(event);
  }

  /** A step that is not caused by a reply from Redis. */
  function stepAlone(event: Step & { at: number }) {
    const { at, node, sale, step } = event;
    const own = saleIn(now, sale);
    const last = beats.at(-1);
    if (step === 'waiting') {
      const comes = (scene: Scene) => void scene.sales.push(newSale(event, place));
      if (last?.kind === 'come' && at - last.at < TOGETHER_MS) {
        comes(now);
        last.sale += sale;
        return;
      }
      flush();
      push({ kind: 'come', at, node, sale }, comes);
    } else if (own === undefined) {
      // One of many who are not drawn has taken its unit, too.
      if (step === 'wrote') now.shouldBe -= 1;
    } else if (step === 'entered' && place === 'node') {
      push({ kind: 'mutex-take', at, node, sale }, (scene, beat) => {
        follow(scene, saleIn(scene, sale) as SaleScene, beat, event, place);
      });
      for (const other of now.sales.filter((each) => each.node === node && each.place === 'asks'))
        push({ kind: 'mutex-wait', at, node, sale: other.sale }, (scene) => {
          (saleIn(scene, other.sale) as SaleScene).place = 'waits';
        });
    } else if (step === 'failed' && own.place !== 'gone' && own.wrote === undefined && now.onWire?.sale !== sale) {
      flush();
      push({ kind: 'give-up', at, node, sale, breaks: own.place === 'inside' ? [] : ['closed'] }, (scene, beat) => {
        follow(scene, saleIn(scene, sale) as SaleScene, beat, event, place);
      });
    } else follow(now, own, last?.kind === 'reads' && last.sale === sale ? last : undefined, event, place);
  }

  flush();
  push({ kind: 'end', at: now.at }, () => {});
  return { place, stock, leaseMs: leaseIn(events), beats, scenes };
}

/** On real servers Redis reports the expiry to the millisecond, but the reply takes time. */
function leaseIn(events: AnyEvent[]): number {
  const leases = events.flatMap((event) =>
    event.kind === 'lease' && event.is === 'begun' && event.endsAt !== undefined ? [event.endsAt - event.at] : [],
  );
  return inTens(Math.max(0, ...leases));
}

const inTens = (ms: number) => Math.round(ms / 10) * 10;

const saleIn = (scene: Scene, sale: string) => scene.sales.findLast((each) => each.sale === sale);

/** Arrivals come before everything else at the same moment. */
function comersFirst<Event extends AnyEvent>(events: Event[]): Event[] {
  const key = (event: Event) => {
    const isComer = event.kind === 'sale' && event.step === 'waiting';
    return Math.round(event.at * 100) * 2 + (isComer ? 0 : 1);
  };
  return events.toSorted((one, other) => key(one) - key(other));
}

function newSale({ sale, node, at }: Step & { at: number }, place: Place): SaleScene {
  return { sale, node, place: 'asks', step: place === 'none' ? 'read' : 'acquire', tries: 0, since: at };
}

const commandOf = ({ message: { name, verb, args, about }, returned }: Trip, act: Act): Command => {
  return { name, verb, args, about, act, returned };
};

const isOnWire = ({ onWire }: Scene, verb: string) => onWire?.command.verb === verb;

function stateOf(is: Extract<AnyEvent, { kind: 'node' }>['is']): NodeState | undefined {
  if (is === 'resumed' || is === 'started again') return 'running';
  return is === 'standing still' ? undefined : is;
}

function cut(scene: Scene, node: string, isCut: boolean) {
  scene.cut = scene.cut.filter((each) => each !== node);
  if (isCut) scene.cut.push(node);
}

/** What Redis holds from now on. If the lock is the same, its first reported expiry counts, unless it was renewed. */
function hold(scene: Scene, holds: Held | undefined, isRenewed = true) {
  if (holds === undefined) return;
  scene.stock = holds.stock;
  const isSame = holds.lock !== undefined && holds.lock.value === scene.lock?.value && !isRenewed;
  const endsAt = scene.lock?.endsAt;
  scene.lock = isSame && endsAt !== undefined ? { ...(holds.lock as LockKey), endsAt } : holds.lock;
  if (scene.lock === undefined) scene.holder = undefined;
}

/** The effect of a command in Redis. */
function change(
  scene: Scene,
  own: SaleScene,
  beat: Beat,
  { message, holds, lease }: Trip,
  { act }: Command,
  place: Place,
) {
  const { holder, stock } = scene;
  if (act === 'release' && holder !== undefined && holder !== own.sale) beat.breaks.push('freed-other');
  hold(scene, holds, lease !== undefined || act === 'acquire-again');
  if (act === 'acquire') {
    if (place === 'redis') scene.holder = own.sale;
    own.acquiredBy = sentAs(message);
    own.knowsLoss = false;
  }
  const endsAt = scene.lock?.endsAt;
  if (lease !== undefined && endsAt !== undefined) beat.leaseMs = inTens(endsAt - scene.at);
  const isOthers = act === 'look' && holder !== own.sale;
  if (isOthers || act === 'renew-refused' || act === 'release-refused') own.knowsLoss = true;
  if (act === 'denied') {
    own.tries += 1;
    if (own.place === 'inside') beat.breaks.push('own-lock');
    else own.place = 'waits';
  }
  if (act === 'sell') own.read = stock;
  if (act === 'write' || act === 'sell') {
    const unit = own.read ?? stock;
    if (stock !== unit) beat.breaks.push('overwritten');
    Object.assign(own, { wrote: unit - 1, step: 'write' });
    scene.shouldBe -= 1;
    const isDouble = scene.till.some((each) => each.unit === unit);
    for (const each of scene.till) if (each.unit === unit) each.isDouble = true;
    scene.till.push({ sale: own.sale, unit, isDouble });
  }
  if (act === 'write-refused') {
    own.isRefused = true;
    for (const each of scene.sales) each.isTwin = false;
  }
  if ((act === 'read' || act === 'write') && own.token !== undefined) scene.newest = own.token;
  if ((act === 'release' || act === 'release-refused') && own.step === 'release')
    Object.assign(own, { step: 'done', place: 'gone' });
}

/** True if the sale is inside the critical section. */
const isAtWork = ({ place, step, isDead }: SaleScene) => place === 'inside' && step !== 'release' && !isDead;

/** A step of a sale. */
function follow(
  scene: Scene,
  own: SaleScene,
  beat: Beat | undefined,
  { step, stock, code, fencingToken }: Step,
  place: Place,
) {
  const others = scene.sales.filter((each) => each !== own && isAtWork(each));
  if (step === 'entered' || step === 'began') {
    if ((place === 'node' || place === 'redis') && others.length > 0) beat?.breaks.push('two-inside');
    Object.assign(own, { place: 'inside', step: 'read', token: fencingToken });
    if (place === 'node') scene.mutex[own.node] = own.sale;
  } else if (step === 'read') {
    if (own.wrote !== undefined) return;
    Object.assign(own, { read: stock, step: 'gap' });
    const twin = others.find((each) => each.read === stock && each.wrote === undefined);
    if (!twin) return;
    twin.isTwin = true;
    own.isTwin = true;
    beat?.breaks.push('same-read');
  } else if (step === 'left') {
    if (place === 'redis' || place === 'permits') own.step = 'release';
    else Object.assign(own, { step: 'done', place: 'gone' });
    if (scene.mutex[own.node] === own.sale) scene.mutex[own.node] = undefined;
  } else if (step === 'failed') Object.assign(own, { code, ...(own.isDead ? {} : { place: 'gone', step: 'done' }) });
}
