import assert from 'node:assert/strict';
import { createManifestCheck } from '#check/check-manifest.ts';
import { KubeError } from '#kube/roles.ts';
import type { DefinitionView } from '#runtime';
import { DefinitionsController } from '#runtime/definitions/definitions-controller.ts';
import { definitionGvk, isOwnWrite } from '#runtime/objects/names.ts';
import type { Confirmation } from '#runtime/publish/publication.ts';
import type { OriginState } from '#runtime/publish/publish-plan.ts';
import { ViewChangeNotifier } from '#runtime/view-change-notifier.ts';
import { createLogger } from '#telemetry';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject, ObjectMeta } from '#util/kube-object.ts';
import { createSystemRandom } from '#util/random.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { FakeClock } from '../fake-clock.ts';
import { freshMetrics } from '../silent-telemetry.ts';
import { ShadowCluster } from './shadow-cluster.ts';
import { locatedShadow, shadowObject } from './shadow-definition.ts';

const check = createManifestCheck(undefined);

type ControllerOptions = ConstructorParameters<typeof DefinitionsController>[0];

export interface DefinitionsHarnessOptions
  extends Partial<
    Pick<ControllerOptions, 'readsObjects' | 'runtime' | 'takeOverFrom' | 'places' | 'onTask'>
  > {
  /** A harness whose objects and time this one continues with, as a process that starts does. */
  readonly before?: DefinitionsHarness;
}

/** The controller of definitions on a fake cluster; users and the publisher of texts are played by the test. */
export class DefinitionsHarness {
  readonly cluster: ShadowCluster;
  readonly clock: FakeClock;
  readonly metrics = freshMetrics();
  readonly runtime: string;
  readonly log: { readonly level: string; readonly msg: string }[] = [];
  /** `reason name`, oldest first. */
  readonly events: string[] = [];
  /** The texts that there are, by name. */
  readonly texts = new Set<string>();
  /** Of every place where texts stand. Undefined: the sources were not looked at. */
  place: OriginState | undefined = 'read';
  /** When the publisher asks to look again, in ms; 0: not. */
  publishAgainMs = 0;
  /** Names that the publisher was asked for, in order. */
  readonly published: string[] = [];
  /** Whether the kind of definitions was not served for too long. */
  isKindGone = false;
  readonly controller: DefinitionsController;
  /** Of the object as it was published. */
  #confirmed: { readonly stored: KubeObject; readonly confirmation: Confirmation } | undefined;
  readonly #bell: ViewChangeNotifier;
  readonly #stop = new AbortController();
  #ended: Promise<void> | undefined;

  constructor(options: DefinitionsHarnessOptions = {}) {
    const { before, readsObjects = true, runtime = 'here', takeOverFrom } = options;
    const { places, onTask } = options;
    this.cluster = before?.cluster ?? new ShadowCluster();
    this.clock = before?.clock ?? new FakeClock();
    this.runtime = runtime;
    this.#bell = new ViewChangeNotifier(this.clock);
    const isGone = () => this.isKindGone;
    const objects = this.cluster.acquire({ gvk: definitionGvk });
    this.controller = new DefinitionsController({
      cluster: this.cluster,
      clock: this.clock,
      random: createSystemRandom(),
      timeSlicer: unlimitedTimeSlicer,
      metrics: this.metrics,
      notifier: this.#bell,
      check,
      runtime,
      readsObjects,
      ...(takeOverFrom !== undefined && { takeOverFrom }),
      ...(places && { places }),
      ...(onTask && { onTask }),
      logger: createLogger({
        level: 'info',
        destination: { write: (line) => void this.log.push(JSON.parse(line)) },
      }),
      objects: {
        get isSynced() {
          return objects.state.kind === 'synced';
        },
        get isGone() {
          return isGone();
        },
        get: (name) => objects.get(undefined, name)?.object,
        *list() {
          for (const { object } of objects.list()) yield object;
        },
      },
      manifests: {
        names: this.texts,
        publish: async (name) => {
          this.published.push(name);
          return { isPartial: false, afterMs: this.publishAgainMs };
        },
        originState: () => this.place,
        hasManifest: (name) => this.texts.has(name),
        confirmationOf: ({ metadata: { uid, generation } }) => {
          const { stored, confirmation } = this.#confirmed ?? {};
          const isSame = stored?.metadata.uid === uid && stored?.metadata.generation === generation;
          return isSame ? confirmation : undefined;
        },
      },
      onEvent: ({ reason }, { metadata }) => void this.events.push(`${reason} ${metadata.name}`),
    });
    objects.subscribe(({ name, pass, current }) => {
      if (!isOwnWrite(pass) || current === undefined) this.controller.enqueue(name);
    });
    objects.onState(() => this.controller.enqueueAll());
    this.#onStop = () => objects.release();
  }

  readonly #onStop: () => void;

  async start(): Promise<void> {
    this.#ended = this.controller.run(this.#stop.signal);
    await this.wait(1_000);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('The test has ended'));
    await this.#ended;
    this.#bell.stop();
    this.#onStop();
  }

  /** Moves time, in steps between which watches deliver. */
  async wait(ms: number): Promise<void> {
    const steps = 20;
    for (let step = 0; step < steps; step++) {
      await this.cluster.calm();
      await this.clock.advance(ms / steps);
    }
    await this.cluster.calm();
  }

  object(name = 'shadow'): KubeObject | undefined {
    return this.cluster.server.get(definitionGvk, undefined, name)?.object;
  }

  /** A user makes or edits a definition: its spec, or also what metadata it has. */
  async edit(spec: JsonObject, metadata: Partial<ObjectMeta> = {}): Promise<void> {
    const { name = 'shadow' } = metadata;
    const now = this.object(name) ?? shadowObject(spec, { name });
    this.cluster.server.put({ ...now, spec, metadata: { ...now.metadata, ...metadata } });
    await this.wait(1_000);
  }

  /** A user puts annotations on a definition, or takes them off. */
  async annotate(annotations: Readonly<Record<string, string | undefined>>, name = 'shadow') {
    const now = this.object(name) ?? assert.fail(`There is no ${name}`);
    const all = Object.entries({ ...now.metadata.annotations, ...annotations });
    const kept = Object.fromEntries(all.flatMap(([key, value]) => (value ? [[key, value]] : [])));
    this.cluster.server.put({ ...now, metadata: { ...now.metadata, annotations: kept } });
    await this.wait(1_000);
  }

  /** A user deletes a definition. */
  async delete(name = 'shadow'): Promise<void> {
    this.cluster.server.delete(definitionGvk, { namespace: undefined, name });
    await this.wait(1_000);
  }

  /** There is a text of the name, which the publisher publishes and confirms. */
  async publish(spec: JsonObject, marks: Readonly<Record<string, string>> = {}): Promise<void> {
    this.texts.add('shadow');
    this.controller.enqueueAll();
    const now = this.object();
    const stored = this.cluster.server.put({
      ...(now ?? shadowObject(spec)),
      spec,
      metadata: {
        ...(now ?? shadowObject(spec)).metadata,
        labels: { 'homeostat.dev/source': 'configmap', 'homeostat.dev/runtime': this.runtime },
        annotations: { 'homeostat.dev/source-ref': 'ops/defs/shadow.yaml', ...marks },
        finalizers: ['homeostat.dev/definition'],
      },
    }).object;
    this.#confirmed = { stored, confirmation: { located: locatedShadow(spec), warnings: [] } };
    this.controller.enqueue('shadow');
    await this.wait(1_000);
  }

  /** The newest text of the name has mistakes, and the publisher says so. */
  async reject(...mistakes: readonly string[]): Promise<void> {
    this.#confirmed = undefined;
    this.controller.enqueue('shadow');
    await this.annotate({ 'homeostat.dev/rejected': mistakes.join('\n') });
  }

  /** The text of the name is gone, and the publisher says so. */
  async withdraw(): Promise<void> {
    this.texts.delete('shadow');
    this.controller.enqueueAll();
    this.#confirmed = undefined;
    this.controller.enqueue('shadow');
    const withdrawn = new Date(this.clock.nowMs()).toISOString();
    await this.annotate({ 'homeostat.dev/withdrawn': withdrawn });
  }

  /** The server does not serve the kind of definitions any more; `isGone`: for too long. */
  async loseKind({ isGone }: { readonly isGone: boolean }): Promise<void> {
    this.isKindGone = isGone;
    const error = new KubeError('kind-missing', 'The kind is not served', { status: 404 });
    this.cluster.lose(definitionGvk.kind, error);
    this.controller.enqueueAll();
    await this.wait(1_000);
  }

  /** The server serves it again. */
  async returnKind(): Promise<void> {
    this.isKindGone = false;
    this.cluster.unblock(definitionGvk.kind);
    await this.wait(1_000);
  }

  view(name = 'shadow'): DefinitionView | undefined {
    return this.controller.views.find((view) => view.name === name);
  }

  /** A condition as `status reason: message`. */
  condition(type: string, name = 'shadow'): string {
    const { conditions } = this.status<{ conditions?: readonly Condition[] }>(name);
    const found = conditions?.find((each) => each.type === type);
    return found === undefined ? 'none' : `${found.status} ${found.reason}: ${found.message}`;
  }

  status<Status>(name = 'shadow'): Partial<Status> {
    return (this.object(name)?.status ?? {}) as Partial<Status>;
  }

  /** The texts of the revisions that the status holds, the accepted one first. */
  accepted(name = 'shadow'): readonly unknown[] {
    const { revisions = [] } = this.status<{ revisions: readonly { spec: Spec }[] }>(name);
    return revisions.map(({ spec }) => spec.children[0]?.template.data.text);
  }
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

interface Spec {
  readonly children: readonly { readonly template: { readonly data: { readonly text: string } } }[];
}
