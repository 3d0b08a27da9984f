import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DefinitionWorld } from '../../../test/support/fakes/definition-world.ts';
import { gvkOf } from '../../util/gvk.ts';
import { definitionsLabel } from './names.ts';

const namespace = 'homeostat-system';
const message = 'info ConfigMap is not read as a whole';

/** A runtime that reads ConfigMaps. */
function made() {
  const world = new DefinitionWorld();
  return {
    world,
    /** Writes the ConfigMap `ops`; returns what is told of it then, in the log and in Events. */
    async write(data: object, annotations: Readonly<Record<string, string>> = {}) {
      const labels = { [definitionsLabel]: 'true' };
      const metadata = { name: 'ops', namespace, labels, annotations };
      world.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
      await world.settle();
      return said(world);
    },
  };
}

function said({ log, cluster }: DefinitionWorld) {
  const logged = log.splice(0).map(({ level, msg }) => `${level} ${msg}`);
  const events = cluster.told.splice(0);
  return { logged, events: events.map(({ type, reason, note }) => `${type} ${reason}: ${note}`) };
}

const nothing = { logged: [], events: [] };
const rule =
  'A definition stands in one that ends in .yaml, .yml or .json and does not begin with a dot';

describe('runtime/objects/config-map-events', () => {
  test('keys that are not read are told on their ConfigMap and in the log, once, until they change', async () => {
    const { world, write } = made();
    await write({ 'UP.YAML': '', '.hidden.yaml': '', 'a.yaml': '' });
    await world.start();
    const told = (keys: string) => ({
      logged: [message],
      events: [`Normal Ignored: Keys that are not read: ${keys}. ${rule}`],
    });
    assert.deepEqual(said(world), told('.hidden.yaml, UP.YAML'));
    assert.deepEqual(await write({ 'UP.YAML': 'x', '.hidden.yaml': '', 'b.yaml': '' }), nothing);
    assert.deepEqual(await write({ notes: '' }), told('notes'));
    assert.deepEqual(await write({ 'a.yaml': '' }), nothing);
    assert.deepEqual(await write({ notes: '' }), told('notes'));
    world.cluster.server.delete(gvkOf('v1', 'ConfigMap'), { namespace, name: 'ops' });
    await world.settle();
    assert.deepEqual(await write({ notes: '' }), told('notes'));
    await world.stop();
  });

  test('of many keys some are named', async () => {
    const { world, write } = made();
    await world.start();
    const { events } = await write(
      Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`k${index}`, ''])),
    );
    assert.match(events.join(), /k0, k1, k10, k11, k2, .* and 2 more\./);
    await world.stop();
  });

  test('a ConfigMap that is made for a resource is told to be no source', async () => {
    const { world, write } = made();
    await world.start();
    const { events } = await write({ 'a.yaml': '' }, { 'homeostat.dev/owner-uid': 'u' });
    assert.match(events.join(), /^Normal Ignored: It carries homeostat\.dev\/owner-uid/);
    await world.stop();
  });
});
