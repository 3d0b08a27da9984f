import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { isEstablished, useControlPlane } from '../support/control-plane/index.ts';
import { copierDefinition as copier, copyPath, untilCopied } from '../support/copier.ts';
import { conditionOf, thing } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { runCli } from '../support/homeostat-process.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { untilStatus } from '../support/scrape.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);

/** With a mistake. */
const typo = (name: string) => copier(name, 9).replace('spec.text', 'spec.text +');

const definitions = '/apis/homeostat.dev/v1alpha1/operatordefinitions';
const rejected = 'File has errors, its definitions are rejected';
const gone = 'Definition stopped, its resources and their children are orphaned';

shared.describe('integration/sources', () => {
  const root = mkdtempSync(join(tmpdir(), 'homeostat-sources-'));
  after(async () => {
    rmSync(root, { recursive: true, force: true });
  });

  function start(...flags: readonly string[]): HomeostatRuntime {
    return launch({ flags });
  }

  function folder(name: string, files: Readonly<Record<string, string>>): string {
    const path = join(root, name);
    mkdirSync(path, { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
    return path;
  }

  const untilCopy = (name: string, namespace: string, version: number, text = 'one') =>
    untilCopied(shared.client(), copyPath(name, namespace), { version, text });

  const applyThing = (name: string, namespace: string, text = 'one') =>
    shared.client().apply(thing(name, namespace, { text }));

  const saveMap = (namespace: string, name: string, data: Readonly<Record<string, string>>) =>
    shared.client().apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, labels: { 'homeostat.dev/definitions': 'true' } },
      data,
    });

  test('a directory is followed: saved, broken, mended, removed and added files', async () => {
    const namespace = await shared.namespace();
    const path = folder('saved', { 'saved.yaml': copier('saved', 1) });
    const homeostat = start('--definitions', path);
    await homeostat.whenReady();
    await applyThing('saved', namespace);
    await untilCopy('saved', namespace, 1);
    folder('saved', { 'saved.yaml': copier('saved', 2) });
    await untilCopy('saved', namespace, 2);
    folder('saved', { 'saved.yaml': typo('saved') });
    const reported = await homeostat.whenLogged(rejected);
    assert.equal(reported.file, join(path, 'saved.yaml'));
    await applyThing('saved', namespace, 'two');
    await untilCopy('saved', namespace, 2, 'two');
    folder('saved', { 'saved.yaml': copier('saved', 3), 'added.yaml': copier('added', 1) });
    await untilCopy('saved', namespace, 3, 'two');
    await homeostat.whenLoggedTimes('Definition running', 2);
    await applyThing('added', namespace);
    await untilCopy('added', namespace, 1);
    rmSync(join(path, 'saved.yaml'));
    await homeostat.whenLogged(gone);
    assert.ok(await shared.client().get(copyPath('saved', namespace)));
    assert.equal(await homeostat.stop(), 0);
  });

  test('a mounted volume that the kubelet swaps is followed', async () => {
    const namespace = await shared.namespace();
    const path = folder('mounted', {});
    const mount = (version: string, text: string) => {
      mkdirSync(join(path, `..${version}`));
      writeFileSync(join(path, `..${version}`, 'mounted.yaml'), text);
      symlinkSync(`..${version}`, join(path, '..data_tmp'));
      renameSync(join(path, '..data_tmp'), join(path, '..data'));
    };
    mount('v1', copier('mounted', 1));
    symlinkSync(join('..data', 'mounted.yaml'), join(path, 'mounted.yaml'));
    const homeostat = start('--definitions', path);
    await homeostat.whenReady();
    await applyThing('mounted', namespace);
    await untilCopy('mounted', namespace, 1);
    mount('v2', copier('mounted', 2));
    rmSync(join(path, '..v1'), { recursive: true });
    await untilCopy('mounted', namespace, 2);
    assert.equal(
      homeostat.entries.some(({ msg }) => msg === gone),
      false,
    );
    assert.equal(await homeostat.stop(), 0);
  });

  test('one name in a directory and in a ConfigMap: who was there first keeps it, and gives it on', async () => {
    const [operators, namespace] = [await shared.namespace(), await shared.namespace()];
    const path = folder('both', { 'both.yaml': copier('both', 1) });
    const homeostat = start('--definitions', path, '--definitions-namespace', operators);
    await homeostat.whenReady();
    await applyThing('both', namespace);
    await untilCopy('both', namespace, 1);
    await saveMap(operators, 'operators', { 'both.yaml': copier('both', 2) });
    const lost = await homeostat.whenLogged('Manifest is not published');
    assert.equal(lost.file, `configmap ${operators}/operators/both.yaml`);
    const text = await untilStatus(homeostat, '/readyz?verbose', 200);
    assert.match(text, /operators\/both\.yaml .*is not published: the name is published from/);
    rmSync(join(path, 'both.yaml'));
    await untilCopy('both', namespace, 2);
    assert.equal(
      homeostat.entries.some(({ msg }) => msg === gone),
      false,
    );
    assert.equal(await homeostat.stop(), 0);
  });

  test('a restart with a broken text starts from the last good revision, and reports what is rejected', async () => {
    const [operators, namespace] = [await shared.namespace(), await shared.namespace()];
    const flags = ['--sources', 'configmaps', '--namespace', operators];
    await saveMap(operators, 'operators', { 'record.yaml': copier('record', 1) });
    const first = start(...flags);
    await first.whenReady();
    await applyThing('record', namespace);
    await untilCopy('record', namespace, 1);
    await first.stop();
    // Not even its name can be read.
    await saveMap(operators, 'operators', { 'record.yaml': 'kind: [\n' });
    const second = start(...flags);
    const reported = await second.whenLogged(rejected);
    assert.match(String(reported.diagnostics), /record\.yaml:\d+:\d+: /);
    await second.whenLogged('Definition running');
    await applyThing('record', namespace, 'two');
    await untilCopy('record', namespace, 1, 'two');
    const since = shared.audit.mark();
    await saveMap(operators, 'operators', { 'record.yaml': copier('record', 2) });
    await untilCopy('record', namespace, 2, 'two');
    const entries = shared.audit.entries({ since });
    assert.deepEqual(
      entries.filter(({ verb }) => verb.startsWith('delete')),
      [],
    );
    assert.equal(await second.stop(), 0);
  });

  test('an OperatorDefinition that a user makes runs, reports its errors by their path, and stops when it is deleted', async () => {
    const namespace = await shared.namespace();
    const homeostat = start('--sources', 'objects');
    const crd =
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/operatordefinitions.homeostat.dev';
    await shared.client().untilObject(crd, isEstablished);
    const save = (text: string) => shared.client().apply(parseYaml(text) as unknown as KubeObject);
    const path = `${definitions}/own`;
    await save(copier('own', 1));
    await homeostat.whenReady();
    await applyThing('own', namespace);
    await untilCopy('own', namespace, 1);
    await save(typo('own'));
    const reported = await homeostat.whenLogged(
      'Change rejected, the active revision keeps running',
    );
    assert.match(
      String(reported.diagnostics),
      /^operatordefinition own: spec\.children\.0\.template\.data\.text: /,
    );
    await save(copier('own', 2));
    await untilCopy('own', namespace, 2);
    await shared.client().delete(path);
    await homeostat.whenLogged(gone);
    assert.ok(await shared.client().get(copyPath('own', namespace)));
    assert.equal(await homeostat.stop(), 0);
  });

  test('an OperatorDefinition that is nested too deep is reported on itself, and the others run', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = folder('beside', { 'beside.yaml': copier('beside', 1) });
    const homeostat = start('--sources', 'directories,objects', '--definitions', path);
    await homeostat.whenReady();
    await client.untilObject(`${definitions}/beside`, (object) => object !== undefined);
    let vars: unknown = 1;
    for (let level = 0; level < 800; level++) vars = { a: vars };
    const deep = parseYaml(copier('deep', 1)) as { readonly spec: object };
    await client.create(definitions, { ...deep, spec: { ...deep.spec, vars } });
    const reported = await client.untilObject(
      `${definitions}/deep`,
      (object) => conditionOf(object, 'Accepted')?.status === 'False',
    );
    assert.match(
      conditionOf(reported, 'Accepted')?.message ?? '',
      /More than 250 nested lists and maps/,
    );
    await applyThing('beside', namespace);
    await untilCopy('beside', namespace, 1);
    await client.delete(`${definitions}/deep`);
    await client.untilGone(`${definitions}/deep`);
    assert.equal(await homeostat.stop(), 0);
  });

  test('an empty file is no definition to check, and that is why it fails', async () => {
    const path = folder('empty', { 'empty.yaml': '# nothing\n' });
    const { code, stderr } = await runCli('validate', join(path, 'empty.yaml'));
    assert.equal(code, 1);
    assert.match(stderr, /The file contains no definition/);
    assert.match(stderr, /^homeostat: There is no definition to check$/m);
  });

  test('a pipe among the files is reported, and not waited for', async () => {
    const path = folder('pipe', { 'a.yaml': copier('pipe', 1) });
    execFileSync('mkfifo', [join(path, 'b.yaml')]);
    const { code, stderr } = await runCli('run', '--definitions', path, '--http', 'off');
    assert.equal(code, 2);
    assert.match(stderr, /^homeostat: Cannot read ".*pipe": b\.yaml: it is not a regular file$/m);
  });

  test('sources that contradict the other flags are rejected', async () => {
    const { code, stderr } = await runCli('run', '--sources', 'directories');
    assert.equal(code, 2);
    assert.match(stderr, /needs --definitions/);
  });
});
