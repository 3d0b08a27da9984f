import assert from 'node:assert/strict';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { settle } from '../fake-clock.ts';
import { type FakeMember, MemberHarness, placedPlan } from '../fakes/member-harness.ts';
import { SeededRandom } from './seeded-random.ts';

/** How many histories a test runs: HOMEOSTAT_MEMBER_RUNS=10000 for long, _SEED=<seed> _RUNS=1 to see one again. */
export const memberRuns = {
  count: Number(process.env.HOMEOSTAT_MEMBER_RUNS ?? 60),
  firstSeed: Number(process.env.HOMEOSTAT_MEMBER_SEED ?? 1),
} as const;

const steps = 50;
const owners = ['a', 'b'];
const names = ['berlin', 'paris', 'rome'];
const clusterKind = gvkOf('homeostat.dev/v1alpha1', 'Cluster');
const configMaps = gvkOf('v1', 'ConfigMap');

/** One object in every selected member, one in a member that the resource names, and one on the hub. */
const body = (which: string) => `
  reads:
    - { id: clusters, apiVersion: homeostat.dev/v1alpha1, kind: Cluster, selector: { matchLabels: { web: "true" } } }
  children:
    - id: web
      forEach: \${ [${which}] }
      cluster: \${ $item }
      crossCluster: { selector: all }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-web" }, data: { text: "\${ spec.text }" } }
    - id: one
      when: \${ $exists(spec.cluster) }
      cluster: \${ spec.cluster }
      crossCluster: { selector: all }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-one" }, data: { text: "\${ spec.text }" } }
    - id: here
      crossNamespace: true
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-here" }, data: { text: "\${ spec.text }" } }
  status:
    web: \${ [$sort(children.web.$clusterOf($))] }
`;

/** How members are selected: by labels alone, or only those that the hub reports as connected. */
const selections = {
  'by labels': 'reads.clusters.metadata.name',
  'if connected': 'reads.clusters[$condition($, "Connected").status = "True"].metadata.name',
} as const;

export type Selection = keyof typeof selections;

interface Spec {
  readonly text: string;
  readonly cluster?: string;
}

/** One random history of a hub with three members and two resources, and what must be so at every moment and at its end. */
export class MemberHistory {
  readonly log: string[] = [];
  readonly #random: SeededRandom;
  readonly #plan: ReturnType<typeof placedPlan>;
  readonly #harness: MemberHarness;
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #down = new Set<string>();
  readonly #later = new Set<string>();
  /** By name, the objects of a member when it stopped. */
  readonly #before = new Map<string, string>();

  constructor(seed: number, selection: Selection) {
    this.#random = new SeededRandom(seed);
    this.#plan = placedPlan(body(selections[selection]));
    this.#harness = new MemberHarness(this.#plan);
    for (const name of names) {
      const member = this.#harness.addMember(name, this.#random.chance(0.7) ? { web: 'true' } : {});
      member.onWrite = (what) => this.#checkWrite(member, what);
    }
  }

  async run(): Promise<void> {
    await this.#harness.start();
    let fails = true;
    this.#harness.cluster.pace = async () => {
      for (let turns = this.#random.below(3); turns >= 0; turns--) await settle();
      if (!fails || this.#random.chance(0.97)) return;
      this.log.push('connection to the hub lost');
      throw new KubeError('connection-lost', 'socket hang up', { status: 0 });
    };
    for (let step = 0; step < steps; step++) {
      await this.#step();
      if (this.#random.chance(0.5)) await settle();
      this.#checkStopped();
    }
    fails = false;
    for (const name of [...this.#down]) this.#start(name);
    await this.#rest();
    this.#check();
    await this.#checkRest();
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const owner = random.pick(owners) ?? '';
    const name = random.pick(names) ?? '';
    const action = random.pick([
      () => this.#work(),
      () => this.#work(),
      () => this.#work(),
      () => this.#work(),
      () => this.#deliver(),
      () => this.#deliver(),
      () => this.#putOwner(owner),
      () => this.#putOwner(owner),
      () => this.#removeOwner(owner),
      () => this.#relabel(name),
      () => (this.#down.has(name) ? this.#start(name) : this.#stop(name)),
      () => this.#flicker(name),
      () => this.#meddle(name),
      () => this.#freeze(name),
      () => this.#restart(),
    ]);
    await action?.();
  }

  #work(): void {
    const ready = [...this.#harness.queued.keys()].filter((key) => !this.#running.has(key));
    const key = this.#random.pick(ready);
    if (key === undefined) return;
    this.log.push(`pass ${key}`);
    const pass = this.#harness.runOne(key).then((end) => {
      this.#running.delete(key);
      if (end.kind === 'error') this.#harness.queued.set(key, 'normal');
      if (end.kind === 'requeue' || end.kind === 'retry' || end.kind === 'failed')
        this.#later.add(key);
      this.log.push(`end ${key} ${end.kind}`);
    });
    this.#running.set(key, pass);
  }

  #deliver(): void {
    const clusters = [this.#harness.cluster, ...names.map((name) => this.#member(name).cluster)];
    if (this.#random.pick(clusters)?.deliver()) this.log.push('deliver');
  }

  async #restart(): Promise<void> {
    if (this.#running.size > 0 || this.#random.chance(0.5)) return;
    this.log.push('restart');
    await this.#harness.restart(this.#plan);
  }

  #putOwner(name: string): void {
    const cluster = this.#random.pick([undefined, ...names]);
    const spec: Spec = {
      text: this.#random.pick(['one', 'two']) ?? '',
      ...(cluster !== undefined && { cluster }),
    };
    this.log.push(`owner ${name} ${JSON.stringify(spec)}`);
    const present = this.#harness.get('apps.example.com/v1', 'PodSet', name);
    if (present === undefined) this.#harness.podSet(name, spec);
    else this.#harness.edit(present, { spec });
  }

  #removeOwner(name: string): void {
    const present = this.#harness.get('apps.example.com/v1', 'PodSet', name);
    if (present === undefined || present.metadata.deletionTimestamp !== undefined) return;
    this.log.push(`remove ${name}`);
    this.#harness.remove(present);
  }

  #relabel(name: string): void {
    const isSelected = this.#random.chance(0.5);
    this.log.push(`label ${name} ${isSelected}`);
    this.#harness.label(name, isSelected ? { web: 'true' } : {});
  }

  /** The connection and what the hub reports of it end in any order. */
  #stop(name: string): void {
    this.log.push(`stop ${name}`);
    this.#down.add(name);
    this.#harness.stopMember(name);
    this.#before.set(name, this.#contentOf(name));
  }

  #start(name: string): void {
    this.log.push(`start ${name}`);
    this.#down.delete(name);
    this.#before.delete(name);
    this.#harness.startMember(name);
  }

  /** The hub reports an outage while the connection is open, or the end of one before it is. */
  #flicker(name: string): void {
    const isConnected = this.#random.chance(0.5);
    this.log.push(`flicker ${name} ${isConnected}`);
    this.#harness.setConnected(name, isConnected);
  }

  /** Requests to the member fail for a while. */
  #freeze(name: string): void {
    const isFrozen = this.#random.chance(0.5);
    this.log.push(`${isFrozen ? 'freeze' : 'thaw'} ${name}`);
    this.#member(name).cluster.fault = () =>
      isFrozen ? new KubeError('timeout', 'No response', { status: 0 }) : undefined;
  }

  #meddle(name: string): void {
    if (this.#down.has(name)) return;
    const object = this.#random.pick(this.#objectsOf(name));
    if (object === undefined) return;
    const { server } = this.#member(name).cluster;
    const { namespace, name: objectName } = object.metadata;
    const isDeleted = this.#random.chance(0.4);
    this.log.push(`meddle ${name} ${objectName} ${isDeleted ? 'delete' : 'edit'}`);
    if (isDeleted) server.delete(configMaps, { namespace, name: objectName });
    else server.put({ ...object, data: { text: 'meddled' } });
  }

  /** A member is written to only through an open connection, while the hub reports it as connected. */
  #checkWrite({ name }: FakeMember, what: string): void {
    this.log.push(`${name}: ${what}`);
    assert.ok(!this.#down.has(name), `${what} in ${name}, which is stopped`);
    const informer = this.#harness.cluster.acquire({ gvk: clusterKind });
    const known = informer.get(undefined, name)?.object;
    informer.release();
    const connected = conditionsOf(known).find(({ type }) => type === 'Connected');
    assert.equal(connected?.status, 'True', `${what} in ${name}, which is not connected`);
  }

  #checkStopped(): void {
    for (const [name, before] of this.#before)
      assert.equal(this.#contentOf(name), before, `${name} is as it was when it stopped`);
    for (const name of names) assert.deepEqual(this.#member(name).forbiddenWrites, []);
  }

  async #rest(): Promise<void> {
    this.log.push('rest');
    for (const name of names) {
      this.#member(name).cluster.fault = () => undefined;
      this.#harness.setConnected(name, true);
    }
    for (let rounds = 0; rounds < 300; rounds++) {
      await settle();
      this.#harness.deliver();
      this.#work();
      const isIdle = this.#running.size === 0 && this.#harness.queued.size === 0;
      if (isIdle && !this.#harness.deliver() && !(await this.#passTime())) return;
      if (rounds % 3 === 0) await Promise.all(this.#running.values());
    }
    throw new Error('Expected the harness to settle');
  }

  async #passTime(): Promise<boolean> {
    if (this.#later.size === 0) return false;
    await this.#harness.clock.advance(700_000);
    for (const key of this.#later) this.#harness.queued.set(key, 'normal');
    this.#later.clear();
    return true;
  }

  /** Every member has what the resources want, and nothing else. */
  #check(): void {
    for (const name of names) {
      const wanted = new Map<string, string>();
      for (const owner of owners) {
        const resource = this.#harness.get('apps.example.com/v1', 'PodSet', owner);
        if (resource === undefined) continue;
        assert.equal(resource.metadata.deletionTimestamp, undefined, `${owner} does not go`);
        const { text, cluster } = resource.spec as Spec;
        if (this.#isSelected(name)) wanted.set(`${owner}-web`, text);
        if (cluster === name) wanted.set(`${owner}-one`, text);
        assert.equal(this.#harness.ready(owner), 'True AllReady: All children are ready');
      }
      const found = this.#objectsOf(name).map(({ metadata, data }) => [
        metadata.name,
        (data as { text: string }).text,
      ]);
      assert.deepEqual(found.sort(), [...wanted].sort(), `the objects in ${name}`);
    }
  }

  async #checkRest(): Promise<void> {
    const clusters = [this.#harness.cluster, ...names.map((name) => this.#member(name).cluster)];
    for (const cluster of clusters) cluster.takeWrites();
    this.#harness.cluster.pace = undefined;
    for (const name of owners) await this.#harness.runOne(`default/${name}`);
    for (const cluster of clusters) assert.deepEqual(cluster.requests, []);
  }

  #isSelected(name: string): boolean {
    const { server } = this.#harness.cluster;
    return server.get(clusterKind, undefined, name)?.object.metadata.labels?.web === 'true';
  }

  #member(name: string): FakeMember {
    return this.#harness.member(name);
  }

  #objectsOf(name: string): readonly KubeObject[] {
    return this.#member(name)
      .cluster.server.list(configMaps)
      .map(({ object }) => object);
  }

  #contentOf(name: string): string {
    return JSON.stringify(this.#objectsOf(name));
  }
}
