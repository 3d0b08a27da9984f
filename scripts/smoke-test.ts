// Tries the package and the built bundle as a user would: installed without a network, version, validate, a PodSet on a real control plane, and every way to log in.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startControlPlane } from '../test/support/control-plane/index.ts';
import { patienceMs } from '../test/support/patience.ts';
import { tryLogins } from './smoke/logins.ts';
import { tryPackage } from './smoke/package.ts';

const packageBytes = tryPackage();
console.log(
  `The package installs alone and without a network: ${(packageBytes / 1e6).toFixed(1)} MB`,
);

const bundle = 'dist/homeostat.mjs';
const bundled = (...args: string[]) =>
  spawnSync(process.execPath, [bundle, ...args], { encoding: 'utf8' });

const { stdout: version } = bundled('--version');
assert.match(version, /^\d+\.\d+\.\d+/);
const valid = bundled('validate', 'operators');
assert.equal(valid.status, 0, valid.stderr);
assert.match(valid.stdout, /definition "podset" is valid/);
assert.equal(bundled('validate', 'package.json').status, 1);
// The bundle holds the check of the format as compiled by the build.
for (const folder of ['test/fixtures/invalid', 'test/fixtures/invalid-compile']) {
  const fromSource = spawnSync('bin/homeostat', ['validate', folder], { encoding: 'utf8' });
  assert.match(fromSource.stderr, /error/);
  assert.equal(bundled('validate', folder).stderr, fromSource.stderr);
}

const plane = await startControlPlane({ controllerManager: false });
const flags = ['--definitions', 'operators/podset.yaml', '--http', 'off'];
const args = [bundle, 'run', ...flags, '--kubeconfig', plane.kubeconfigPath('operator')];
const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
const ended = once(child, 'exit');
try {
  const signal = AbortSignal.timeout(patienceMs);
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout, signal })) {
    said.push(line);
    if (JSON.parse(line).msg === 'Definition running') break;
  }
  assert.match(said.at(-1) ?? '', /Definition running/, `It never ran: ${said.join('\n')}`);
  const client = plane.client();
  await client.apply({
    apiVersion: 'apps.example.com/v1alpha1',
    kind: 'PodSet',
    metadata: { name: 'smoke', namespace: 'default' },
    spec: { size: 2 },
  });
  const deployment = '/apis/apps/v1/namespaces/default/deployments/smoke';
  await client.untilObject(deployment, (object) => object !== undefined);
  child.kill('SIGTERM');
  const [code] = await ended;
  assert.equal(code, 0);
  // Before a server of ours, with the certificate that kube-apiserver has made for 127.0.0.1.
  const pem = (name: string) => readFileSync(join(plane.folder, 'certificates', name), 'utf8');
  const [certificate, key] = [pem('apiserver.crt'), pem('apiserver.key')];
  const definitions = 'operators/podset.yaml';
  const logins = await tryLogins({ bundle, definitions, certificate, key });
  console.log(`The bundle logs in by ${logins.join('; ')}`);
} finally {
  child.kill('SIGKILL');
  await plane.stop();
}
console.log(`The bundle ${version.trim()} validates, runs, makes a Deployment and stops cleanly`);
