import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { copierDefinition, copyPath, untilCopied } from '../support/copier.ts';
import { thing } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true, controllerManager: false });
const launch = useRuntimes(shared);

/** Longer than any delay between two attempts, and than a connection stays open without use. Where time is the real one, not by much. */
const longSeconds = process.env.HOMEOSTAT_TEST_BACKEND === 'sandbox' ? 180 : 75;

shared.describe('integration/outage', () => {
  for (const [duration, seconds] of [
    ['ten seconds', 10],
    ['longer than any delay', longSeconds],
  ] as const)
    test(`the API server is unreachable for ${duration}: the same process continues, and creates nothing twice`, async () => {
      const name = `away${seconds}`;
      const namespace = await shared.namespace();
      const path = copyPath(name, namespace);
      const client = shared.client();
      const since = shared.audit.mark();
      const runtime = launch({ definitions: { 'copier.yaml': copierDefinition(name, 1) } });
      await runtime.whenReady();
      await client.apply(thing(name, namespace, { text: 'one' }));
      const before = await untilCopied(client, path, { version: 1, text: 'one' });

      await shared.plane.stopApiServer();
      await runtime.whenLogged(
        'The API server is unreachable, stopping all controllers until it responds',
      );
      await runtime.clock.sleep(seconds * 1_000, new AbortController().signal);
      await shared.plane.startApiServer();

      await client.apply(thing(name, namespace, { text: 'two' }));
      const after = await untilCopied(client, path, { version: 1, text: 'two' });
      assert.equal(after?.metadata.uid, before?.metadata.uid);
      await client.apply(thing(name, namespace, { text: 'one' }, 'next'));
      await client.untilObject(path.replace('one-', 'next-'), (copy) => copy !== undefined);
      const created = () =>
        shared.audit
          .entries({ user: 'operator', since })
          .filter(({ resource, status }) => resource === 'configmaps' && status === 201)
          .map((entry) => entry.name);
      await shared.audit.untilSeen(() => created().includes(`next-${name}`), { since });
      assert.deepEqual(created(), [`one-${name}`, `next-${name}`]);
      assert.equal(await runtime.stop(), 0);
    });
});
