// Packs the repository and installs the package as a user would, without a network.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryGoExample, tryLibrary } from './library.ts';
import { run } from './run-command.ts';

/** A third of it are source maps. The library that issues certificates takes 0.5 MB. */
const largestBytes = 16_000_000;
/** What no build has made: it is in the package unless packing builds first. */
const leftover = join('dist', 'leftover.txt');

/** Returns the size of the installed package. Builds `dist`. */
export function tryPackage(): number {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-package-'));
  try {
    const installed = install(pack(folder), folder);
    checkManifest(installed);
    // Commands write compiled code beside the bundle.
    const bytes = checkSize(installed);
    const command = join(folder, 'bin', 'homeostat');
    checkCommands(installed, command);
    tryLibrary(installed);
    tryGoExample(command);
    checkReadme(installed);
    checkNotices(join(installed, 'dist'));
    return bytes;
  } finally {
    rmSync(folder, { recursive: true });
    rmSync(leftover, { force: true });
  }
}

function pack(folder: string): string {
  if (existsSync('dist')) writeFileSync(leftover, '');
  run('npm', 'pack', '--pack-destination', folder, '--loglevel=error');
  const [archive] = readdirSync(folder);
  assert.match(archive ?? '', /^homeostat-.*\.tgz$/);
  return join(folder, archive ?? '');
}

/** The folder of the installed package. An empty cache: whatever else npm wanted it could not get. */
function install(archive: string, folder: string): string {
  const flags = ['--offline', '--cache', join(folder, 'cache'), '--loglevel=error'];
  run('npm', 'install', '--global', '--prefix', folder, ...flags, archive);
  const packages = join(folder, 'lib', 'node_modules');
  assert.deepEqual(readdirSync(packages), ['homeostat']);
  return join(packages, 'homeostat');
}

function checkManifest(installed: string): void {
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const kind of ['dependencies', 'optionalDependencies', 'peerDependencies'])
    assert.equal(manifest[kind], undefined, `The package has ${kind}`);
  for (const script of ['preinstall', 'install', 'postinstall'])
    assert.equal(manifest.scripts[script], undefined, `The package runs "${script}"`);
  assert.ok(!existsSync(join(installed, 'node_modules')));
  assert.ok(!existsSync(join(installed, leftover)), 'npm pack did not build');
}

function checkCommands(installed: string, command: string): void {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  assert.equal(run(command, '--version').trim(), version);
  assert.match(run(command, '--help'), /validate/);
  const podset = join(installed, 'operators', 'podset.yaml');
  assert.match(run(command, 'validate', podset), /definition "podset" is valid/);
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-commands-'));
  try {
    checkAuthoring(command, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The commands for authors load modules of their own. */
function checkAuthoring(command: string, folder: string): void {
  run(command, 'init', 'demo', folder);
  assert.match(run(command, 'test', folder), /1 passed, 0 failed/);
  const fuzz = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorFuzz
metadata: { name: demo }
spec: { definition: demo, values: { /spec/image: [nginx] } }
`;
  writeFileSync(join(folder, 'tests', 'fuzz.yaml'), fuzz);
  assert.match(run(command, 'test', folder, '--fuzz', '2'), /^PASS demo/);
  const definition = join(folder, 'demo.yaml');
  const sample = join(folder, 'samples', 'demo.yaml');
  assert.match(run(command, 'render', definition, sample), /kind: Deployment/);
  const graph = join(folder, 'graph.kro');
  writeFileSync(graph, resourceGraph);
  assert.match(run(command, 'import', graph), /name: \$\{ metadata\.name \}/);
}

/** A definition of kro. */
const resourceGraph = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: { name: graph }
spec:
  schema: { apiVersion: v1, kind: Graph, spec: { size: integer } }
  resources:
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${schema.metadata.name}" } }
`;

function checkReadme(installed: string): void {
  const readme = readFileSync(join(installed, 'README.md'), 'utf8');
  const links = [...readme.matchAll(/\]\(([^)#\s]+)/g)].map(([, link = '']) => link);
  const relative = links.filter((link) => !/^[a-z]+:/.test(link));
  assert.ok(relative.length > 10);
  for (const link of relative)
    assert.ok(existsSync(join(installed, link)), `README.md links to "${link}"`);
}

/** By the source maps: each package that they name is in the notices. */
function checkNotices(dist: string): void {
  const notices = readFileSync(join(dist, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
  const maps = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.map'))
    .map((path) => JSON.parse(readFileSync(join(dist, path), 'utf8')));
  const names = new Set(
    maps
      .flatMap(({ sources }): string[] => sources)
      .flatMap((source) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []),
  );
  assert.ok(names.size > 20);
  for (const name of names) assert.ok(notices.includes(`\n${name} `), `The notices lack "${name}"`);
}

function checkSize(installed: string): number {
  const bytes = readdirSync(installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + readFileSync(join(parentPath, name)).length, 0);
  assert.ok(bytes < largestBytes, `The package takes ${bytes} bytes`);
  return bytes;
}
