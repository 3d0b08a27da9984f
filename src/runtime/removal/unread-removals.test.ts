import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { settle } from '../../../test/support/fake-clock.ts';
import { DefinitionWorld } from '../../../test/support/fakes/definition-world.ts';
import { createLogger } from '../../telemetry/index.ts';
import { UnreadRemovals } from './unread-removals.ts';

async function start(names: readonly string[], finalizer = 'homeostat.dev/removal') {
  const world = new DefinitionWorld();
  const put = (name: string) =>
    world.cluster.server.put({
      apiVersion: 'homeostat.dev/v1alpha1',
      kind: 'OperatorDefinition',
      metadata: { name, finalizers: [finalizer] },
      spec: { removalPolicy: 'Delete' },
    });
  for (const name of names) put(name);
  const log: string[] = [];
  const logger = createLogger({
    level: 'info',
    destination: { write: (line) => void log.push(JSON.parse(line).msg) },
  });
  const unread = new UnreadRemovals({ objects: world.objects, logger });
  const stopper = new AbortController();
  const ended = unread.run(stopper.signal);
  await settle();
  const before = [...log];
  await world.start();
  const stop = async () => {
    stopper.abort();
    await ended;
    await world.stop();
  };
  return { world, put, unread, log, before, stop };
}

const text =
  'OperatorDefinitions with the finalizer homeostat.dev/removal are not read here, and are not gone when deleted until a runtime with --sources objects has seen to them';

describe('runtime/removal/unread-removals', () => {
  test('objects that wait are a warning with their names, told once when all are known', async () => {
    const { world, put, unread, log, before, stop } = await start(['d', 'a', 'b', 'c']);
    assert.deepEqual(before, []);
    assert.deepEqual(log, [`${text}: a, b, c and 1 more`]);
    put('e');
    await world.settle();
    assert.equal(unread.warning, `${text}: a, b, c and 2 more`);
    assert.equal(log.length, 1);
    await stop();
  });

  test('one that comes later is told then', async () => {
    const { world, put, unread, log, stop } = await start([]);
    assert.equal(unread.warning, undefined);
    put('late');
    await world.settle();
    assert.deepEqual(log, [`${text}: late`]);
    await stop();
  });

  test('finalizers of others are none of our business', async () => {
    const { unread, log, stop } = await start(['a'], 'example.com/theirs');
    assert.deepEqual([unread.warning, log], [undefined, []]);
    await stop();
  });
});
