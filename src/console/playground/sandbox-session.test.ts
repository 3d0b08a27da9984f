import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, describe, test } from 'node:test';
import { silentLogger } from '#telemetry';
import { createSystemClock } from '#util/clock.ts';
import { createSystemRandom } from '#util/random.ts';
import { recordDefinition } from '../../../test/support/http-objects/record-definition.ts';
import { patienceMs } from '../../../test/support/patience.ts';
import { SandboxSession } from './sandbox-session.ts';

const { signal } = new AbortController();
const definition = readFileSync('operators/podset.yaml', 'utf8');
const sample = readFileSync('operators/samples/podset.yaml', 'utf8');
const filesOf = (definitionText: string, sampleText: string) => [
  { file: 'podset.yaml', text: definitionText },
  { file: 'samples/podset.yaml', text: sampleText },
];
const recordSample = `apiVersion: homeostat.dev/v1alpha1
kind: HttpEndpoint
metadata: { name: dns }
spec:
  url: http://dns.default.svc/v1
  auth: { bearer: { tokenFrom: { secretKeyRef: { name: dns, key: token } } } }
---
apiVersion: v1
kind: Secret
metadata: { name: dns }
stringData: { token: secret-token }
---
apiVersion: shop.example/v1
kind: Record
metadata: { name: www }
spec: { zone: z1, ip: 192.0.2.1 }
`;
const path = '/apis/apps.example.com/v1alpha1/namespaces/default/podsets/example';

describe('playground/sandbox-session', () => {
  let session: SandboxSession | undefined;
  const start = () => {
    session = new SandboxSession({
      clock: createSystemClock(),
      random: createSystemRandom(),
      logger: silentLogger,
      version: '1.2.3',
    });
    return session;
  };
  afterEach(async () => {
    await session?.close();
    session = undefined;
  });
  const get = (of: SandboxSession, objectPath: string) =>
    of.answer('request', { method: 'GET', path: objectPath }, signal) as Promise<{
      readonly status: number;
      readonly body: { readonly spec: { readonly size: number } };
    }>;

  test('definitions run, samples are applied, and the resources are named', async () => {
    const report = await start().apply(filesOf(definition, sample));
    assert.deepEqual(report, {
      done: ['Operator "podset" is new', 'Created PodSet "example"'],
      problems: [],
      definitions: ['podset'],
      resources: [
        {
          apiVersion: 'apps.example.com/v1alpha1',
          kind: 'PodSet',
          name: 'example',
          namespace: 'default',
        },
      ],
    });
  });

  test('objects behind HTTP are sent to an API in the page', async () => {
    const running = start();
    const { problems } = await running.apply([
      { file: 'operators/record.yaml', text: recordDefinition },
      { file: 'samples/record.yaml', text: recordSample },
    ]);
    assert.deepEqual(problems, []);
    const record = '/apis/shop.example/v1/namespaces/default/records/www';
    const endMs = Date.now() + patienceMs;
    while (Date.now() < endMs) {
      const { body } = await get(running, record);
      if ((body as { readonly status?: { readonly id?: string } }).status?.id === 'id-1') return;
      await new Promise((resolve) => void setTimeout(resolve, 20));
    }
    assert.fail('The record has no id');
  });

  test('a second apply takes the changes, and deletes objects that are no longer in a sample', async () => {
    const running = start();
    await running.apply(filesOf(definition, sample));
    const edited = sample.replace(/size: \d+/, 'size: 5');
    const { done } = await running.apply(filesOf(definition, edited));
    assert.deepEqual(done, ['Applied PodSet "example"']);
    assert.equal((await get(running, path)).body.spec.size, 5);
    const other = edited.replace('name: example', 'name: other');
    const renamed = await running.apply(filesOf(definition, other));
    assert.deepEqual(renamed.done, ['Created PodSet "other"', 'Deleted PodSet "example"']);
  });

  test('a sample that cannot be read deletes nothing', async () => {
    const running = start();
    await running.apply(filesOf(definition, sample));
    await running.apply(filesOf(definition, 'kind: ['));
    assert.equal((await get(running, path)).status, 200);
  });

  test('a definition with errors keeps its previous revision, and the report names it', async () => {
    const running = start();
    await running.apply(filesOf(definition, sample));
    const broken = definition.replace('spec.size', 'spec.sice');
    const { diagnostics, preview } = await running.checkFile(
      { file: 'podset.yaml', text: broken },
      signal,
    );
    assert.match(diagnostics[0]?.message ?? '', /Unknown field "spec.sice"/);
    assert.equal(preview, undefined);
    const report = await running.apply(filesOf(broken, sample));
    assert.deepEqual(report.definitions, ['podset']);
    assert.equal((await get(running, path)).status, 200);
  });

  test('a file is checked with what it would change; a file that is applied changes nothing', async () => {
    const running = start();
    await running.apply(filesOf(definition, sample));
    const check = (file: string, text: string) => running.checkFile({ file, text }, signal);
    assert.deepEqual(await check('samples/podset.yaml', sample), {
      diagnostics: [],
      preview: undefined,
    });
    const edited = sample.replace(/size: \d+/, 'size: 5');
    const { preview } = await check('samples/podset.yaml', edited);
    assert.deepEqual(
      preview?.resources.flatMap(({ changes }) => changes.map(({ kind }) => kind)).toSorted(),
      ['Deployment', 'PodSet'],
    );
    const wrong = await check('samples/podset.yaml', sample.replace(/size: \d+/, 'size: many'));
    assert.match(wrong.diagnostics[0]?.message ?? '', /"many"|integer/);
    assert.ok((wrong.diagnostics[0]?.line ?? 0) > 1);
  });

  test('it is a console that edits, records reconciles and writes no files', async () => {
    assert.deepEqual(await start().answer('info', {}, signal), {
      home: 'playground',
      version: '1.2.3',
      cluster: 'playground',
      canEdit: true,
      canSave: false,
      hasRecords: true,
    });
  });
});
