import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { ConverterService } from '../support/conversion/converter-service.ts';
import { StepLoad, type VersionUse } from '../support/conversion/step-load.ts';
import { conditionOf } from '../support/definitions.ts';
import { createRuntimeNamespace, useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);

const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dials.load.example.com';
const definitionPath = '/apis/homeostat.dev/v1alpha1/operatordefinitions/load';

const text = '{ type: string }';
const integer = '{ type: integer }';
const specs = {
  v1alpha1: `size: ${integer}, mode: ${text}, note: ${text}`,
  v1: `replicas: ${integer}, strategy: { type: object, properties: { type: ${text} } }, comment: ${text}`,
};
type Versions = Readonly<Partial<Record<keyof typeof specs, string>>>;

const rules = `
  conversions:
    hub: v1
    versions:
      - version: v1alpha1
        fields:
          - { here: spec.size, there: spec.replicas }
          - { here: spec.mode, there: spec.strategy.type, values: { fast: Parallel, slow: Ordered } }`;

/** @param versions with their flags */
function definition(versions: Versions, value: string): string {
  const items = Object.entries(versions).map(
    ([name, flags]) => `
      - { name: ${name}, ${flags}, schema: { openAPIV3Schema: { type: object, properties: {
          spec: { type: object, properties: { ${specs[name as keyof typeof specs]} } },
          status: { type: object, properties: { text: ${text}, old: ${integer}, new: ${integer} } } } } } }`,
  );
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: load }
spec:
  crd:
    group: load.example.com
    names: { kind: Dial, plural: dials }
    scope: Namespaced
    versions:${items.join('')}${items.length > 1 ? rules : ''}
  children:
    - id: shown
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: "\${ ${value} }" }
  status: { text: "\${ ${value} }" }
`;
}

const stored = 'served: true, storage: true';
const served = 'served: true, storage: false';
const bySize = "'size ' & $string(spec.size)";
const byReplicas = "'replicas ' & $string(spec.replicas)";
const steps = {
  one: definition({ v1alpha1: stored }, bySize),
  both: definition({ v1alpha1: stored, v1: served }, bySize),
  turned: definition({ v1alpha1: served, v1: stored }, byReplicas),
  deprecated: definition({ v1alpha1: `${served}, deprecated: true`, v1: stored }, byReplicas),
  closed: definition({ v1alpha1: 'served: false, storage: false', v1: stored }, byReplicas),
  last: definition({ v1: stored }, byReplicas),
};

const old: VersionUse = {
  version: 'v1alpha1',
  manager: 'old',
  spec: (round) => ({ size: round, mode: 'fast', note: `note ${round}` }),
  check: ({ size, mode, note }, round = size as number) =>
    assert.deepEqual(
      { size, mode, note },
      { size: round, mode: 'fast', note: `note ${size}` },
      'A field of v1alpha1 is lost',
    ),
};
const newer: VersionUse = {
  version: 'v1',
  manager: 'new',
  spec: (round) => ({ comment: `comment ${round}` }),
  check: ({ replicas, strategy, comment }, round) => {
    assert.equal(typeof replicas, 'number', 'replicas is lost');
    assert.deepEqual(strategy, { type: 'Parallel' });
    if (round !== undefined) assert.equal(comment, `comment ${round}`);
  },
};

interface Version {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
}
interface CrdSpec {
  readonly conversion?: { readonly strategy: string };
  readonly versions: readonly Version[];
}
const specOf = (crd: KubeObject | undefined) => crd?.spec as CrdSpec | undefined;
const isServed = (crd: KubeObject | undefined, of: string) =>
  specOf(crd)?.versions.some(({ name, served }) => name === of && served) === true;
const storedIn = (crd: KubeObject | undefined) =>
  specOf(crd)?.versions.find(({ storage }) => storage)?.name;
const storedVersions = (crd: KubeObject | undefined) =>
  (crd?.status as { readonly storedVersions?: readonly string[] } | undefined)?.storedVersions;

/** Whether no client owns fields in another version. */
function isClean({ metadata }: KubeObject): boolean {
  const { managedFields = [] } = metadata as {
    readonly managedFields?: readonly { readonly apiVersion: string }[];
  };
  return managedFields.every(({ apiVersion }) => apiVersion.endsWith('/v1'));
}

const objects = (namespace: string, version: string) =>
  `/apis/load.example.com/${version}/namespaces/${namespace}/dials`;

shared.describe('integration/conversion-steps', () => {
  const service = new ConverterService(shared);

  const start = (text: string) =>
    launch({
      definitions: { 'dial.yaml': text },
      flags: ['--webhook-service', service.address, '--webhook-trial', '3s'],
      runtime: 'load',
    });

  const untilCrd = (isSo: (crd: KubeObject | undefined) => boolean) =>
    shared.client().untilObject(crdPath, isSo);

  /** From the first version to both. Returns the runtime. */
  async function addVersion(load: StepLoad, dials: string): Promise<HomeostatRuntime> {
    const first = start(steps.one);
    await first.whenReady();
    load.start(old);
    await load.more('v1alpha1');
    first.write('dial.yaml', steps.both);
    await untilCrd((crd) => isServed(crd, 'v1'));
    // While it tries the conversions.
    await first.stop('SIGKILL');
    const next = start(steps.both);
    await next.whenReady();
    await shared.client().untilObject(`${dials}/a`, (found) => found !== undefined);
    load.start(newer);
    await load.more('v1', 'v1alpha1');
    await service.restartOne();
    await load.more('v1', 'v1alpha1');
    return next;
  }

  /** The new version becomes the stored one. Returns the runtime. */
  async function store(load: StepLoad, runtime: HomeostatRuntime): Promise<HomeostatRuntime> {
    runtime.write('dial.yaml', steps.turned);
    await untilCrd((crd) => storedIn(crd) === 'v1');
    // While resources are migrated.
    await runtime.stop('SIGKILL');
    const next = start(steps.turned);
    await service.restartOne();
    await next.whenReady();
    await untilCrd((crd) => storedVersions(crd)?.join() === 'v1');
    await load.more('v1', 'v1alpha1');
    return next;
  }

  /** Clients leave the first version, which is then removed. */
  async function removeVersion(load: StepLoad, runtime: HomeostatRuntime, dials: string) {
    runtime.write('dial.yaml', steps.deprecated);
    await untilCrd((crd) => JSON.stringify(crd?.spec).includes('"deprecated":true'));
    await load.more('v1', 'v1alpha1');
    await load.stop('v1alpha1');
    runtime.write('dial.yaml', steps.closed);
    await untilCrd((crd) => !isServed(crd, 'v1alpha1'));
    await load.more('v1');
    runtime.write('dial.yaml', steps.last);
    // While the entries of field managers are converted.
    await shared.client().untilList(dials, (items) => items.some(isClean));
    await runtime.stop('SIGKILL');
    const last = start(steps.last);
    await untilCrd((crd) => specOf(crd)?.conversion?.strategy === 'None');
    await last.whenReady();
    await load.more('v1');
    await shared
      .client()
      .untilObject(definitionPath, (found) => conditionOf(found)?.status === 'True');
  }

  test('a kind gets another version and loses the first: no request fails, and no field is lost', async () => {
    await createRuntimeNamespace(shared);
    const namespace = await shared.namespace();
    const client = shared.client();
    const dials = objects(namespace, 'v1');
    const load = new StepLoad({
      ...{ client, kind: 'Dial', namespace, names: ['a', 'b'] },
      objects: (version) => objects(namespace, version),
    });
    try {
      await service.start();
      const both = await addVersion(load, dials);
      const turned = await store(load, both);
      await removeVersion(load, turned, dials);
    } finally {
      await load.stop();
      await service.stop();
    }
    assert.deepEqual(load.failures, []);
    for (const dial of await client.list(dials)) {
      assert.ok(isClean(dial), JSON.stringify(dial.metadata));
      const { replicas } = dial.spec as { readonly replicas: number };
      const config = `/api/v1/namespaces/${namespace}/configmaps/${dial.metadata.name}`;
      await client.untilObject(config, (map) =>
        JSON.stringify(map?.data ?? {}).includes(`replicas ${replicas}`),
      );
      // The manager of the removed version still owns its fields: what it leaves out is removed.
      const { apiVersion, kind, metadata } = dial;
      const named = { apiVersion, kind, metadata: { name: metadata.name, namespace } };
      const applied = await client.apply({ ...named, spec: { replicas: 1 } } as KubeObject, {
        ...{ fieldManager: 'old', force: false },
      });
      const { strategy: _, ...rest } = dial.spec as { readonly strategy: unknown };
      assert.deepEqual(applied.spec, { ...rest, replicas: 1 });
    }
  });
});
