import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { ConverterService } from '../support/conversion/converter-service.ts';
import {
  byReplicas,
  bySize,
  crdSpecOf,
  isOwnedIn,
  isServed,
  newer,
  old,
  type StepDefinition,
  served,
  stepDefinition,
  stored,
  storedIn,
  storedVersions,
  unserved,
} from '../support/conversion/step-kind.ts';
import { StepLoad } from '../support/conversion/step-load.ts';
import { conditionOf } from '../support/definitions.ts';
import { createRuntimeNamespace, useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);

const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dials.load.example.com';
const definitionPath = '/apis/homeostat.dev/v1alpha1/operatordefinitions/load';

const definition = (versions: StepDefinition['versions'], value: string) =>
  stepDefinition({ name: 'load', versions, value });
const steps = {
  one: definition({ v1alpha1: stored }, bySize),
  both: definition({ v1alpha1: stored, v1: served }, bySize),
  turned: definition({ v1alpha1: served, v1: stored }, byReplicas),
  deprecated: definition({ v1alpha1: `${served}, deprecated: true`, v1: stored }, byReplicas),
  closed: definition({ v1alpha1: unserved, v1: stored }, byReplicas),
  last: definition({ v1: stored }, byReplicas),
};

const isClean = (object: KubeObject) => isOwnedIn(object, 'v1');

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
    await untilCrd((crd) => crdSpecOf(crd)?.conversion?.strategy === 'None');
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
