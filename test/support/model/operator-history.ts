import assert from 'node:assert/strict';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { settle } from '../fake-clock.ts';
import { type HandmadeChild, planOf } from '../fakes/handmade-plan.ts';
import { OperatorHarness } from '../fakes/operator-harness.ts';
import { SeededRandom } from './seeded-random.ts';

/** How many histories a test runs: HOMEOSTAT_CONVERGENCE_RUNS=10000 for long, _SEED=<seed> _RUNS=1 to see one again. */
export const convergenceRuns = {
  count: Number(process.env.HOMEOSTAT_CONVERGENCE_RUNS ?? 150),
  firstSeed: Number(process.env.HOMEOSTAT_CONVERGENCE_SEED ?? 1),
} as const;

const steps = 40;
const owners = ['a', 'b'];
const items = ['x', 'y', 'z'];

/** A list of ConfigMaps, one that shows a Secret, one that shows the list, and one name that all resources want. */
const children: readonly HandmadeChild[] = [
  {
    id: 'maps',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    forEach: ({ resource }) => resource.spec.items as string[],
    template: ({ resource }, { item }) => ({
      metadata: { name: `${resource.metadata.name}-${item}` },
      data: { text: resource.spec.text as string },
    }),
  },
  {
    id: 'copy',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    readsUsed: ['secret'],
    template: (view) => ({
      metadata: { name: `${view.resource.metadata.name}-copy` },
      data: { text: (view.read('secret')!.data as { text: string }).text },
    }),
  },
  {
    id: 'index',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    tier: 1,
    pathsRead: [],
    template: (view) => ({
      metadata: { name: `${view.resource.metadata.name}-index` },
      data: {
        text: view
          .children('maps')
          .map(({ metadata }) => metadata.name)
          .join(),
      },
    }),
  },
  {
    id: 'shared',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    template: () => ({ metadata: { name: 'shared' }, data: { text: 'shared' } }),
  },
];

function planWith(made: readonly HandmadeChild[]) {
  return planOf({
    reads: [{ id: 'secret', apiVersion: 'v1', kind: 'Secret', name: () => 'secret' }],
    children: made,
    status: { maps: (view) => view.children('maps').length },
  });
}

/**
 * How the children are bound to their resource: by owner references, or by labels alone, so that only we remove them. With strategies (and
 * owner references) some are made anew when their intent changes, and one has a token that is made once.
 */
export type Binding = 'owner references' | 'labels' | 'strategies';

const strategies: Readonly<Record<string, HandmadeChild['updateStrategy']>> = {
  maps: {
    type: 'Recreate',
    rollingUpdate: { maxUnavailable: 1, maxSurge: 1, partition: 0, order: 'Ascending' },
  },
  copy: { type: 'Recreate' },
};

/** Its token is another one in every pass, unless it is there already. */
function keptChild(): HandmadeChild {
  let tokens = 0;
  return {
    id: 'kept',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    observes: ['kept'],
    template: (view) => {
      const data = view.observed('kept')?.data as { token?: string } | undefined;
      tokens += 1;
      return {
        metadata: { name: `${view.resource.metadata.name}-kept` },
        data: { text: view.resource.spec.text as string, token: data?.token ?? `token ${tokens}` },
      };
    },
  };
}

const plans = {
  'owner references': planWith(children),
  labels: planWith(children.map((child) => ({ ...child, crossNamespace: true }))),
  strategies: planWith([
    ...children.map((child) => ({ ...child, updateStrategy: strategies[child.id] })),
    keptChild(),
  ] as readonly HandmadeChild[]),
};

/** One random history of a harness with two resources of one definition, and what must be so at its end. */
export class OperatorHistory {
  readonly log: string[] = [];
  readonly #random: SeededRandom;
  readonly #binding: Binding;
  readonly #harness: OperatorHarness;
  readonly #running = new Map<string, Promise<unknown>>();
  /** Was there a time when no process saw what happened? */
  #wasAway = false;
  /** Brings back the server's last backup. */
  #restore: () => void = () => undefined;
  /** By UID: the token of an object that has one. */
  readonly #tokens = new Map<string, string>();
  /** Keys that are to run again after a while. */
  readonly #later = new Set<string>();

  constructor(seed: number, binding: Binding = 'owner references') {
    this.#random = new SeededRandom(seed);
    this.#binding = binding;
    this.#harness = new OperatorHarness(plans[binding]);
  }

  async run(): Promise<void> {
    await this.#harness.start();
    // Requests take one to four turns: whatever else happens falls before, between or after.
    // Some fail, before the server acts or when its answer is on its way.
    let fails = true;
    this.#harness.cluster.pace = async () => {
      for (let turns = this.#random.below(4); turns >= 0; turns--) await settle();
      if (!fails || this.#random.chance(0.96)) return;
      this.log.push('connection lost');
      throw new KubeError('connection-lost', 'socket hang up', { status: 0 });
    };
    for (let step = 0; step < steps; step++) {
      await this.#step();
      if (this.#random.chance(0.5)) await settle();
    }
    fails = false;
    await this.#rest();
    this.#check();
    // Few changes, so that none wakes by chance what another one should have woken.
    for (let change = 0; change < 3; change++) {
      this.#random.pick([() => this.#meddle(), () => this.#meddle(), () => this.#stranger()])?.();
      await this.#rest();
      this.#check();
    }
    await this.#checkRest();
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const owner = random.pick(owners) ?? '';
    const action = random.pick([
      () => this.#work(),
      () => this.#work(),
      () => this.#work(),
      () => this.#deliver(),
      () => this.#deliver(),
      () => this.#putOwner(owner),
      () => this.#putOwner(owner),
      () => this.#remove('apps.example.com/v1', 'PodSet', owner),
      () => this.#meddle(),
      () => this.#meddle(),
      () => this.#stranger(),
      () => this.#secret(),
      () => this.#collectGarbage(),
      () => this.#restart(),
      () => this.#backUp(),
      () => this.#outage(),
    ]);
    await action?.();
    this.#checkTokens();
  }

  /** Starts a pass of a queued key that is not in a worker. */
  #work(): void {
    const ready = [...this.#harness.queued.keys()].filter((key) => !this.#running.has(key));
    const key = this.#random.pick(ready);
    if (key === undefined) return;
    this.log.push(`pass ${key}`);
    const pass = this.#harness.runOne(key).then((end) => {
      this.#running.delete(key);
      // As the worker loop does.
      if (end.kind === 'error') this.#harness.queued.set(key, 'normal');
      if (end.kind === 'requeue') this.#later.add(key);
      this.log.push(`end ${key} ${end.kind}`);
    });
    this.#running.set(key, pass);
  }

  /** A new process takes over: nothing is remembered. */
  async #restart(): Promise<void> {
    if (this.#running.size > 0 || this.#random.chance(0.5)) return;
    this.log.push('restart');
    this.#wasAway = true;
    await this.#harness.restart(plans[this.#binding]);
  }

  #backUp(): void {
    if (this.#random.chance(0.7)) return;
    this.log.push('back up');
    this.#restore = this.#harness.cluster.server.backUp();
  }

  /** The server is away, and may come back as it was before: all begins anew. */
  async #outage(): Promise<void> {
    if (this.#random.chance(0.7)) return;
    const isRestored = this.#random.chance(0.5);
    this.#wasAway = true;
    this.log.push(isRestored ? 'outage, restored' : 'outage');
    await Promise.all(this.#running.values());
    if (isRestored) this.#restore();
    this.#harness.cluster.loseEvents();
    await this.#harness.restart(plans[this.#binding]);
  }

  #deliver(): void {
    if (this.#harness.cluster.deliver()) this.log.push('deliver');
  }

  #putOwner(name: string): void {
    const wanted = items.filter(() => this.#random.chance(0.5));
    const text = this.#random.pick(['one', 'two']);
    const present = this.#harness.get('apps.example.com/v1', 'PodSet', name);
    this.log.push(`owner ${name} ${wanted} ${text}`);
    if (present === undefined) this.#harness.podSet(name, { items: wanted, text });
    else this.#harness.edit(present, { spec: { items: wanted, text } });
  }

  /** Somebody edits, strips or deletes a ConfigMap. */
  #meddle(): void {
    const object = this.#random.pick(this.#configMaps());
    if (object === undefined) return;
    const { metadata } = object;
    const how = this.#random.pick(['data', 'labels', 'owners', 'delete']);
    this.log.push(`meddle ${metadata.name} ${how}`);
    if (how === 'data') {
      this.#harness.edit(object, { data: { ...(object.data as object), text: 'meddled' } });
    }
    if (how === 'labels') this.#harness.edit(object, { metadata: { ...metadata, labels: {} } });
    if (how === 'owners') {
      this.#harness.edit(object, { metadata: { ...metadata, ownerReferences: [] } });
    }
    if (how === 'delete') this.#harness.remove(object);
  }

  /** An object of others is created or deleted where a child may be desired. */
  #stranger(): void {
    const name = `${this.#random.pick(owners)}-${this.#random.pick([...items, 'copy', 'index'])}`;
    const present = this.#harness.get('v1', 'ConfigMap', name);
    if (present !== undefined && !isStranger(present)) return;
    this.log.push(`stranger ${name} ${present === undefined ? 'created' : 'deleted'}`);
    if (present !== undefined) this.#harness.remove(present);
    else this.#put('ConfigMap', name, 'stranger');
  }

  #secret(): void {
    const text = this.#random.pick(['one', 'two', undefined]);
    this.log.push(`secret ${text}`);
    if (text === undefined) this.#remove('v1', 'Secret', 'secret');
    else this.#put('Secret', 'secret', text);
  }

  /** What the garbage collector does: objects whose owner is gone go. */
  #collectGarbage(): void {
    const uids = new Set(
      owners.map((name) => this.#harness.get('apps.example.com/v1', 'PodSet', name)?.metadata.uid),
    );
    for (const object of this.#configMaps()) {
      const { ownerReferences = [], name } = object.metadata;
      if (ownerReferences.length === 0 || ownerReferences.some(({ uid }) => uids.has(uid)))
        continue;
      this.log.push(`collect ${name}`);
      this.#harness.remove(object);
    }
  }

  async #rest(): Promise<void> {
    this.log.push('rest');
    // Only if it has to be: it wakes everybody, and would hide a change that was lost.
    if (this.#secretText() === undefined) this.#put('Secret', 'secret', 'last');
    for (let rounds = 0; rounds < 200; rounds++) {
      await settle();
      this.#collectGarbage();
      this.#deliver();
      this.#work();
      const isIdle = this.#running.size === 0 && this.#harness.queued.size === 0;
      if (isIdle && !this.#harness.cluster.deliver() && !(await this.#passTime())) return;
      if (rounds % 3 === 0) await Promise.all(this.#running.values());
    }
    throw new Error('Expected the harness to settle');
  }

  /** What was slowed down, or left to somebody for a while, gets its turn. */
  async #passTime(): Promise<boolean> {
    if (this.#later.size === 0) return false;
    await this.#harness.clock.advance(300_000);
    for (const key of this.#later) this.#harness.queued.set(key, 'normal');
    this.#later.clear();
    return true;
  }

  #check(): void {
    this.#checkTokens();
    const wanted = new Map<string, string>();
    for (const name of owners) {
      const resource = this.#harness.get('apps.example.com/v1', 'PodSet', name);
      if (resource === undefined) continue;
      assert.equal(resource.metadata.deletionTimestamp, undefined, `${name} does not go`);
      const spec = resource.spec as { items: string[]; text: string };
      for (const item of spec.items) wanted.set(`${name}-${item}`, spec.text);
      wanted.set(`${name}-copy`, this.#secretText() ?? '');
      if (this.#binding === 'strategies') wanted.set(`${name}-kept`, spec.text);
    }
    for (const [name, text] of wanted) this.#checkPresent(name, text);
    for (const object of this.#configMaps()) this.#checkWanted(object, wanted);
    if (this.#binding === 'labels') this.#checkLeftovers();
  }

  /** Nothing that is labelled for a resource stays when that is gone. */
  #checkLeftovers(): void {
    const uids = owners.map(
      (name) => this.#harness.get('apps.example.com/v1', 'PodSet', name)?.metadata.uid,
    );
    for (const { metadata } of this.#configMaps()) {
      const owner = metadata.labels?.['homeostat.dev/owner-uid'];
      assert.ok(owner === undefined || uids.includes(owner), `${metadata.name} was left behind`);
    }
  }

  /** Whatever happens, a token that was made is not made again. */
  #checkTokens(): void {
    for (const { metadata, data } of this.#configMaps()) {
      const { token } = (data ?? {}) as { token?: string };
      const known = this.#tokens.get(metadata.uid ?? '');
      if (known !== undefined) assert.equal(token, known, `the token of ${metadata.name} changed`);
      else if (token !== undefined) this.#tokens.set(metadata.uid ?? '', token);
    }
  }

  /** Is an object as wanted, or reported as somebody else's? */
  #checkPresent(name: string, text: string): void {
    const object = this.#harness.get('v1', 'ConfigMap', name);
    assert.ok(object, `${name} is missing`);
    const [owner = ''] = name.split('-');
    const { uid } = this.#harness.get('apps.example.com/v1', 'PodSet', owner)?.metadata ?? {};
    const { ownerReferences = [], labels } = object.metadata;
    const isOurs =
      ownerReferences.some((reference) => reference.uid === uid) ||
      (this.#binding === 'labels' && labels?.['homeostat.dev/owner-uid'] === uid);
    if (isOurs && this.#waitsForItsTurn(owner, name)) return;
    if (isOurs) assert.deepEqual(withoutToken(object.data), { text }, name);
    else assert.match(this.#harness.ready(owner), /Conflict/, `${name} is in the way of ${owner}`);
  }

  /** Behind a stranger, who never becomes ready, a rolling update stops. */
  #waitsForItsTurn(owner: string, name: string): boolean {
    const children = this.#harness.status(owner).children as readonly Child[] | undefined;
    const message = children?.find((child) => child.name === name)?.message ?? '';
    return message.includes('its turn') && /Conflict/.test(this.#harness.ready(owner));
  }

  /** Is what carries the label of a present owner wanted? The rest is not found any more, and not ours to take away. */
  #checkWanted({ metadata }: KubeObject, wanted: ReadonlyMap<string, string>): void {
    const { name, labels, ownerReferences = [] } = metadata;
    // Stripped of its owner reference while no process ran, and before a report has listed it.
    const isUnbound = this.#binding !== 'labels' && ownerReferences.length === 0;
    if (isUnbound && this.#wasAway) return;
    if (wanted.has(name) || name === 'shared' || name.endsWith('-index')) return;
    const [owner = ''] = name.split('-');
    const { uid } = this.#harness.get('apps.example.com/v1', 'PodSet', owner)?.metadata ?? {};
    if (uid === undefined || labels?.['homeostat.dev/owner-uid'] !== uid) return;
    const ready = this.#harness.ready(owner);
    // A child with an element in trouble keeps what it has.
    assert.match(ready, /Conflict/, `${name} should be gone, ${owner} says ${ready}`);
  }

  /** At rest a pass of everything writes nothing. */
  async #checkRest(): Promise<void> {
    this.#harness.cluster.takeWrites();
    this.#harness.cluster.pace = undefined;
    for (const name of owners) await this.#harness.runOne(`default/${name}`);
    assert.deepEqual(this.#harness.cluster.requests, []);
  }

  #put(kind: string, name: string, text: string): void {
    const metadata = { name, namespace: 'default' };
    this.#harness.cluster.server.put({ apiVersion: 'v1', kind, metadata, data: { text } });
  }

  #secretText(): string | undefined {
    const secret = this.#harness.get('v1', 'Secret', 'secret');
    return (secret?.data as { text: string } | undefined)?.text;
  }

  #remove(apiVersion: string, kind: string, name: string): void {
    const object = this.#harness.get(apiVersion, kind, name);
    if (object === undefined) return;
    this.log.push(`remove ${kind} ${name}`);
    this.#harness.remove(object);
  }

  #configMaps(): readonly KubeObject[] {
    return this.#harness
      .names('v1', 'ConfigMap')
      .flatMap((name) => this.#harness.get('v1', 'ConfigMap', name) ?? []);
  }
}

/** Neither labelled nor owned: of no definition, or made so by an edit of what was applied by us. */
function isStranger({ metadata }: KubeObject): boolean {
  const isLabelled = metadata.labels?.['homeostat.dev/owner-uid'] !== undefined;
  return !isLabelled && (metadata.ownerReferences ?? []).length === 0;
}

function withoutToken(data: unknown): unknown {
  const { token: _, ...rest } = data as { token?: string };
  return rest;
}

interface Child {
  readonly name: string;
  readonly message: string;
}
