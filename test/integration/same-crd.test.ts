import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { untilScraped, untilStatus, valueOfSamples } from '../support/scrape.ts';

const shared = useControlPlane({ controllerManager: false });
const launch = useRuntimes(shared);

const group = 'same.example.com';
const definition = (name: string) =>
  thingDefinition(name, `  status: { by: "\${ '${name}' }" }\n`, { group });

function start(definitions: Readonly<Record<string, string>>): HomeostatRuntime {
  return launch({ definitions });
}

shared.describe('integration/same-crd', () => {
  test('of two definitions with one CRD the first gets it, and after a restart the one whose it is keeps it, whatever their order', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const both = start({ '1.yaml': definition('early'), '2.yaml': definition('later') });
    try {
      const rejected = await both.whenLogged('Definition rejected');
      assert.equal(rejected.definition, 'later');
      assert.match(String(rejected.reason), /belongs to the definition "early"/);
      assert.equal((await both.whenLogged('Definition running')).definition, 'early');
    } finally {
      await both.stop();
    }
    const turned = start({ '1.yaml': definition('later'), '2.yaml': definition('early') });
    try {
      assert.equal((await turned.whenLogged('Definition running')).definition, 'early');
      assert.equal((await turned.whenLogged('Definition rejected')).definition, 'later');
      await client.apply(thing('same', namespace, {}));
      const resource = await client.untilObject(
        thingPath('same', namespace),
        (object) => conditionOf(object)?.status === 'True',
      );
      assert.equal(statusOf(resource).by, 'early');
    } finally {
      await turned.stop();
    }
  });

  test('a file with errors beside a good one is reported in the log, in readiness and in the metrics', async () => {
    const homeostat = start({
      'good.yaml': thingDefinition('good', ''),
      'bad.yaml': thingDefinition('bad', '  controler: {}\n'),
    });
    try {
      const reported = await homeostat.whenLogged('File has errors, its definitions are rejected');
      assert.match(String(reported.diagnostics), /bad\.yaml:\d+:3: Unknown field "controler"/);
      const starting = await homeostat.whenLogged('Starting');
      assert.deepEqual([starting.definitions, starting.rejected], [1, 1]);
      await homeostat.whenLogged('Definition running');
      const text = await untilStatus(homeostat, '/readyz?verbose', 200);
      assert.match(
        text,
        /^ {2}\[!\].*bad\.yaml rejected: .*Unknown field "controler"\. Did you mean "controller"\?$/m,
      );
      await untilScraped(homeostat, (families) => {
        const state = { state: 'rejected' };
        assert.equal(valueOfSamples(families, 'homeostat_definitions', state), 1);
      });
    } finally {
      await homeostat.stop();
    }
  });
});
