import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  byReplicas,
  bySize,
  type StepDefinition,
  served,
  stepDefinition,
  stored,
  storedIn,
  unserved,
} from '../support/conversion/step-kind.ts';
import { conditionOf, statusOf } from '../support/definitions.ts';
import { createRuntimeNamespace, useRuntimes, webhookFlags } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);

const name = 'shown';
const definitionPath = `/apis/homeostat.dev/v1alpha1/operatordefinitions/${name}`;
const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dials.${name}.example.com`;
const definition = (versions: StepDefinition['versions'], value: string) =>
  stepDefinition({ name, versions, value });

/** Each version with what is true of it. */
const versionsOf = (object: KubeObject | undefined) => {
  const { versions } = statusOf(object) as {
    readonly versions?: readonly Readonly<Record<string, unknown>>[];
  };
  const flags = ['served', 'storage', 'stored', 'proven'];
  return versions?.map((version) =>
    [version.name, ...flags.filter((flag) => version[flag] === true)].join(' '),
  );
};

shared.describe('integration/conversion-status', () => {
  test('the status of a definition shows each step of a change of versions, and Events report their ends', async () => {
    await createRuntimeNamespace(shared);
    const client = shared.client();
    const namespace = await shared.namespace();
    const runtime = launch({
      definitions: { 'dial.yaml': definition({ v1alpha1: stored }, bySize) },
      flags: await webhookFlags('--webhook-trial', '3s'),
    });
    await runtime.whenReady();
    const untilVersions = (expected: readonly string[] | undefined, isReady = true) =>
      client.untilObject(
        definitionPath,
        (object) =>
          JSON.stringify(versionsOf(object)) === JSON.stringify(expected) &&
          (!isReady || conditionOf(object)?.status === 'True'),
      );
    const untilEvent = (reason: string, note: RegExp) =>
      client.untilList('/apis/events.k8s.io/v1/namespaces/default/events', (events) =>
        events.some(
          (event) =>
            event.reason === reason &&
            note.test(String(event.note)) &&
            (event.regarding as { readonly name?: string }).name === name,
        ),
      );
    await untilVersions(undefined);
    const dial = `/apis/${name}.example.com/v1alpha1/namespaces/${namespace}/dials`;
    await client.create(dial, {
      apiVersion: `${name}.example.com/v1alpha1`,
      kind: 'Dial',
      metadata: { name: 'a' },
      spec: { size: 3 },
    });

    runtime.write('dial.yaml', definition({ v1alpha1: stored, v1: served }, bySize));
    const trying = await client.untilObject(
      definitionPath,
      (object) =>
        conditionOf(object)?.reason === 'ChangingVersions' &&
        versionsOf(object)?.includes('v1 served') === true,
    );
    assert.match(
      conditionOf(trying)?.message ?? '',
      /^(Waiting for the certificates|Trying the conversions) .*\(revision [0-9a-f]{10}\)$/,
    );
    assert.equal(conditionOf(trying, 'Reconciling')?.status, 'True');
    await untilVersions(['v1alpha1 served storage stored proven', 'v1 served proven']);
    await untilEvent('VersionServed', /^Version "v1" is served/);

    runtime.write('dial.yaml', definition({ v1alpha1: served, v1: stored }, byReplicas));
    await client.untilObject(crdPath, (crd) => storedIn(crd) === 'v1');
    await untilVersions(['v1alpha1 served proven', 'v1 served storage stored proven']);
    await untilEvent('StorageVersionChanged', /^Resources are stored in version "v1" now$/);
    await untilEvent('ResourcesMigrated', /^All resources are stored in version "v1"$/);
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    await shared.audit.quiet(2_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);

    runtime.write('dial.yaml', definition({ v1alpha1: unserved, v1: stored }, byReplicas));
    await untilEvent('VersionNotServed', /^Version "v1alpha1" is not served any more$/);
    runtime.write('dial.yaml', definition({ v1: stored }, byReplicas));
    await untilVersions(undefined);
    await untilEvent('ConversionsRemoved', /"shown\.example\.com\/v1"$/);
  });
});
