import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { ConsoleService } from '#console';
import { createSystemRandom } from '#util/random.ts';
import { clockOf, useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  textMap,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';
import { runCommand } from '../support/run-command.ts';
import { silentLogger } from '../support/silent-telemetry.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);

const counted = `\${ 'versions: ' & $count(history) }`;
const definition = thingDefinition(
  'journal',
  `  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { journal: "yes" } }, history: {} }
  children:${textMap('seen', `"${counted}"`)}
  status: { text: "${counted}" }
`,
);

shared.describe('integration/history-runtime-namespace', () => {
  const kube = useKubeCluster(shared);
  let runtimeNamespace: string;
  let namespace: string;

  before(async () => {
    const client = shared.client();
    runtimeNamespace = await shared.namespace();
    namespace = await shared.namespace();
    const runtime = launch({
      definitions: { 'journal.yaml': definition },
      flags: ['--namespace', runtimeNamespace],
    });
    await runtime.whenReady();
    const put = (a: string) =>
      client.apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'app', namespace, labels: { journal: 'yes' } },
        data: { a },
      });
    const untilCounted = (text: string) =>
      client.untilObject(
        thingPath('journal', namespace),
        (each) => statusOf(each).text === text && conditionOf(each)?.status === 'True',
      );
    await put('1');
    await client.apply(thing('journal', namespace, {}));
    await untilCounted('versions: 0');
    await put('2');
    await untilCounted('versions: 1');
  });

  const commandFlags = () => ['--kubeconfig', shared.plane.kubeconfigPath('operator')];

  test('"plan" reads versions with the keys in the namespace of --runtime-namespace', async () => {
    const file = kube.write('journal.yaml', definition);
    const found = await runCommand(
      'plan',
      file,
      '--runtime-namespace',
      runtimeNamespace,
      ...commandFlags(),
    );
    assert.match(found, /: no changes/);
    const unknown = await runCommand('plan', file, ...commandFlags());
    assert.doesNotMatch(unknown, /: no changes/);
  });

  test('"explain" of a resource and the console read them, too', async () => {
    const file = kube.write('journal.yaml', definition);
    const explained = await runCommand(
      'explain',
      file,
      'things/one',
      ...['-n', namespace, '--runtime-namespace', runtimeNamespace],
      ...commandFlags(),
    );
    assert.match(explained, /history = \[\{"read":"configs"/);
    const unknown = await runCommand(
      'explain',
      file,
      'things/one',
      '-n',
      namespace,
      ...commandFlags(),
    );
    assert.match(unknown, /history waits for history|history = \[\]/);
    const backend = new ConsoleService({
      cluster: kube.cluster,
      clock: clockOf(shared.plane),
      random: createSystemRandom(),
      logger: silentLogger(),
      runtimeNamespace,
      info: { home: 'console', version: '', cluster: '', canEdit: false },
    });
    const { signal } = new AbortController();
    const resource = {
      apiVersion: 'journal.example.com/v1',
      kind: 'Thing',
      namespace,
      name: 'one',
    };
    const value = await backend.evaluate({ resource, expression: '$count(history)' }, signal);
    assert.deepEqual(value.kind, 'value');
    assert.match(JSON.stringify(value), /"1"/);
  });
});
