import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import {
  conversionsAnnotation,
  preservedAnnotation,
  preservedPrefix,
  provenConversionsAnnotation,
} from '#util/stored-names.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { ConverterService } from '../support/conversion/converter-service.ts';
import {
  byReplicas,
  bySize,
  crdSpecOf,
  isOwnedIn,
  newer,
  old,
  type StepDefinition,
  served,
  stepDefinition,
  stored,
  storedVersions,
  unserved,
} from '../support/conversion/step-kind.ts';
import { StepLoad } from '../support/conversion/step-load.ts';
import { conditionOf } from '../support/definitions.ts';
import { createRuntimeNamespace, useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { modelRuns } from '../support/model/model-runs.ts';
import { SeededRandom } from '../support/model/seeded-random.ts';
import { otherFaults } from './other-faults.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);
/** HOMEOSTAT_MODEL_RUNS=30 for more; HOMEOSTAT_MODEL_SEED for others. */
const { runs: kills, firstSeed: seed } = modelRuns(10);

const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dials.kills.example.com';
const definitionPath = '/apis/homeostat.dev/v1alpha1/operatordefinitions/kills';
const dials = (version: string, namespace: string, name = 'kills') =>
  `/apis/${name}.example.com/${version}/namespaces/${namespace}/dials`;
const dial = { apiVersion: 'kills.example.com/v1alpha1', kind: 'Dial' };
const clients = ['a', 'b'];
const idle = Array.from({ length: 40 }, (_, index) => `idle-${index}`);
/** A process is killed at some moment of this time after the one before it. */
const momentMs = 2_500;

/** A runtime that is killed and started again. */
class KilledRuntime {
  readonly #start: (text: string) => HomeostatRuntime;
  #text: string;
  #running: HomeostatRuntime;

  constructor(text: string, start: (text: string) => HomeostatRuntime) {
    this.#text = text;
    this.#start = start;
    this.#running = start(text);
  }

  write(text: string): void {
    this.#text = text;
    this.#running.write('dial.yaml', text);
  }

  async kill(): Promise<void> {
    await this.#running.stop('SIGKILL');
    this.#running = this.#start(this.#text);
  }

  async stop(): Promise<void> {
    await this.#running.stop();
  }

  whenReady(): Promise<void> {
    return this.#running.whenReady();
  }
}

interface Step {
  readonly versions: StepDefinition['versions'];
  /** The version that the definition reads. */
  readonly reads: 'v1alpha1' | 'v1';
  /** The clients that run during the step. */
  readonly uses: readonly (typeof old)[];
}

/** From one version to the other, and back. */
const steps = {
  opened: { versions: { v1alpha1: stored, v1: served }, reads: 'v1alpha1', uses: [old] },
  moved: { versions: { v1alpha1: served, v1: stored }, reads: 'v1', uses: [old, newer] },
  closed: { versions: { v1alpha1: unserved, v1: stored }, reads: 'v1', uses: [newer] },
  removed: { versions: { v1: stored }, reads: 'v1', uses: [newer] },
  openedAgain: { versions: { v1alpha1: served, v1: stored }, reads: 'v1', uses: [newer] },
  movedBack: { versions: { v1alpha1: stored, v1: served }, reads: 'v1alpha1', uses: [old, newer] },
  closedAgain: { versions: { v1alpha1: stored, v1: unserved }, reads: 'v1alpha1', uses: [old] },
  removedAgain: { versions: { v1alpha1: stored }, reads: 'v1alpha1', uses: [old] },
} satisfies Readonly<Record<string, Step>>;

function definitionOf({ versions, reads }: Step, mark: string, name = 'kills'): string {
  const value = reads === 'v1' ? byReplicas : bySize;
  return stepDefinition({ name, versions, value, mark });
}

/** The message of the API server while a webhook process is missing. */
const outage = /conversion webhook for [^:]+ failed: Post /;

shared.describe('faults/conversion-kills', () => {
  const service = new ConverterService(shared);

  const start = (text: string) =>
    launch({
      definitions: { 'dial.yaml': text },
      flags: ['--webhook-service', service.address, '--webhook-trial', '2s'],
      runtime: 'kills',
    });

  test(otherFaults.conversionKills.name, async (context) => {
    await createRuntimeNamespace(shared);
    const [namespace, created] = [await shared.namespace(), await shared.namespace()];
    const load = loadOf(namespace, created);
    const random = new SeededRandom(seed);
    await service.start();
    const runtime = new KilledRuntime(definitionOf(steps.removedAgain, 'first'), start);
    try {
      await runtime.whenReady();
      await createIdle(namespace);
      load.start(creating(old));
      await load.more('v1alpha1');
      const names = Object.keys(steps) as (keyof typeof steps)[];
      for (const [index, name] of names.entries()) {
        const share = (of: number) => Math.floor((of * kills) / names.length);
        const count = share(index + 1) - share(index);
        await take({ name, load, runtime, namespace, random, count, context });
        assert.deepEqual(load.failures, []);
      }
      await load.stop();
      assert.deepEqual(load.failures, []);
      await assertWell(namespace, created, load);
    } finally {
      await load.stop();
      context.diagnostic(`expected failures: ${JSON.stringify(Object.fromEntries(load.expected))}`);
      // The next test waits for its Lease.
      await runtime.stop();
      await service.stop();
    }
  });

  test(otherFaults.conversionOutage.name, async (context) => {
    await createRuntimeNamespace(shared);
    const [namespace, created] = [await shared.namespace(), await shared.namespace()];
    const load = loadOf(namespace, created, 'outage');
    const client = shared.client();
    const list = dials('v1', namespace, 'outage');
    const text = definitionOf(steps.moved, 'only', 'outage');
    try {
      await service.start();
      await start(text).whenReady();
      load.start(creating(old));
      await load.more('v1alpha1');
      load.start(creating(newer));
      await load.more('v1alpha1', 'v1');
      await service.kill(2);
      await load.moreExpected('v1alpha1');
      // The stored version is read as before.
      for (const { spec } of await client.list<Dial>(list)) newer.check({ ...spec });
      await Promise.all([service.replace(), service.replace()]);
      await load.more('v1alpha1', 'v1');
      await load.stop();
      for (const name of clients) {
        const [here, there] = await bothOf(namespace, name, 'outage');
        assert.deepEqual(here.spec, old.spec(load.appliedRound(old, name) ?? 0));
        newer.check({ ...there.spec }, load.appliedRound(newer, name));
      }
    } finally {
      await load.stop();
      context.diagnostic(`expected failures: ${JSON.stringify(Object.fromEntries(load.expected))}`);
      await service.stop();
    }
    assert.deepEqual(load.failures, []);
  });

  interface Taking {
    readonly name: keyof typeof steps;
    readonly load: StepLoad;
    readonly runtime: KilledRuntime;
    readonly namespace: string;
    readonly random: SeededRandom;
    readonly count: number;
    readonly context: TestContext;
  }

  /** Takes a step while processes are killed, until it has ended. */
  async function take({ name, load, runtime, namespace, ...kill }: Taking): Promise<void> {
    const step: Step = steps[name];
    const client = shared.client();
    for (const use of [old, newer]) if (!step.uses.includes(use)) await load.stop(use.version);
    runtime.write(definitionOf(step, name));
    const killed = await killSome(runtime, kill);
    kill.context.diagnostic(`${name}: killed ${killed.join(', ')}`);
    const maps = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=homeostat.dev/child=shown`;
    await client.untilList(
      maps,
      (items) =>
        items.length === clients.length + idle.length &&
        items.every(({ data }) => (data as { readonly mark?: string }).mark === name),
    );
    const storage = step.reads;
    await client.untilObject(crdPath, (crd) => storedVersions(crd)?.join() === storage);
    if (Object.keys(step.versions).length === 1) {
      await client.untilObject(crdPath, (crd) => crdSpecOf(crd)?.conversion?.strategy === 'None');
      await client.untilList(dials(storage, namespace), (items) =>
        items.every((each) => isOwnedIn(each, storage)),
      );
    }
    await client.untilObject(definitionPath, (found) => conditionOf(found)?.status === 'True');
    if (name === 'openedAgain') await writeNotes(namespace);
    const uses = [old, newer].filter(({ version }) => {
      const flags = step.versions[version as keyof typeof step.versions];
      return flags === stored || flags === served;
    });
    for (const use of uses) if (!load.isRunning(use)) load.start(creating(use));
    await load.more(...uses.map(({ version }) => version));
    if (uses.length === 2)
      for (const each of [...clients, 'idle-7']) await assertEqual(namespace, each);
  }

  /** Values that only a removed version has are removed with it. When it is opened again, its clients write them anew. */
  async function writeNotes(namespace: string): Promise<void> {
    const client = shared.client();
    for (const { metadata, spec } of await client.list<Dial>(dials('v1alpha1', namespace))) {
      const { size, note } = spec as { readonly size: number; readonly note?: string };
      assert.equal(note, undefined);
      const named = { ...dial, metadata: { name: metadata.name, namespace } };
      const manifest = { ...named, spec: old.spec(size) } as KubeObject;
      await client.apply(manifest, { fieldManager: old.manager, force: true });
    }
  }

  /** Kills processes at random moments. Each is started again. Returns what was killed. */
  async function killSome(
    runtime: KilledRuntime,
    { random, count }: Pick<Taking, 'random' | 'count'>,
  ): Promise<readonly string[]> {
    const killed: string[] = [];
    const replacements: Promise<void>[] = [];
    for (let kill = 0; kill < count; kill++) {
      await shared.client().sleep(random.below(momentMs));
      const isConverter = random.chance(0.6) && service.running > 0;
      killed.push(isConverter ? 'a converter' : 'the runtime');
      if (!isConverter) await runtime.kill();
      else {
        await service.kill();
        replacements.push(service.replace());
      }
    }
    await Promise.all(replacements);
    return killed;
  }

  function loadOf(namespace: string, created: string, name = 'kills'): StepLoad {
    return new StepLoad({
      ...{ client: shared.client(), kind: 'Dial', namespace, names: clients, created },
      objects: (version) => dials(version, namespace, name),
      isExpected: (message, sinceMs) => outage.test(message) && service.wasIncomplete(sinceMs),
    });
  }

  async function createIdle(namespace: string): Promise<void> {
    for (const [index, name] of idle.entries())
      await shared.client().create(dials('v1alpha1', namespace), {
        ...{ ...dial, metadata: { name, namespace } },
        spec: old.spec(index),
      });
  }

  /** An object is the same in both versions. */
  async function assertEqual(namespace: string, name: string): Promise<void> {
    const [here, there] = await bothOf(namespace, name);
    const { size, mode } = here.spec as { readonly size: number; readonly mode: string };
    const { comment: _, ...spec } = there.spec as { readonly comment?: string };
    const type = mode === 'fast' ? 'Parallel' : mode;
    assert.deepEqual(spec, { replicas: size, strategy: { type } });
    assert.deepEqual(here.status, there.status);
    assert.deepEqual(here.metadata.annotations?.new, there.metadata.annotations?.new);
  }

  /** One state of an object in v1alpha1 and in v1. */
  async function bothOf(
    namespace: string,
    name: string,
    definition?: string,
  ): Promise<readonly [Dial, Dial]> {
    const read = (version: string) => {
      const path = `${dials(version, namespace, definition)}/${name}`;
      return shared.client().must<Dial>({ method: 'GET', path });
    };
    for (;;) {
      const [here, there] = await Promise.all([read('v1alpha1'), read('v1')]);
      if (here.metadata.resourceVersion === there.metadata.resourceVersion) return [here, there];
    }
  }

  /** Each value that was written last is there, and nothing of the conversions is left. */
  async function assertWell(namespace: string, created: string, load: StepLoad): Promise<void> {
    const client = shared.client();
    for (const name of clients) {
      const found = await client.must<Dial>({
        ...{ method: 'GET', path: `${dials('v1alpha1', namespace)}/${name}` },
      });
      const round = load.appliedRound(old, name) ?? 0;
      assert.deepEqual(found.spec, old.spec(round));
      assertNothingPreserved(found);
      await client.untilObject(
        `/api/v1/namespaces/${namespace}/configmaps/${name}`,
        (map) => (map?.data as { readonly text?: string } | undefined)?.text === `size ${round}`,
      );
    }
    for (const [index, name] of idle.entries()) {
      const path = `${dials('v1alpha1', namespace)}/${name}`;
      const found = await client.must<Dial>({ method: 'GET', path });
      assert.deepEqual(found.spec, old.spec(index));
      assertNothingPreserved(found);
      assert.deepEqual(found.metadata.finalizers ?? [], []);
    }
    await client.untilList(dials('v1alpha1', created), (items) => items.length === 0);
    const children = `/api/v1/namespaces/${created}/configmaps?labelSelector=homeostat.dev/child=shown`;
    await client.untilList(children, (items) => items.length === 0);
    const { annotations = {} } = (await client.get(crdPath))?.metadata ?? {};
    for (const left of [conversionsAnnotation, provenConversionsAnnotation])
      assert.equal(annotations[left], undefined, left);
  }
});

function assertNothingPreserved({ metadata }: KubeObject): void {
  const names = Object.keys(metadata.annotations ?? {});
  assert.deepEqual(
    names.filter((each) => each === preservedAnnotation || each.startsWith(preservedPrefix)),
    [],
  );
}

interface Dial extends KubeObject {
  readonly spec: object;
  readonly status?: object;
}

/** The clients of a version, which also create and delete objects. */
function creating(use: typeof old): typeof old {
  const whole = (round: number) =>
    use === old
      ? use.spec(round)
      : { ...use.spec(round), replicas: round, strategy: { type: 'Parallel' } };
  return { ...use, whole };
}
