import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tallyOf, useControlPlane } from '../support/control-plane/index.ts';
import { statusOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { scrape } from '../support/scrape.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);
const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusters.homeostat.dev';
const definitions = '/apis/homeostat.dev/v1alpha1/operatordefinitions';

const text = (name: string, more = '') =>
  thingDefinition(
    name,
    `  children: [{ id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a }, data: { x: "\${ spec.x }" } } }]
${more}`,
  );

shared.describe('integration/without-members', () => {
  /** What a runtime sends from its start: a resource is created, changed and deleted. Its definition is there already. */
  async function run(definitionTexts: Readonly<Record<string, string>>) {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('alone', namespace);
    const untilDone = (x: string) =>
      client.untilObject(
        path,
        (object) =>
          JSON.stringify(statusOf(object)).includes('AllReady') &&
          statusOf(object).observedGeneration === object?.metadata.generation &&
          JSON.stringify(object?.spec) === JSON.stringify({ x }),
      );
    const mark = shared.audit.mark();
    const homeostat = launch({ definitions: definitionTexts, runtime: 'alone' });
    await homeostat.whenReady(Object.keys(definitionTexts).length);
    await shared.audit.quiet(3_000, { ofDefinitions: true });
    await client.apply(thing('alone', namespace, { x: '1' }));
    await untilDone('1');
    await client.apply(thing('alone', namespace, { x: '2' }));
    await untilDone('2');
    await client.delete(path);
    await client.untilGone(path);
    await shared.audit.quiet(3_000, { ofDefinitions: true });
    const metrics = (await scrape(homeostat)).map(({ name }) => name).sort();
    await homeostat.stop();
    const requests = shared.audit
      .entries({ since: mark, ofDefinitions: true })
      // How often it counts its resources in the status of the definition depends on the time between the steps.
      .filter(({ resource }) => resource !== 'operatordefinitions/status');
    const definition = await client.get(`${definitions}/alone`);
    return { requests, metrics, revision: statusOf(definition).revision };
  }

  test('a runtime whose definitions use no members sends the same requests with and without the kind Cluster, but for its Clusters', async () => {
    const definition = { 'alone.yaml': text('alone') };
    await run(definition);
    const without = await run(definition);
    const ofMembers = /^(?:clusters|secrets|leases|namespaces)\b|clusters\.homeostat/;
    const namesOf = ({ requests }: typeof without) =>
      requests.map(({ resource, name }) => `${resource} ${name}`);
    assert.deepEqual(
      namesOf(without).filter((each) => ofMembers.test(each)),
      [],
    );
    assert.ok(without.requests.length > 0);
    assert.equal(await shared.client().get(crd), undefined);
    const isOfMembers = (name: string) => name.startsWith('homeostat_cluster_');
    assert.deepEqual(without.metrics.filter(isOfMembers), []);

    // A definition that needs the kind installs it, and stays deleted.
    const other = launch({
      definitions: { 'far.yaml': text('far', '  controller: { clusters: { selector: all } }\n') },
      runtime: 'other',
    });
    await shared.client().untilObject(crd, (object) => object !== undefined);
    await other.stop();
    await shared.client().delete(`${definitions}/far`);

    const withKind = await run(definition);
    const isOfKind = ({ resource, name }: (typeof withKind.requests)[number]) =>
      resource === 'clusters' ||
      name === 'clusters.homeostat.dev' ||
      (resource === 'namespaces' && name === 'kube-system');
    const more = withKind.requests.filter(isOfKind);
    assert.deepEqual(tallyOf(more), {
      'get customresourcedefinitions': 1,
      'get namespaces': 1,
      'list clusters': 1,
      'watch clusters': 1,
    });
    const same = withKind.requests.filter((request) => !isOfKind(request));
    assert.deepEqual(tallyOf(same), tallyOf(without.requests));
    assert.deepEqual(
      withKind.metrics.filter((name) => !isOfMembers(name)),
      without.metrics,
    );
    assert.equal(withKind.revision, without.revision);
  });
});
