import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AuditEntry, useControlPlane } from '../support/control-plane/index.ts';
import { statusOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import type { Sample } from '../support/exposition.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { scrape, valueOfSamples } from '../support/scrape.ts';

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
    const families = await scrape(homeostat);
    // Those of a sort of garbage collection are there once it has happened.
    const counted = families.filter(({ name }) => !/^nodejs_(?:gc|active)_/.test(name));
    const metrics = new Set(counted.flatMap(({ samples }) => samples.map(seriesOf)));
    const residentBytes = valueOfSamples(families, 'process_resident_memory_bytes');
    await homeostat.stop();
    const requests = shared.audit
      .entries({ since: mark, everything: true })
      .map((entry) => lineOf(entry, namespace));
    const definition = await client.get(`${definitions}/alone`);
    return { requests, metrics, residentBytes, revision: statusOf(definition).revision };
  }

  test('a runtime whose definitions use no members sends the same requests with and without the kind Cluster, but for its Clusters', async () => {
    const definition = { 'alone.yaml': text('alone') };
    await run(definition);
    const without = await run(definition);
    const isOfMembers = (line: string) => /cluster|kube-system/i.test(line);
    assert.deepEqual(without.requests.filter(isOfMembers), []);
    assert.ok(without.requests.length > 10);
    assert.equal(await shared.client().get(crd), undefined);
    assert.deepEqual([...without.metrics].filter(isOfMembers), []);

    // A definition that needs the kind installs it, and stays deleted.
    const other = launch({
      definitions: { 'far.yaml': text('far', '  controller: { clusters: { selector: all } }\n') },
      runtime: 'other',
    });
    await shared.client().untilObject(crd, (object) => object !== undefined);
    await other.stop();
    await shared.client().delete(`${definitions}/far`);
    // No runtime is left that removes its finalizers.
    await shared.client().patch(`${definitions}/far`, { metadata: { finalizers: null } });
    await shared.client().untilGone(`${definitions}/far`);

    const withKind = await run(definition);
    assert.deepEqual(withKind.requests.filter(isOfMembers).sort(), [
      'get /api/v1/namespaces/kube-system',
      'get /apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusters.homeostat.dev',
      'list /apis/homeostat.dev/v1alpha1/clusters?limit=500',
      'watch /apis/homeostat.dev/v1alpha1/clusters?watch=1&allowWatchBookmarks=true',
    ]);
    const others = withKind.requests.filter((line) => !isOfMembers(line));
    assert.deepEqual(tally(others), tally(without.requests));
    assert.deepEqual(missingIn(withKind.metrics, without.metrics), []);
    const more = missingIn(without.metrics, withKind.metrics);
    assert.deepEqual(
      more.filter((series) => !isOfMembers(series)),
      [],
    );
    assert.equal(withKind.revision, without.revision);
    // Of processes of their own it says something, and only that nothing is far off: `npm run bench -- members` measures. On the sandbox
    // both runs are in this process.
    assert.ok(withKind.residentBytes < 1.5 * without.residentBytes);
  });
});

/** A request without what differs in each run: the namespace, versions, and the random time of a watch. */
function lineOf({ verb, uri }: AuditEntry, namespace: string): string {
  const { pathname, searchParams } = new URL(uri, 'http://server');
  for (const name of ['resourceVersion', 'timeoutSeconds']) searchParams.delete(name);
  const path = pathname.replaceAll(namespace, '<namespace>');
  return `${verb} ${path}${searchParams.size === 0 ? '' : `?${searchParams}`}`;
}

/** A series without its value. The address of the server differs in each run. */
function seriesOf({ name, labels }: Sample): string {
  const { host: _, ...others } = labels;
  return `${name}${JSON.stringify(others)}`;
}

/** What only the others have. */
function missingIn(some: ReadonlySet<string>, others: ReadonlySet<string>): readonly string[] {
  return [...others].filter((each) => !some.has(each));
}

/**
 * How often each write was sent, and which reads. How often the status of the definition counts its resources depends on the time between
 * the steps; what is read again depends on when a server ends watches, and whether two kinds are needed at the same time.
 */
function tally(lines: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const line of lines) {
    const dependsOnTime =
      line.includes('/operatordefinitions/alone/status') || /^(?:get|list|watch) /.test(line);
    counts[line] = dependsOnTime ? 1 : (counts[line] ?? 0) + 1;
  }
  return counts;
}
