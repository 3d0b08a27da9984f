import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { thingDefinition } from '../support/definitions.ts';
import { DevProcess } from '../support/dev-process.ts';
import { patienceMs } from '../support/patience.ts';

const definition = thingDefinition(
  'agent',
  `  children:
    - id: settings
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { cluster: "\${ $cluster.name }", tier: "\${ $cluster.labels.tier }" }
  controller: { clusters: { selector: all } }
`,
);
const sample = `apiVersion: agent.example.com/v1
kind: Thing
metadata: { name: one }
spec: {}
`;

let dev: DevProcess;

async function lines(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await dev.run(...args);
  assert.equal(code, 0, stderr);
  return stdout;
}

async function untilLines(pattern: RegExp, ...args: readonly string[]): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  for (let found = await lines(...args); !pattern.test(found); found = await lines(...args))
    if (performance.now() > deadlineMs) assert.fail(`${args.join(' ')}:\n${found}`);
}

describe('integration/dev-clusters', () => {
  before(async () => {
    dev = new DevProcess({
      files: { 'agent.yaml': definition, 'samples/agent.yaml': sample },
      args: ['--clusters', '2'],
    });
    await dev.untilSaid(/Cluster dev-2 > Thing one > ConfigMap one/);
  });
  after(() => dev?.stop());

  test('a definition runs in every simulated member, and the tree has a branch for each', async () => {
    await dev.untilSaid(/\+ Cluster dev-1 > Thing one > ConfigMap one/);
    const map = await lines('get', 'configmap', 'one', '--cluster', 'dev-2', '-o', 'yaml');
    assert.match(map, /cluster: dev-2\n {2}tier: prod/);
    await untilLines(/dev-1 +True +True +Running .*\ndev-2 +True/, 'get', 'clusters.homeostat.dev');
  });

  test('their addresses are those of this computer, and no warning says so', async () => {
    await untilLines(/dev-1 +True +True +Running/, 'get', 'clusters.homeostat.dev');
    const members = await lines('get', 'clusters.homeostat.dev', '-o', 'yaml');
    assert.match(members, /type: Connected/);
    assert.doesNotMatch(members, /loopback/);
    assert.doesNotMatch(dev.output, /is unusual/);
  });

  test('a stopped member is unreachable until it is started again', async () => {
    assert.match(await lines('dev', 'cluster', 'stop', 'dev-2'), /does not respond any more/);
    await untilLines(/dev-2 +False +False +NotConnected/, 'get', 'clusters.homeostat.dev');
    await untilLines(/dev-1 +True +True +Running/, 'get', 'clusters.homeostat.dev');
    await lines('dev', 'cluster', 'start', 'dev-2');
    await untilLines(/dev-2 +True +True +Running/, 'get', 'clusters.homeostat.dev');
  });

  test('an unknown member is an error with the names to use', async () => {
    const { code, stderr } = await dev.run('dev', 'cluster', 'stop', 'paris');
    assert.equal(code, 2);
    assert.match(stderr, /Expected a member cluster, found "paris"/);
    assert.match(stderr, /their names are dev-1, dev-2 and dev-3/);
  });
});
