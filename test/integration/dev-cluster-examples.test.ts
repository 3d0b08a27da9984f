import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DevProcess } from '../support/dev-process.ts';
import { patienceMs } from '../support/patience.ts';

const folder = fileURLToPath(new URL('../../operators/clusters', import.meta.url));
const read = (path: string) => readFileSync(`${folder}/${path}`, 'utf8');
const yamlIn = (path: string) =>
  readdirSync(`${folder}/${path}`).filter((name) => name.endsWith('.yaml'));

let dev: DevProcess;

/** Runs a command until its output matches. */
async function until(pattern: RegExp, ...args: readonly string[]): Promise<string> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const { stdout, stderr } = await dev.run(...args);
    if (pattern.test(stdout)) return stdout;
    if (performance.now() > deadlineMs) assert.fail(`${args.join(' ')}:\n${stdout}\n${stderr}`);
  }
}

/** The shipped operators for members, with three simulated members. */
describe('integration/dev-cluster-examples', () => {
  before(async () => {
    const names = [...yamlIn('.'), ...yamlIn('samples').map((name) => `samples/${name}`)];
    dev = new DevProcess({
      files: Object.fromEntries(names.map((name) => [name, read(name)])),
      args: ['--clusters', '3'],
    });
    await dev.untilSaid(/\+ Cluster dev-3 > VGPUInstance training > ConfigMap training/);
    await dev.untilSaid(/\+ Cluster dev-3 > DaemonSet node-agent/);
  });
  after(() => dev?.stop());

  test('objects of the hub and of members are there', async () => {
    await until(/^site +2\/2/m, 'get', 'deployments', '--cluster', 'dev-1');
    await until(/^site +1\/1/m, 'get', 'deployments', '--cluster', 'dev-3');
    await until(
      /cluster: dev-2/,
      'get',
      'configmap',
      'training',
      '--cluster',
      'dev-2',
      '-o',
      'yaml',
    );
    const clusters = await until(/^paris-1 +False/m, 'get', 'clusters.homeostat.dev');
    assert.match(clusters, /^default-lyon /m);
  });

  test('"plan" shows changes in the members of both kinds of definitions', async () => {
    dev.save('../changed/vgpu-instance.yaml', read('vgpu-instance.yaml').replace('"Gi"', '"G"'));
    dev.save(
      '../changed/node-agent.yaml',
      read('node-agent.yaml').replace('cluster: "${ $item }" }', 'cluster: "at ${ $item }" }'),
    );
    const { code, stdout, stderr } = await dev.run('plan', 'changed');
    assert.equal(code, 2, stderr);
    for (const name of ['dev-1', 'dev-2', 'dev-3']) {
      assert.match(
        stdout,
        new RegExp(`~ ConfigMap default/node-agent in cluster "${name}"\n +~ data.cluster: `),
      );
      assert.match(
        stdout,
        new RegExp(`VGPUInstance default/training in cluster "${name}"\n +~ ConfigMap `),
      );
    }
    assert.doesNotMatch(stdout, /not looked at/);
  });

  test('"explain" names the member of each object', async () => {
    await until(
      /agent: DaemonSet "node-agent" in cluster "dev-2": ready/,
      ...['explain', 'operators/node-agent.yaml', 'nodeagent/node-agent'],
    );
  });

  test('"plan" says which member it cannot look at', async () => {
    await dev.run('dev', 'cluster', 'stop', 'dev-2');
    const { stdout } = await dev.run('plan', 'changed');
    assert.match(stdout, /Member cluster "dev-2" is not looked at: The API server is unreachable/);
    assert.match(stdout, /ConfigMap default\/training in cluster "dev-3"/);
    await until(/^site +3\/3/m, 'get', 'deployments', '--cluster', 'dev-1');
  });
});
