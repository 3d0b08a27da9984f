import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { ruled, smallRule } from '../support/admission.ts';
import { findFreePorts } from '../support/control-plane/free-ports.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { served, stepDefinition, stored } from '../support/conversion/step-kind.ts';
import { definitionPath, useDefinitionObjects } from '../support/definition-objects.ts';
import {
  conditionOf,
  statusOf,
  textMap,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { createRuntimeNamespace, useRuntimes } from '../support/homeostat.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import { isReady } from '../support/installing.ts';
import { LoadedSources } from '../support/loaded-sources.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);
/** What only definitions with conversions need, and only a process that serves them. */
const rareSources = {
  certificates: /^src\/engine\/conversion-webhook\/certificates\//,
  server: /^src\/engine\/conversion-webhook\/server\//,
  converter: /^src\/engine\/conversion\/(?:converter|direction|restore)\.ts$/,
  proof: /^src\/engine\/conversion\/proof\//,
  issuer: /^node_modules\/(?:@peculiar\/x509|reflect-metadata)\//,
};

shared.describe('integration/unused-features', () => {
  const { apply, untilReady } = useDefinitionObjects(shared, launch);
  /** All requests of the runtime with a part of a path, also watches and discovery. */
  const requestsWith = (part: string) =>
    shared.audit
      .entries({ everything: true })
      .filter(({ uri }) => uri.includes(part))
      .map(({ verb, uri }) => `${verb} ${uri}`);
  const ofPolicies = () => requestsWith('admissionregistration.k8s.io');
  const watches = () =>
    [
      ...new Set(
        shared.audit
          .entries({ everything: true })
          .filter(({ verb }) => verb === 'watch')
          .map(({ uri }) => {
            const { pathname, searchParams } = new URL(uri, 'https://server');
            const selector = searchParams.get('labelSelector');
            return selector === null ? pathname : `${pathname} ${selector}`;
          }),
      ),
    ].sort();

  test('a definition without "install", "admission" and "conversions" causes no request for them, and its status and CRD have none', async () => {
    const namespace = await shared.namespace();
    const spec = `  children:${textMap('text')}\n`;
    await apply(ruled('plain', '', { spec }));
    await untilReady('plain');
    await shared.client().apply(thing('plain', namespace, { text: 'a' }));
    await shared
      .client()
      .untilObject(
        thingPath('plain', namespace),
        (each) => conditionOf(each)?.reason === 'AllReady',
      );
    await shared.audit.quiet(1_000, { ofDefinitions: true });
    assert.deepEqual(ofPolicies(), []);
    assert.deepEqual(requestsWith('/secrets'), []);
    assert.deepEqual(watches(), [
      '/api/v1/configmaps homeostat.dev/owner-uid',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      '/apis/homeostat.dev/v1alpha1/operatordefinitions',
      '/apis/plain.example.com/v1/things',
    ]);
    const plain = statusOf(await untilReady('plain'));
    assert.equal('install' in plain || 'admission' in plain, false);
    // The same as before there were these three: an upgrade of Homeostat does not roll it out anew.
    assert.equal(plain.revision, '7cc0ae6072');
    const crd = await shared
      .client()
      .get<KubeObject & { readonly spec?: { readonly conversion?: object } }>(
        '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.plain.example.com',
      );
    assert.deepEqual(
      Object.keys(crd?.metadata.annotations ?? {}).filter((key) => key.includes('conversion')),
      [],
    );
    assert.deepEqual(crd?.spec?.conversion, { strategy: 'None' });
    // The same check finds the requests of a definition that has rules.
    await apply(ruled('plain', smallRule, { spec }));
    for (const verb of ['watch ', 'patch '])
      await shared.audit.untilSeen(() => ofPolicies().some((each) => each.startsWith(verb)));
  });

  test('a process of the bundle loads the conversion webhook, certificates and the proof only where they are used', async (context) => {
    if (process.env.HOMEOSTAT_TEST_EXECUTABLE === undefined) {
      context.skip('Without the bundle there are no chunks');
      return;
    }
    await createRuntimeNamespace(shared);
    const plain = thingDefinition('light', `  children:${textMap('text')}\n`);
    assert.deepEqual(await rareOf('light', plain), []);
    const [port] = await findFreePorts(1);
    const versions = { v1alpha1: stored, v1: served };
    const converted = stepDefinition({ name: 'heavy', versions, value: "'x'" });
    const flags = ['--webhook-url', `https://127.0.0.1:${port}`, '--webhook-trial', '1s'];
    const found = await rareOf('heavy', converted, flags);
    for (const [what, pattern] of Object.entries(rareSources)) {
      const isFound = found.some((source) => pattern.test(source));
      // The proof is part of "homeostat test" and of editors.
      assert.equal(isFound, what !== 'proof', what);
    }
  });

  /** What a process loads of {@link rareSources} until its definition is ready. */
  async function rareOf(
    name: string,
    text: string,
    flags: readonly string[] = [],
  ): Promise<readonly string[]> {
    const loaded = new LoadedSources();
    const homeostat = new HomeostatProcess({
      kubeconfig: shared.plane.kubeconfigPath('operator'),
      definitions: { 'definition.yaml': text },
      flags,
      env: loaded.environment,
      runtime: name,
    });
    try {
      await homeostat.whenReady();
      await shared.client().untilObject(definitionPath(name), isReady);
      return loaded
        .list()
        .filter((source) => Object.values(rareSources).some((each) => each.test(source)));
    } finally {
      await homeostat.stop();
      loaded.remove();
    }
  }
});
