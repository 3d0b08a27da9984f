import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { createDefinitionParser } from '../../../src/definition/index.ts';
import { createManager, type Manager, type WantedDefinition } from '../../../src/runtime/index.ts';
import type { ReadableMetricRegistry } from '../../../src/telemetry/index.ts';
import { BytePool } from '../../../src/util/byte-pool.ts';
import { createSystemClock } from '../../../src/util/clock.ts';
import type { KubeObject } from '../../../src/util/kube-object.ts';
import { createSystemRandom } from '../../../src/util/random.ts';
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
  readonly manager: Manager;
  /** Of the manager. */
  readonly metrics: ReadableMetricRegistry;
}

const parser = createDefinitionParser();
const goodDefinition = thingDefinition('good', `  children:${textMap('text')}`);

export interface AttackRigOptions {
  /** What all reconciles may hold together. @default 256 MiB */
  readonly memoryBytes?: number;
}

/** As `describe`, with a sandbox, and a manager of a good definition and of those that attacks bring. */
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
  const definitions: WantedDefinition[] = [locate(goodDefinition)];
  const metrics = freshMetrics();
  let counted: CountedTurns;
  let manager: Manager;
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
    manager = createManager({
      cluster: await clusters.connect(shared.plane.kubeconfigPath('operator')),
      clock: createSystemClock(),
      random: createSystemRandom(),
      logger: silentLogger(),
      metrics,
      turns: counted.turns,
      memory: new BytePool(memoryBytes),
    });
    ended = manager.run(stop.signal);
    manager.replace({ definitions });
    await untilRunning('good');
    await serveGood();
  });

  async function untilRunning(name: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      const view = manager.view().definitions.find((each) => each.name === name);
      if (view?.state.kind === 'running') resolve();
    };
    const unsubscribe = manager.onChange(check);
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
      const name = `hostile${definitions.length}`;
      definitions.push(locate(thingDefinition(name, body)));
      manager.replace({ definitions: [...definitions] });
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
    get manager() {
      return manager;
    },
    metrics,
  };
}

function locate(text: string): WantedDefinition {
  const { definitions, diagnostics } = parser.parse(text, 'definition.yaml');
  const [located] = definitions;
  assert.ok(located, JSON.stringify(diagnostics));
  return { located };
}
