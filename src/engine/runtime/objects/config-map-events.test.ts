import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLogger } from '#telemetry';
import { gvkOf } from '#util/gvk.ts';
import { definitionsLabel } from '#util/stored-names.ts';
import { settle } from '../../../../test/support/fake-clock.ts';
import { RuntimeFakeCluster } from '../../../../test/support/fakes/runtime-fake-cluster.ts';
import { ConfigMapEvents } from './config-map-events.ts';

const namespace = 'homeostat-system';
const message = 'info Part of a ConfigMap is ignored';

function setUp() {
  const cluster = new RuntimeFakeCluster();
  const log: { readonly level: string; readonly msg: string }[] = [];
  const destination = { write: (line: string) => void log.push(JSON.parse(line)) };
  const logger = createLogger({ level: 'info', destination });
  const deliver = async () => {
    do await settle();
    while (cluster.deliver());
    await settle();
  };
  /** What was reported since the last call, in the log and in Events. */
  const said = () => ({
    logged: log.splice(0).map(({ level, msg }) => `${level} ${msg}`),
    events: cluster.reported
      .splice(0)
      .map(({ type, reason, note }) => `${type} ${reason}: ${note}`),
  });
  return {
    cluster,
    said,
    deliver,
    /** Follows the ConfigMaps from now on. */
    async start() {
      const events = new ConfigMapEvents({ cluster, namespace, logger });
      await deliver();
      return events;
    },
    /** Writes the ConfigMap `ops`; returns what is reported on it then. */
    async write(data: object, annotations: Readonly<Record<string, string>> = {}) {
      const labels = { [definitionsLabel]: 'true' };
      const metadata = { name: 'ops', namespace, labels, annotations };
      cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
      await deliver();
      return said();
    },
  };
}

const nothing = { logged: [], events: [] };
const rule = 'Keys of definitions end in .yaml, .yml or .json and do not begin with a dot';

describe('runtime/objects/config-map-events', () => {
  test('keys that are not read are reported on their ConfigMap and in the log, once, until they change', async () => {
    const { cluster, deliver, said, start, write } = setUp();
    await write({ 'UP.YAML': '', '.hidden.yaml': '', 'a.yaml': '' });
    const watching = await start();
    const reported = (keys: string) => ({
      logged: [message],
      events: [`Normal Ignored: Ignored keys: ${keys}. ${rule}`],
    });
    assert.deepEqual(said(), reported('.hidden.yaml, UP.YAML'));
    assert.deepEqual(await write({ 'UP.YAML': 'x', '.hidden.yaml': '', 'b.yaml': '' }), nothing);
    assert.deepEqual(await write({ notes: '' }), reported('notes'));
    assert.deepEqual(await write({ 'a.yaml': '' }), nothing);
    assert.deepEqual(await write({ notes: '' }), reported('notes'));
    cluster.server.delete(gvkOf('v1', 'ConfigMap'), { namespace, name: 'ops' });
    await deliver();
    assert.deepEqual(await write({ notes: '' }), reported('notes'));
    watching.stop();
    assert.deepEqual(cluster.watched, []);
  });

  test('of many keys some are named', async () => {
    const { start, write } = setUp();
    await start();
    const { events } = await write(
      Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`k${index}`, ''])),
    );
    assert.match(events.join(), /k0, k1, k10, k11, k2, .* and 2 more\./);
  });

  test('a ConfigMap that is made for a resource is reported to be no source', async () => {
    const { start, write } = setUp();
    await start();
    const { events } = await write({ 'a.yaml': '' }, { 'homeostat.dev/owner-uid': 'u' });
    assert.match(
      events.join(),
      /^Normal Ignored: It has the label or annotation homeostat\.dev\/owner-uid/,
    );
  });

  test('what happens to a definition is reported on the ConfigMap of its text, with its key; elsewhere there is none', async () => {
    const { start, write, said } = setUp();
    const watching = await start();
    await write({ 'a.yaml': '' });
    const event = { type: 'Normal', reason: 'Accepted', action: 'Load', note: 'Yes' } as const;
    const tell = (source: 'configmap' | 'directory', ref: string) =>
      watching.recordEvent('thing', { source, ref }, event);
    tell('configmap', `${namespace}/gone/a.yaml`);
    tell('directory', '/defs/ops/a.yaml');
    assert.deepEqual(said(), nothing);
    tell('configmap', `${namespace}/ops/a.yaml`);
    assert.deepEqual(said().events, ['Normal Accepted: a.yaml, definition thing: Yes']);
  });

  test('an error that stands on no object is reported on the ConfigMap once, until it changes', async () => {
    const { start, write, said } = setUp();
    const watching = await start();
    await write({ 'a.yaml': '' });
    const origin = { source: 'configmap', ref: `${namespace}/ops/a.yaml` } as const;
    const tell = (...notes: readonly string[]) => {
      watching.recordErrors(notes.map((note) => ({ origin, note })));
      return said().events;
    };
    assert.deepEqual(tell('One', 'Two'), ['Warning Rejected: One', 'Warning Rejected: Two']);
    assert.deepEqual(tell('Two', 'One'), []);
    assert.deepEqual(tell('Two'), []);
    assert.deepEqual(tell('Two', 'One'), ['Warning Rejected: One']);
  });
});
