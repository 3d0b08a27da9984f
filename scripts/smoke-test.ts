// Tries the built bundle as a user would: version, validate, and a PodSet on a real control plane.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { startControlPlane } from '../test/support/control-plane/index.ts';

const bundle = 'dist/homeostat.mjs';
const bundled = (...args: string[]) =>
  spawnSync(process.execPath, [bundle, ...args], { encoding: 'utf8' });

const { stdout: version } = bundled('--version');
assert.match(version, /^\d+\.\d+\.\d+/);
const valid = bundled('validate', 'operators');
assert.equal(valid.status, 0, valid.stderr);
assert.match(valid.stdout, /definition "podset" is valid/);
assert.equal(bundled('validate', 'package.json').status, 1);

const plane = await startControlPlane({ controllerManager: false });
try {
  const flags = ['--definitions', 'operators/podset.yaml', '--http', 'off'];
  const args = [bundle, 'run', ...flags, '--kubeconfig', plane.kubeconfigPath('operator')];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    if (JSON.parse(line).msg === 'Definition running') break;
  }
  const client = plane.client();
  await client.apply({
    apiVersion: 'apps.example.com/v1alpha1',
    kind: 'PodSet',
    metadata: { name: 'smoke', namespace: 'default' },
    spec: { size: 2 },
  });
  const deployment = '/apis/apps/v1/namespaces/default/deployments/smoke';
  await client.untilObject(deployment, (object) => object !== undefined);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = await ended;
  assert.equal(code, 0);
} finally {
  await plane.stop();
}
console.log(`The bundle ${version.trim()} validates, runs, makes a Deployment and stops cleanly`);
