import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, statusOf } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { ApiServer } from '../support/http-objects/api-server.ts';
import { endpointObject, httpObject } from '../support/http-objects/test-objects.ts';

const shared = useControlPlane({ audit: true, controllerManager: false });
const launch = useRuntimes(shared);

shared.describe('integration/http-objects-leader', () => {
  let server: ApiServer;
  before(async () => {
    await shared.client().apply({
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'homeostat-system' } },
    });
    server = await ApiServer.start({
      note: () => shared.plane.time?.note(),
      collections: [{ path: '/records', key: 'id', idBy: 'server', envelope: 'result' }],
    });
  });
  after(() => server?.stop());

  /** A replica; a short Lease, because the test waits for its end. */
  const replica = () =>
    launch({
      flags: [
        ...['--sources', 'objects', '--leader-elect', '--http-objects'],
        ...['--lease-duration', '5s', '--renew-deadline', '4s', '--retry-period', '1s'],
        ...['--http-allow', `127.0.0.1:${server.port}`],
      ],
    });

  const spec = (content: string): JsonObject => ({
    desired: { name: 'www', content },
    observe: { path: '/records/{id}', result: '$(body.result)' },
    find: { path: '/records', results: '$(body.result)', match: ['name'] },
    create: { path: '/records' },
    update: { path: '/records/{id}' },
    delete: { path: '/records/{id}' },
    id: '$(result.id)',
  });

  test('the next leader continues with the objects of the last one, and creates none twice', async () => {
    const client = shared.client();
    const first = replica();
    await first.whenLogged('Objects behind HTTP are managed');
    const second = replica();
    const namespace = await shared.namespace();
    await client.apply(endpointObject({ url: server.url }, { namespace }));
    const path = `/apis/homeostat.dev/v1alpha1/namespaces/${namespace}/httpobjects/www`;
    const untilSynced = (content: string) =>
      client.untilObject(path, (object) => {
        const isCurrent = statusOf(object).observedGeneration === object?.metadata.generation;
        const [record] = server.objects('/records').values();
        const isSent = (record as { readonly content?: string } | undefined)?.content === content;
        return isCurrent && isSent && conditionOf(object, 'Synced')?.status === 'True';
      });
    await client.apply(httpObject(spec('a'), { namespace }));
    await untilSynced('a');
    await first.stop('SIGKILL');
    await client.apply(httpObject(spec('b'), { namespace }));
    await second.whenLogged('Objects behind HTTP are managed');
    await untilSynced('b');
    assert.equal(server.count('POST'), 1);
    assert.equal(server.objects('/records').size, 1);
    await client.delete(path);
    await client.untilGone(path);
    assert.equal(server.objects('/records').size, 0);
    await second.stop();
  });
});
