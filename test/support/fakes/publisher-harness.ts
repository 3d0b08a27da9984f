import assert from 'node:assert/strict';
import { createManifestCheck } from '#check/check-manifest.ts';
import { Controller } from '#controller';
import type { EventInput } from '#kube/roles.ts';
import { definitionGvk } from '#runtime/objects/names.ts';
import { Publisher } from '#runtime/publish/publisher.ts';
import { createLogger } from '#telemetry';
import type { KubeObject } from '#util/kube-object.ts';
import { FakeClock, settle } from '../fake-clock.ts';
import { freshMetrics, silentLogger } from '../silent-telemetry.ts';
import { RuntimeFakeCluster } from './runtime-fake-cluster.ts';
import { ScriptedSource } from './scripted-source.ts';

const check = createManifestCheck(undefined);

/** A publisher of ConfigMaps on a fake cluster; what the source says is played by the test. */
export class PublisherHarness {
  readonly cluster: RuntimeFakeCluster;
  readonly clock: FakeClock;
  readonly source = new ScriptedSource('ops');
  readonly events: string[] = [];
  /** Which claims come to nothing, and why, as often as that changes. */
  readonly lost: (readonly string[])[] = [];
  readonly log: { readonly level: string; readonly msg: string }[] = [];
  /** The most writes that one step has sent. */
  mostWrites = 0;
  readonly #publisher: Publisher;
  readonly #controller: Controller;
  readonly #stop = new AbortController();
  #ended: Promise<void> | undefined;

  /** `before`: a harness whose objects and time this one continues with, as a process that starts does. */
  constructor(before?: PublisherHarness, runtime = 'here') {
    this.cluster = before?.cluster ?? new RuntimeFakeCluster();
    this.clock = before?.clock ?? new FakeClock();
    const objects = this.cluster.acquire({ gvk: definitionGvk });
    this.#publisher = new Publisher({
      cluster: this.cluster,
      clock: this.clock,
      logger: createLogger({
        level: 'info',
        destination: { write: (line) => void this.log.push(JSON.parse(line)) },
      }),
      sources: [this.source],
      check,
      runtime,
      objects: {
        isGone: false,
        get isSynced() {
          return objects.state.kind === 'synced';
        },
        get: (name) => objects.get(undefined, name)?.object,
        *list() {
          for (const { object } of objects.list()) yield object;
        },
      },
      enqueue: (name) => this.#controller.enqueue(name),
      onEvent: ({ reason }: Pick<EventInput, 'reason'>, { metadata }) =>
        this.events.push(`${reason} ${metadata.name}`),
      onRejectedClaims: (lost) =>
        this.lost.push(lost.map(({ manifest, message }) => `${manifest.file}: ${message}`)),
    });
    this.#controller = new Controller({
      name: 'publisher',
      reconciler: {
        reconcile: async (name, { signal }) => {
          const { isPartial, afterMs } = await this.#step(name, signal);
          if (isPartial) this.#controller.enqueue(name);
          return { kind: 'done', ...(afterMs > 0 && { due: { afterMs } }) };
        },
      },
      clock: this.clock,
      logger: silentLogger(),
      metrics: freshMetrics(),
    });
    objects.subscribe(({ name }) => this.#controller.enqueue(name));
    objects.onState(() => {
      for (const { object } of objects.list()) this.#controller.enqueue(object.metadata.name);
      for (const name of this.#publisher.names) this.#controller.enqueue(name);
    });
  }

  /** Steps of different names run at once; no test that counts their writes has two names. */
  async #step(name: string, signal: AbortSignal) {
    const { requests } = this.cluster;
    const before = requests.length;
    const step = await this.#publisher.publish(name, signal);
    const writes = requests.slice(before).filter(({ verb }) => verb !== 'get');
    this.mostWrites = Math.max(this.mostWrites, writes.length);
    return step;
  }

  async start(): Promise<void> {
    const { signal } = this.#stop;
    this.#ended = Promise.all([this.#publisher.run(signal), this.#controller.run(signal)]).then();
    await this.settle();
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('The test has ended'));
    await this.#ended;
  }

  /** What stands in the ConfigMaps from now on, by `ops/<ConfigMap>/<key>`. */
  async say(texts: Parameters<ScriptedSource['tell']>[0]): Promise<void> {
    this.source.tell(texts);
    await this.wait(50);
  }

  async wait(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.settle();
  }

  async settle(): Promise<void> {
    do await settle();
    while (this.cluster.deliver());
    await settle();
  }

  /** The definition of the name is reconciled once more. */
  async reconcile(name: string): Promise<void> {
    this.#controller.enqueue(name);
    await this.settle();
  }

  object(name: string): KubeObject | undefined {
    return this.cluster.server.get(definitionGvk, undefined, name)?.object;
  }

  /** The revision that is confirmed of the object as it is now. */
  revision(name: string): string | undefined {
    const object = this.object(name);
    return object && this.#publisher.confirmationOf(object)?.located.definition.revision;
  }

  /** What a user, or another program, writes. */
  async edit(name: string, manager: string, parts: Partial<KubeObject>): Promise<void> {
    const object = this.object(name);
    this.cluster.server.apply({
      manifest: {
        apiVersion: 'homeostat.dev/v1alpha1',
        kind: 'OperatorDefinition',
        ...parts,
        metadata: { ...parts.metadata, name, ...(object && { uid: object.metadata.uid }) },
      } as KubeObject,
      manager,
      force: true,
      status: false,
    });
    await this.settle();
  }

  /** What the controller of definitions does with an object that is being deleted. */
  async letGo(name: string): Promise<void> {
    const object = this.object(name);
    assert.ok(object?.metadata.deletionTimestamp, `${name} is not being deleted`);
    this.cluster.server.put({ ...object, metadata: { ...object.metadata, finalizers: [] } });
    await this.settle();
  }

  /** Somebody puts another spec in place of the one that is there. */
  async replace(name: string, spec: object): Promise<void> {
    const object = this.object(name);
    if (object !== undefined) this.cluster.server.put({ ...object, spec });
    await this.settle();
  }
}
