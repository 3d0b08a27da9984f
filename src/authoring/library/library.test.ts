import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, test } from 'node:test';
import type * as api from './api.ts';
import * as library from './index.ts';

// The compiler compares what is declared with what is exported, both ways.
const exported: typeof api = library;
const declared: typeof library = exported;

const podset = 'operators/podset.yaml';
const resource = {
  apiVersion: 'apps.example.com/v1alpha1',
  kind: 'PodSet',
  metadata: { name: 'web' },
  spec: { size: 3 },
};
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'nginx' }] },
    },
  },
};

interface Deployment {
  readonly status?: { readonly readyReplicas?: number };
}

describe('library', () => {
  test('exports what its declarations declare, and the declarations import nothing', () => {
    const text = readFileSync(new URL('api.ts', import.meta.url), 'utf8');
    const names = [...text.matchAll(/^export declare function (\w+)/gm)].map(([, name]) => name);
    assert.deepEqual(names.sort(), Object.keys(declared).sort());
    assert.doesNotMatch(text, /^import /m);
  });

  test('compile returns what a definition creates', async () => {
    const { definitions, diagnostics } = await library.compile(
      await library.loadDefinitions(podset),
    );
    assert.deepEqual(diagnostics, []);
    const [definition, ...others] = definitions;
    assert.deepEqual(others, []);
    assert.equal(definition?.kind, 'PodSet');
    assert.equal(definition?.crd?.metadata.name, 'podsets.apps.example.com');
    assert.deepEqual(
      definition?.children.map(({ kind, tier }) => [kind, tier]),
      [['Deployment', 1]],
    );
  });

  test('compile returns errors with their place', async () => {
    const text = readFileSync(podset, 'utf8').replace('spec.size', 'spec.sise');
    const { definitions, diagnostics } = await library.compile(text);
    assert.deepEqual(definitions, []);
    assert.equal(diagnostics[0]?.severity, 'error');
    assert.match(diagnostics[0]?.hint ?? '', /size/);
    assert.ok((diagnostics[0]?.line ?? 0) > 1);
  });

  test('render returns the children of a resource', async () => {
    const definitions = await library.loadDefinitions(podset);
    const { children, status, problem } = await library.render(definitions, resource);
    assert.equal(problem, undefined);
    assert.deepEqual(
      children.map(({ manifest: { kind, metadata } }) => `${kind}/${metadata.name}`),
      ['Deployment/web'],
    );
    assert.equal(status?.readyReplicas, 3);
  });

  test('render names the member cluster of each child', async () => {
    const definitions = await library.loadDefinitions('operators/clusters/node-agent.yaml');
    const agent = {
      apiVersion: 'agents.example.com/v1alpha1',
      kind: 'NodeAgent',
      metadata: { name: 'a' },
      spec: { endpoint: 'https://example.com' },
    };
    const member = {
      apiVersion: 'homeostat.dev/v1alpha1',
      kind: 'Cluster',
      metadata: { name: 'paris', labels: { agents: 'true' } },
    };
    const { children } = await library.render(definitions, agent, { with: [member] });
    assert.deepEqual(
      children.map(({ child, cluster }) => [child, cluster]),
      [
        ['config', 'paris'],
        ['agent', 'paris'],
      ],
    );
  });

  test('render accepts a text of one object only', async () => {
    const text = JSON.stringify(resource);
    const definitions = await library.loadDefinitions(podset);
    assert.equal((await library.render(definitions, text)).children.length, 1);
    await assert.rejects(library.render(definitions, `${text}\n---\n${text}`), {
      message: 'Expected one object, found 2',
    });
  });

  test('runTests returns passed tests, and failures with their place', async () => {
    const file = 'operators/tests/podset.yaml';
    const run = await library.runTests(file);
    assert.deepEqual([run.passed, run.results.length, run.diagnostics.length], [true, 1, 0]);
    const text = readFileSync(file, 'utf8').replace('replicas: 3', 'replicas: 4');
    const { passed, results } = await library.runTests([{ file, text }]);
    const [failure] = results[0]?.failures ?? [];
    assert.deepEqual([passed, failure?.mismatches[0]?.expected], [false, 4]);
    const place = text.split('\n').findIndex((line) => line.includes('replicas: 4')) + 1;
    assert.equal(failure?.line, place);
  });

  test('runTests checks the objects of tests and of their files as homeostat test, with their places', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeostat-library-'));
    try {
      cpSync(podset, join(folder, 'podset.yaml'));
      mkdirSync(join(folder, 'tests'));
      const sample = `apiVersion: apps.example.com/v1alpha1\nkind: PodSet\nmetadata: { name: web }\nspec: { size: 3, imag: nginx }\n`;
      writeFileSync(join(folder, 'sample.yaml'), sample);
      const testOf = (name: string, steps: string) =>
        `apiVersion: homeostat.dev/v1alpha1\nkind: OperatorTest\nmetadata: { name: ${name} }\nspec:\n  definitions: [../podset.yaml]\n  steps:\n    - { name: first, ${steps} }\n`;
      const documents = [
        testOf('object', 'apply: { file: ../sample.yaml }'),
        testOf('file', 'apply: { file: ../sampel.yaml }'),
        testOf('kind', 'delete: PodSett/web'),
      ];
      writeFileSync(join(folder, 'tests/wrong.yaml'), documents.join('---\n'));
      const { passed, results, diagnostics } = await library.runTests(join(folder, 'tests'));
      assert.deepEqual([passed, results], [false, []]);
      const found = diagnostics.map(
        ({ file, line, message, hint }) =>
          `${relative(folder, file)}:${line}: ${message}. ${hint?.split(';')[0]}`,
      );
      assert.deepEqual(found, [
        'sample.yaml:4: Unknown field "imag". Known fields: size',
        'tests/wrong.yaml:15: There is no file "../sampel.yaml". Did you mean "sample.yaml"?',
        'tests/wrong.yaml:23: There is no kind "PodSett". Did you mean "PodSet"?',
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('runTests of a path that does not exist is an error', async () => {
    await assert.rejects(library.runTests('missing'), /Cannot read "missing": no such file/);
  });
});

describe('library/sandbox', () => {
  test('applies objects, and its controllers act', async () => {
    const sandbox = await library.createSandbox();
    await sandbox.apply(deployment);
    const pods = await sandbox.list('Pod');
    assert.equal(pods.length, 2);
    const found = await sandbox.get<Deployment>('Deployment/web');
    assert.equal(found?.status?.readyReplicas, 2);
    await sandbox.delete('Deployment/web');
    assert.equal(await sandbox.get('Deployment/web'), undefined);
    assert.deepEqual(await sandbox.list('Pod'), []);
    await sandbox.close();
  });

  test('runs operators of definitions', async () => {
    const definitions = await library.loadDefinitions(podset);
    const sandbox = await library.createSandbox({ definitions });
    await sandbox.apply(JSON.stringify(resource));
    const ready = await sandbox.until(async () => {
      const found = await sandbox.get<Deployment>('PodSet/web');
      return found?.status?.readyReplicas === 3 && found;
    });
    assert.equal(ready.status?.readyReplicas, 3);
    await sandbox.close();
  });

  test('definitions with errors are rejected with their place', async () => {
    await assert.rejects(
      library.createSandbox({ definitions: 'kind: OperatorDefinition' }),
      /The definitions have errors:\n(?:.|\n)*<text>:1/,
    );
  });

  test('time stands still until it is advanced', async () => {
    const startTime = new Date('2030-01-01T00:00:30Z');
    const sandbox = await library.createSandbox({ startTime });
    await sandbox.apply({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'every-minute' },
      spec: {
        schedule: '* * * * *',
        jobTemplate: {
          spec: {
            template: {
              spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'busybox' }] },
            },
          },
        },
      },
    });
    await sandbox.settle();
    assert.deepEqual(await sandbox.list('Job'), []);
    assert.equal(sandbox.now.getTime(), startTime.getTime());
    await sandbox.advance(120_000);
    assert.equal((await sandbox.list('Job')).length, 2);
    assert.equal(sandbox.now.getTime(), startTime.getTime() + 120_000);
    await sandbox.close();
  });

  test('an expected state that is not reached in time is an error', async () => {
    const sandbox = await library.createSandbox();
    await assert.rejects(
      sandbox.until(() => sandbox.get('Secret/missing')),
      { message: 'The expected state is not reached within 5000 ms' },
    );
    await sandbox.close();
  });

  test('answers requests like an API server', async () => {
    const sandbox = await library.createSandbox();
    const path = '/api/v1/namespaces/default/configmaps';
    const created = await sandbox.request({
      method: 'POST',
      path,
      body: { metadata: { name: 'a' }, data: { key: 'old' } },
    });
    assert.equal(created.status, 201);
    const patched = await sandbox.request({
      method: 'PATCH',
      path: `${path}/a`,
      body: { data: { key: 'new' } },
    });
    assert.deepEqual((patched.body as { readonly data: unknown }).data, { key: 'new' });
    const missing = await sandbox.request({ path: `${path}/b` });
    assert.deepEqual(
      [missing.status, (missing.body as { readonly reason: string }).reason],
      [404, 'NotFound'],
    );
    await assert.rejects(sandbox.request({ path: `${path}?watch=true` }), /found a watch/);
    await assert.rejects(sandbox.apply({ ...deployment, kind: 'Deploiment' }), /does not serve/);
    await sandbox.close();
  });

  test('a watch ends with its reader, or with its signal', async () => {
    const sandbox = await library.createSandbox();
    const applied = sandbox.apply(deployment);
    const seen: string[] = [];
    for await (const { type, object } of sandbox.watch('/apis/apps/v1/deployments')) {
      seen.push(`${type} ${object.metadata.name}`);
      if (seen.length === 2) break;
    }
    await applied;
    assert.deepEqual(seen, ['ADDED web', 'MODIFIED web']);
    const stopper = new AbortController();
    for await (const { object } of sandbox.watch('/api/v1/nodes', { signal: stopper.signal })) {
      assert.equal(object.kind, 'Node');
      stopper.abort(new Error('Enough'));
    }
    await assert.rejects(async () => {
      for await (const { type } of sandbox.watch('/api/v1/nothing')) assert.fail(type);
    }, /could not find/);
    await sandbox.close();
  });

  test('serves clients of other processes, with a kubeconfig', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeostat-library-'));
    const writeKubeconfig = join(folder, 'kubeconfig');
    const sandbox = await library.createSandbox({ clock: 'system' });
    const listener = await sandbox.listen({ writeKubeconfig });
    assert.equal(readFileSync(writeKubeconfig, 'utf8'), listener.kubeconfig);
    assert.match(listener.kubeconfig, new RegExp(`server: ${listener.url}`));
    const deployments = `${listener.url}/apis/apps/v1/namespaces/default/deployments`;
    const { status } = await fetch(deployments, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(deployment),
    });
    assert.equal(status, 201);
    // Controllers act without any call of the sandbox.
    await sandbox.until(async () => {
      const response = await fetch(`${deployments}/web`);
      return ((await response.json()) as Deployment).status?.readyReplicas === 2;
    });
    await assert.rejects(sandbox.advance(1), /the system clock cannot be advanced/);
    await sandbox.close();
    assert.equal(existsSync(writeKubeconfig), false);
    await assert.rejects(fetch(deployments));
    rmSync(folder, { recursive: true });
  });
});
