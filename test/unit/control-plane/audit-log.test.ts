import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { AuditLog } from '../../support/control-plane/audit-log.ts';

const root = mkdtempSync(join(tmpdir(), 'audit-log-'));

describe('test/control-plane/audit-log', () => {
  after(() => rmSync(root, { recursive: true }));

  test('counts by verb and resource, Events apart', () => {
    const { file, log } = emptyLog('counts');
    appendFileSync(
      file,
      [
        line({ verb: 'patch', objectRef: { resource: 'podsets', subresource: 'status' } }),
        line({ verb: 'patch', objectRef: { resource: 'deployments' }, code: 409 }),
        line({ verb: 'get', objectRef: { resource: 'deployments' } }),
        line({ verb: 'create', objectRef: { resource: 'events' } }),
      ].join(''),
    );
    assert.deepEqual(log.count(), {
      total: 3,
      writes: 2,
      events: 1,
      by: {
        'patch podsets/status': 1,
        'patch deployments': 1,
        'get deployments': 1,
        'create events': 1,
      },
      errors: { 'patch deployments 409': 1 },
    });
  });

  test('leaves out leases, discovery, other users and the end of a watch', () => {
    const { file, log } = emptyLog('left-out');
    const watch = { verb: 'watch', objectRef: { resource: 'pods' } };
    appendFileSync(
      file,
      [
        line({ verb: 'update', objectRef: { resource: 'leases' } }),
        line({ verb: 'get' }),
        line({ verb: 'list', objectRef: { resource: 'pods' }, user: 'admin' }),
        line({ ...watch, stage: 'ResponseStarted' }),
        line({ ...watch, stage: 'ResponseComplete' }),
      ].join(''),
    );
    assert.deepEqual(log.count().by, { 'watch pods': 1 });
    assert.deepEqual(log.count({ user: 'admin' }).by, { 'list pods': 1 });
  });

  test('reads what was added since, also when it looked in the middle of a line', () => {
    const { file, log } = emptyLog('added');
    const first = line({ verb: 'get', objectRef: { resource: 'pods', name: 'größe' } });
    const middle = Buffer.byteLength(first.slice(0, first.indexOf('ö'))) + 1;
    appendFileSync(file, Buffer.from(first).subarray(0, middle));
    assert.equal(log.mark(), 0);
    appendFileSync(file, Buffer.from(first).subarray(middle));
    assert.deepEqual(
      log.entries().map(({ name }) => name),
      ['größe'],
    );
    const since = log.mark();
    appendFileSync(file, line({ verb: 'delete', objectRef: { resource: 'pods' } }));
    assert.deepEqual(log.count({ since }).by, { 'delete pods': 1 });
  });

  test('shows everything, and all writes, when it is asked for', () => {
    const { file, log } = emptyLog('everything');
    const all = [
      { verb: 'update', objectRef: { resource: 'leases', name: 'leader' } },
      { verb: 'create', objectRef: { resource: 'events' } },
      {
        verb: 'patch',
        objectRef: { resource: 'operatordefinitions', subresource: 'status', name: 'a' },
      },
      { verb: 'create', objectRef: { resource: 'selfsubjectaccessreviews' } },
      { verb: 'list', objectRef: { resource: 'pods' } },
      { verb: 'get' },
    ];
    for (const each of all) appendFileSync(file, line(each));
    assert.equal(log.entries({ everything: true }).length, all.length);
    assert.deepEqual(
      log.writes().map(({ resource }) => resource),
      ['leases', 'events', 'operatordefinitions/status'],
    );
    assert.equal(log.entries().length, 3);
  });

  test('says who is not quiet', async () => {
    const { file, log } = emptyLog('loud');
    const talk = setInterval(
      () => appendFileSync(file, line({ verb: 'get', objectRef: { resource: 'pods' } })),
      5,
    );
    const quiet = log.quiet(10_000, { limitMs: 100 });
    await assert.rejects(quiet, /"operator" was not quiet .* get \/uri 200/);
    clearInterval(talk);
  });

  test('needs a plane with an audit log', () => {
    assert.throws(() => new AuditLog({ auditFile: undefined }), /no audit log/);
  });
});

interface Line {
  readonly verb: string;
  readonly objectRef?: Readonly<Record<string, string>>;
  readonly user?: string;
  readonly stage?: string;
  readonly code?: number;
}

function line(options: Line): string {
  const { verb, objectRef, user = 'operator', stage = 'ResponseComplete', code = 200 } = options;
  const event = {
    stage,
    requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
    verb,
    requestURI: '/uri',
    user: { username: user },
    responseStatus: { code },
    ...(objectRef === undefined ? {} : { objectRef }),
  };
  return `${JSON.stringify(event)}\n`;
}

function emptyLog(name: string): { readonly file: string; readonly log: AuditLog } {
  const auditFile = join(root, name);
  writeFileSync(auditFile, '');
  return { file: auditFile, log: new AuditLog({ auditFile }) };
}
