// Uses the installed package as a library: from TypeScript by its declarations, and from Go by the sandbox that its command serves.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run, runWith } from './run-command.ts';

/** A program that uses every function of the library. */
const consumer = (operators: string) => `import {
  compile, createSandbox, loadDefinitions, render, runTests, type Sandbox, type TestRun,
} from 'homeostat';

const definitions = await loadDefinitions(${JSON.stringify(join(operators, 'podset.yaml'))});
const { definitions: compiled, diagnostics } = await compile(definitions);
const resource = {
  apiVersion: 'apps.example.com/v1alpha1',
  kind: 'PodSet',
  metadata: { name: 'web' },
  spec: { size: 2 },
};
const { children } = await render(definitions, resource);
const run: TestRun = await runTests(${JSON.stringify(join(operators, 'tests', 'podset.yaml'))});
const sandbox: Sandbox = await createSandbox({ definitions });
await sandbox.apply(resource);
const deployment = await sandbox.until(() => sandbox.get('Deployment/web'));
const { url } = await sandbox.listen();
await sandbox.close();
const result = [
  diagnostics.length, compiled[0]?.kind, children[0]?.manifest.kind, run.passed, deployment.kind, url.split(':')[0],
];
const { stdout } = (globalThis as unknown as { process: { stdout: { write(text: string): void } } }).process;
stdout.write(JSON.stringify(result));
`;

/**
 * Compiles and runs programs against the installed package. The declarations must need no other types: neither of Node nor of the DOM, and
 * they are checked themselves.
 */
export function tryLibrary(installed: string): void {
  const project = mkdtempSync(join(tmpdir(), 'homeostat-consumer-'));
  try {
    mkdirSync(join(project, 'node_modules'));
    symlinkSync(installed, join(project, 'node_modules', 'homeostat'));
    writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
    writeFileSync(join(project, 'main.ts'), consumer(join(installed, 'operators')));
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    const flags = [...strict, '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022'];
    const tsc = resolve('node_modules/.bin/tsc');
    runWith({ cwd: project }, tsc, ...flags, '--types', '', '--skipLibCheck', 'false', 'main.ts');
    const found = JSON.parse(runWith({ cwd: project }, process.execPath, 'main.js'));
    assert.deepEqual(found, [0, 'PodSet', 'Deployment', true, 'Deployment', 'http']);
    cpSync('examples/typescript', join(project, 'example'), { recursive: true });
    assert.match(runWith({ cwd: join(project, 'example') }, process.execPath, '--test'), /pass 2/);
  } finally {
    rmSync(project, { recursive: true });
  }
}

/** client-go on the sandbox. */
export function tryGoExample(command: string): void {
  const go = { cwd: 'examples/go', env: { HOMEOSTAT: command } };
  assert.equal(run('gofmt', '-l', 'examples/go'), '');
  assert.match(runWith(go, 'go', 'test', '-count=1', './...'), /^ok/);
}
