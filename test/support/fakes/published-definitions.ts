import assert from 'node:assert/strict';
import { createManifestCheck } from '#check/check-manifest.ts';
import { printYaml } from '#definition';
import { KubeError } from '#kube/roles.ts';
import { ClusterRuntime } from '#runtime';
import { clusterGvk } from '#runtime/members/cluster-kind.ts';
import { definitionGvk } from '#runtime/objects/names.ts';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { createSystemRandom } from '#util/random.ts';
import { type TimeSlicer, unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { FakeClock, settle } from '../fake-clock.ts';
import { freshMetrics, silentLogger } from '../silent-telemetry.ts';
import type { Moment } from './fake-cluster.ts';
import { MemberLink, memberKinds, type SharedMember } from './member-link.ts';
import { ScriptedSource } from './scripted-source.ts';
import { ShadowCluster } from './shadow-cluster.ts';
import { shadowObject } from './shadow-definition.ts';

const check = createManifestCheck(undefined);
const clusterType = {
  gvk: clusterGvk,
  plural: 'clusters',
  namespaced: false,
  hasStatus: true,
  verbs: [],
};
const secrets = { namespace: 'default', allowed: ['default'] };
/** Its address means nothing: a link is found by the name of the `Cluster`. */
const kubeconfig = JSON.stringify({
  'current-context': 'a',
  contexts: [{ name: 'a', context: { cluster: 'a' } }],
  clusters: [{ name: 'a', cluster: { server: 'https://member' } }],
});

/** A manifest of a source: its spec, and since when it exists. */
interface Manifest {
  readonly name: string;
  readonly spec: JsonObject;
  readonly sinceMs: number;
}

interface PublishedDefinitionsOptions {
  readonly clock?: FakeClock;
  /** Different for hubs of the same members. @default 0 */
  readonly index?: number;
  /** @default none */
  readonly members?: readonly SharedMember[];
}

/** Two sources and a runtime on a fake cluster, in processes that may be killed. */
export class PublishedDefinitions {
  readonly cluster = new ShadowCluster([...memberKinds, clusterType]);
  readonly clock: FakeClock;
  /** UID of its cluster. */
  readonly uid: string;
  /** By origin: `a/<name>`, `b/<name>`. */
  readonly manifests = new Map<string, Manifest>();
  /** By the name of the `Cluster`. */
  readonly links: ReadonlyMap<string, MemberLink>;
  /** How its reconciles share the thread, from the next process on. */
  timeSlicer: TimeSlicer = unlimitedTimeSlicer;
  /** Kinds whose watch events are on their way. */
  readonly late = new Set<string>();
  readonly #hasMembers: boolean;
  #runtime: ClusterRuntime | undefined;
  #sources: readonly ScriptedSource[] = [];
  #stop: (() => Promise<void>) | undefined;

  constructor({
    clock = new FakeClock(),
    index = 0,
    members = [],
  }: PublishedDefinitionsOptions = {}) {
    this.clock = clock;
    this.#hasMembers = members.length > 0;
    this.links = new Map(members.map((member) => [member.name, new MemberLink(member)]));
    // Each cluster of a fake numbers its objects alike.
    for (let other = 0; other < index; other++) this.#putNamespace(`other-${other}`);
    this.uid = this.#putNamespace('kube-system').metadata.uid ?? '';
    if (this.#hasMembers) this.#putSecret();
  }

  get runtime(): ClusterRuntime {
    assert.ok(this.#runtime, 'It does not run');
    return this.#runtime;
  }

  /** Whether there is a process that does not end. */
  get isRunning(): boolean {
    return this.#stop !== undefined;
  }

  async start(): Promise<void> {
    const { cluster, clock, timeSlicer } = this;
    const stopper = new AbortController();
    this.#sources = [new ScriptedSource('a'), new ScriptedSource('b')];
    const connect = (_config: unknown, options: Parameters<MemberLink['connect']>[0]) => {
      const link = this.links.get(options.name ?? '');
      assert.ok(link, `There is no cluster "${options.name}"`);
      return link.connect(options);
    };
    const runtime = new ClusterRuntime({
      cluster,
      clock,
      check,
      timeSlicer,
      sources: this.#sources,
      name: 'here',
      readsObjects: true,
      guardedNamespaces: new Set(),
      definitionsNamespace: undefined,
      random: createSystemRandom(),
      logger: silentLogger(),
      metrics: freshMetrics(),
      onFindings: () => {},
      ...(this.#hasMembers && { members: { secrets, connect } }),
    });
    this.#runtime = runtime;
    const ended = runtime.run(stopper.signal);
    this.#stop = async () => {
      stopper.abort(new Error('The process ends'));
      await ended;
    };
    await settle();
    this.#tell();
    await this.calm();
  }

  /** `isKilled`: nothing that it still sends arrives. */
  async stop({ isKilled = false } = {}): Promise<void> {
    if (isKilled) {
      this.cluster.fault = () => new KubeError('unavailable', 'Killed', { status: 0 });
      for (const link of this.links.values()) link.kill();
    }
    const stop = this.#stop;
    this.#stop = undefined;
    await stop?.();
    this.#runtime = undefined;
    this.cluster.fault = () => undefined;
  }

  /** Writes or removes a manifest. */
  write(origin: string, name: string, spec: JsonObject | undefined): void {
    const { sinceMs = this.clock.nowMs() } = this.manifests.get(origin) ?? {};
    if (spec === undefined) this.manifests.delete(origin);
    else this.manifests.set(origin, { name, spec, sinceMs });
    this.#tell();
  }

  object(name: string): KubeObject | undefined {
    return this.cluster.server.get(definitionGvk, undefined, name)?.object;
  }

  /** Somebody writes the spec of an object, or creates it. */
  put(name: string, spec: JsonObject): void {
    const live = this.object(name) ?? shadowObject(spec, { name });
    this.cluster.server.put({ ...live, spec });
  }

  delete(name: string): void {
    this.cluster.server.delete(definitionGvk, { namespace: undefined, name });
  }

  /** It is gone at once, whatever finalizers it has. */
  remove(name: string): void {
    const live = this.object(name);
    if (live === undefined) return;
    this.cluster.server.put({ ...live, metadata: { ...live.metadata, finalizers: [] } });
    this.delete(name);
  }

  /** The `Cluster` of a member. */
  member(name: string): KubeObject | undefined {
    return this.cluster.server.get(clusterGvk, undefined, name)?.object;
  }

  /** Somebody creates the `Cluster` of a member, or changes its labels. */
  register(name: string, labels: Readonly<Record<string, string>>): void {
    const live = this.member(name);
    this.cluster.server.put({
      apiVersion: 'homeostat.dev/v1alpha1',
      kind: 'Cluster',
      ...live,
      metadata: { ...live?.metadata, name, labels: { ...live?.metadata.labels, ...labels } },
      spec: { kubeconfig: { secretRef: { name: 'kubeconfig' } } },
    } as KubeObject);
  }

  /** Somebody deletes the `Cluster` of a member. */
  unregister(name: string): void {
    this.cluster.server.delete(clusterGvk, { namespace: undefined, name });
  }

  /** Acts once within a status write of an object, after `skipped` others. Returns how to take it back: true if it has acted. */
  actWithin(
    { kind, name, when, skipped }: Pick<Moment, 'kind' | 'name' | 'when'> & { skipped: number },
    act: () => void,
  ): () => boolean {
    let hasActed = false;
    let left = skipped;
    const pace = async (moment: Moment) => {
      if (hasActed || moment.verb !== 'status') return;
      if (moment.kind !== kind || moment.name !== name || moment.when !== when) return;
      left -= 1;
      if (left >= 0) return;
      hasActed = true;
      // Its event arrives after the answer.
      act();
    };
    this.cluster.pace = pace;
    return () => {
      if (this.cluster.pace === pace) this.cluster.pace = undefined;
      return hasActed;
    };
  }

  /** Delivers watch events. False: there were none. */
  deliver(): boolean {
    const own = this.cluster.deliver((kind) => !this.late.has(kind));
    return [own, ...Array.from(this.links.values(), (link) => link.deliver())].some(Boolean);
  }

  /** Moves time, in steps between which watches deliver. */
  wait(ms: number): Promise<void> {
    return passTime(this.clock, [this], ms);
  }

  calm(): Promise<void> {
    return calmAll([this]);
  }

  #putNamespace(name: string): KubeObject {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    return this.cluster.server.put(namespace).object;
  }

  #putSecret(): void {
    this.cluster.server.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'kubeconfig', namespace: 'default' },
      data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
    } as KubeObject);
  }

  #tell(): void {
    for (const source of this.#sources) {
      const own = [...this.manifests].filter(([origin]) =>
        source.covers({ source: 'configmap', ref: origin }),
      );
      source.tell(
        Object.fromEntries(
          own.map(([origin, { name, spec, sinceMs }]) => [
            origin,
            { text: printYaml(shadowObject(spec, { name })), sinceMs },
          ]),
        ),
      );
    }
  }
}

/** Moves the time of several hubs, in steps between which watches deliver. */
export async function passTime(
  clock: FakeClock,
  hubs: readonly PublishedDefinitions[],
  ms: number,
): Promise<void> {
  for (let step = 0; step < 20; step++) {
    await calmAll(hubs);
    await clock.advance(ms / 20);
  }
  await calmAll(hubs);
}

/** Lets all go on that needs no time. */
async function calmAll(hubs: readonly PublishedDefinitions[]): Promise<void> {
  for (let quiet = 0; quiet < 10; quiet++) {
    await settle();
    if (hubs.map((hub) => hub.deliver()).some(Boolean)) quiet = 0;
  }
}
