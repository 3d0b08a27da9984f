import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import { scrape } from '../support/scrape.ts';

const shared = useControlPlane({ audit: true });
const start = useHomeostat(shared);
const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusters.homeostat.dev';

shared.describe('integration/without-members', () => {
  test('a runtime whose definitions use no members sends no request about them, and has no metric of them', async () => {
    const text = thingDefinition(
      'alone',
      '  children: [{ id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a }, data: { x: "1" } } }]\n',
    );
    const namespace = await shared.namespace();
    const mark = shared.audit.mark();
    const homeostat = await start({ 'alone.yaml': text });
    await shared.client().apply(thing('alone', namespace, {}));
    await shared
      .client()
      .untilObject(thingPath('alone', namespace), (object) =>
        JSON.stringify(object?.status ?? {}).includes('AllReady'),
      );
    await shared.audit.quiet(2_000);
    const resources = shared.audit
      .entries({ since: mark, ofDefinitions: true })
      .map(({ resource, name }) => `${resource} ${name}`);
    const ofMembers = /^(?:clusters|secrets|leases|namespaces)\b|clusters\.homeostat/;
    assert.deepEqual(
      resources.filter((each) => ofMembers.test(each)),
      [],
    );
    assert.ok(resources.length > 0);
    assert.equal(await shared.client().get(crd), undefined);
    const names = (await scrape(homeostat)).map(({ name }) => name);
    assert.deepEqual(
      names.filter((name) => name.startsWith('homeostat_cluster_')),
      [],
    );
  });
});
