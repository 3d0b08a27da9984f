import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type MetricSpec, metricCatalogue } from '#telemetry/roles.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { scrape, untilScraped, untilStatus, valueOfSamples } from '../support/scrape.ts';

const shared = useControlPlane({ controllerManager: false });
const startHomeostat = useHomeostat(shared);

const definition = thingDefinition(
  'observed',
  `  children:
    - id: settings
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { value: "\${ spec.value }" }
`,
);
/** Of leader election, member clusters, conversions and history, which this process does not use. */
const unused = /^(leader_election_|homeostat_(cluster|conversions?|history|http|placed)_)/;
const specs = Object.values<MetricSpec>(metricCatalogue).filter(({ name }) => !unused.test(name));

shared.describe('integration/observability', () => {
  let homeostat: HomeostatRuntime;
  let namespace: string;

  before(async () => {
    homeostat = await startHomeostat({ 'observed.yaml': definition });
    namespace = await shared.namespace();
  });

  /** Applies a Thing and waits until it has been reported on. */
  async function applyThing(name: string, spec: unknown, ready: 'True' | 'False'): Promise<void> {
    const client = shared.client();
    await client.apply(thing('observed', namespace, spec, name));
    await client.untilObject(
      thingPath('observed', namespace, name),
      (object) => conditionOf(object)?.status === ready,
    );
  }

  test('every metric of the catalogue is exposed, and none besides', async () => {
    await applyThing('good', { value: 'a' }, 'True');
    await applyThing('bad', { value: { not: 'a text' } }, 'False');
    const families = await scrape(homeostat);
    const found = families.map(({ name }) => name);
    const ours = found.filter((name) => !/^(process|nodejs)_/.test(name));
    assert.deepEqual(ours.sort(), specs.map(({ name }) => name).sort());
    await untilScraped(homeostat, (now) => {
      const of = (name: string, labels: Record<string, string>) =>
        valueOfSamples(now, name, { definition: 'observed', ...labels });
      assert.equal(of('homeostat_resources', { ready: 'True' }), 1);
      assert.equal(of('homeostat_resources', { ready: 'False' }), 1);
      assert.equal(of('homeostat_applies_total', { result: 'created' }), 1);
      assert.ok(of('homeostat_expression_errors_total', {}) > 0);
      assert.ok(of('homeostat_status_writes_total', { result: 'written' }) >= 2);
      assert.equal(of('homeostat_definition_state', { state: 'running' }), 1);
      assert.equal(valueOfSamples(now, 'homeostat_api_server_reachable'), 1);
    });
  });

  test('no series names a resource, and all that can be known are there', async () => {
    // Some of them are set a while after the definition runs.
    const families = await untilScraped(homeostat, (now) => {
      for (const { name } of specs) {
        const { samples = [] } = now.find((family) => family.name === name) ?? {};
        assert.ok(samples.length > 0, `${name} has no series`);
      }
    });
    for (const { name, values = {} } of specs) {
      const { samples = [] } = families.find((family) => family.name === name) ?? {};
      for (const sample of samples) {
        for (const [label, value] of Object.entries(sample.labels)) {
          assert.ok(!['good', 'bad', namespace].includes(value), `${name} ${label}="${value}"`);
          const known = values[label];
          if (known !== undefined) assert.ok(known.includes(value), `${name} ${label}="${value}"`);
        }
      }
    }
  });

  test('an API server that stays away makes it unready, not unhealthy, and is reported once; when it is back all is well', async () => {
    await untilStatus(homeostat, '/readyz', 200);
    const before = homeostat.entries.length;
    await shared.plane.stopApiServer(0);
    const text = await untilStatus(homeostat, '/readyz', 503);
    assert.match(text, /^\[-\]api-server failed: no response for \d+ s$/m);
    assert.match(text, /^\[\+\]definitions ok$/m);
    assert.match(text, /^ {2}\[!\]No definition runs until the API server responds$/m);
    await untilStatus(homeostat, '/healthz', 200);
    await untilStatus(homeostat, '/readyz?exclude=api-server', 200);
    await untilScraped(homeostat, (now) =>
      assert.equal(valueOfSamples(now, 'homeostat_api_server_reachable'), 0),
    );
    const reported = homeostat.entries
      .slice(before)
      .filter(({ level }) => level !== 'info' && level !== 'debug')
      .map(({ msg, kind, fieldSelector, labelSelector, key }) =>
        JSON.stringify([msg, kind, fieldSelector, labelSelector, key]),
      );
    assert.equal(new Set(reported).size, reported.length, reported.join('\n'));
    await shared.plane.startApiServer();
    await untilStatus(homeostat, '/readyz', 200);
    await homeostat.whenLogged('The API server responds again');
    const back = homeostat.entries.filter(({ msg }) => msg === 'The API server responds again');
    assert.equal(back.length, 1);
    assert.ok(Number(back[0]?.lostForMs) >= 15_000);
    await applyThing('after', { value: 'b' }, 'True');
  });
});
