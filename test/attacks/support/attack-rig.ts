import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { createManifestCheck } from '#check';
import { parseYaml } from '#definition';
import { ClusterRuntime } from '#runtime';
import type { ReadableMetricRegistry } from '#telemetry';
import { ByteSemaphore } from '#util/byte-semaphore.ts';
import { createSystemClock } from '#util/clock.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { createSystemRandom } from '#util/random.ts';
import { type SharedControlPlane, useControlPlane } from '../../support/control-plane/index.ts';
import {
  type Condition,
  conditionOf,
  textMap,
  thing,
  thingDefinition,
  thingPath,
} from '../../support/definitions.ts';
import { useKubeCluster } from '../../support/kube-cluster.ts';
import { freshMetrics, silentLogger } from '../../support/silent-telemetry.ts';
import { type CountedTurns, createCountedTurns } from './counted-turns.ts';

/** What an attack met. */
export interface AttackReport {
  /** `Ready` of the hostile resource, once it was reported. */
  readonly ready: Condition;
  readonly resource: KubeObject;
  /** How often the event loop has had its turn meanwhile. */
  readonly turns: number;
  /** How often the resource of the good definition was edited and had its child changed meanwhile. */
  readonly served: number;
}

export interface AttackRig {
  /** Creates a resource of a hostile definition (`body` is YAML below its `spec`), and works with the good one until it is reported on. */
  attack(body: string, spec: unknown): Promise<AttackReport>;
  /** Edits the resource of the good definition, and waits for its child. */
  serveGood(): Promise<void>;
  readonly runtime: ClusterRuntime;
  /** Of the runtime. */
  readonly metrics: ReadableMetricRegistry;
}

const crdPath =
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/operatordefinitions.homeostat.dev';
const goodDefinition = thingDefinition('good', `  children:${textMap('text')}`);

export interface AttackRigOptions {
  /** What all reconciles may hold together. @default 256 MiB */
  readonly memoryBytes?: number;
}

/** As `describe`, with a sandbox, and a cluster runtime of a good definition and of those that attacks bring. */
export function describeAttacks(
  name: string,
  { memoryBytes = 256 * 1024 * 1024 }: AttackRigOptions,
  body: (rig: AttackRig) => void,
): void {
  const shared = useControlPlane({ controllerManager: false });
  shared.describe(name, () => body(useAttackRig(shared, memoryBytes)));
}

function useAttackRig(shared: SharedControlPlane, memoryBytes: number): AttackRig {
  const stop = new AbortController();
  let hostile = 0;
  const metrics = freshMetrics();
  let counted: CountedTurns;
  let runtime: ClusterRuntime;
  let ended: Promise<void>;
  let namespace: string;
  let edits = 0;

  // Before the clients of its cluster are closed.
  after(async () => {
    stop.abort(new Error('The tests are over'));
    await ended;
  });
  const clusters = useKubeCluster(shared);
  before(async () => {
    namespace = await shared.namespace();
    counted = createCountedTurns();
    runtime = new ClusterRuntime({
      cluster: await clusters.connect(shared.plane.kubeconfigPath('operator')),
      clock: createSystemClock(),
      random: createSystemRandom(),
      logger: silentLogger(),
      metrics,
      timeSlicer: counted.turns,
      memory: new ByteSemaphore(memoryBytes),
      sources: [],
      check: createManifestCheck(undefined),
      readsObjects: true,
      guardedNamespaces: new Set(),
      definitionsNamespace: undefined,
      name: 'attacks',
      onFindings: () => {},
    });
    ended = runtime.run(stop.signal);
    await shared.client().untilObject(crdPath, (crd) => crd !== undefined);
    await define(goodDefinition);
    await untilRunning('good');
    await serveGood();
  });

  async function define(text: string): Promise<void> {
    await shared.client().apply(parseYaml(text) as unknown as KubeObject);
  }

  async function untilRunning(name: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      const view = runtime.view.definitions.find((each) => each.name === name);
      if (view?.state.kind === 'running') resolve();
    };
    const unsubscribe = runtime.onChange(check);
    check();
    await promise;
    unsubscribe();
  }

  async function serveGood(): Promise<void> {
    edits += 1;
    const text = `edit-${edits}`;
    const client = shared.client();
    await client.apply(thing('good', namespace, { text }));
    await client.untilObject(
      `/api/v1/namespaces/${namespace}/configmaps/one-text`,
      (child) => (child as { data?: { text?: string } } | undefined)?.data?.text === text,
    );
  }

  return {
    async attack(body, spec) {
      hostile += 1;
      const name = `hostile${hostile}`;
      await define(thingDefinition(name, body));
      await untilRunning(name);
      const client = shared.client();
      const before = counted.count;
      const place = await shared.namespace();
      await client.apply(thing(name, place, spec));
      let isReported = false;
      const reported = client
        .untilObject(thingPath(name, place), (object) => conditionOf(object) !== undefined)
        .then((object) => {
          isReported = true;
          return { object, turns: counted.count - before };
        });
      let served = 0;
      for (; !isReported; served += 1) await serveGood();
      const { object, turns } = await reported;
      const ready = conditionOf(object);
      assert.ok(object !== undefined && ready !== undefined);
      return { ready, resource: object, turns, served };
    },
    serveGood,
    get runtime() {
      return runtime;
    },
    metrics,
  };
}
