import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { accessOf } from '#runtime/members/member-access.ts';
import { gvkOf } from '#util/gvk.ts';
import { firstState, stateOf } from './support/hostile-connection.ts';
import { listText, mapText, untilRead, useMembers } from './support/hostile-objects.ts';

const configMap = gvkOf('v1', 'ConfigMap');
const healthy = { list: listText(mapText('a', '{}')) };
/** A list that has a further page. */
const page = (token: string, version: string, ...items: readonly string[]) =>
  `{"kind":"ConfigMapList","metadata":{"resourceVersion":"${version}","continue":"${token}"},"items":[${items.join(',')}]}`;

describe('attacks/members: lists and watches that lie', () => {
  for (const [what, pageOf] of [
    ['have no object', (count: number) => page(`t${count}`, '7')],
    ['have the same object', (count: number) => page(`t${count}`, '7', mapText('a', '{}'))],
    ['have the same token', (count: number) => page('t', '7', mapText(`a${count}`, '{}'))],
    [
      'have a version of a megabyte',
      (count: number) => page(`t${count}`, '7'.repeat(1_000_000), mapText(`a${count}`, '{}')),
    ],
  ] as const)
    test(`pages that ${what} end the list, and others are read`, async () => {
      let pages = 0;
      const list = () => {
        pages += 1;
        // Without the check, the list would not end.
        if (pages > 20) throw new Error('Expected the list to end');
        return pageOf(pages);
      };
      await useMembers({ hostile: { list }, healthy }, async (clusters) => {
        assert.equal(await untilRead(clusters.hostile), 'unexpected');
        assert.ok(pages <= 3, String(pages));
        assert.equal(await untilRead(clusters.healthy), 1);
      });
    });

  for (const [what, version] of [
    ['of a megabyte', '7'.repeat(1_000_000)],
    ['with control characters', '\\u001b]0;owned\\u0007'],
  ] as const)
    test(`a bookmark with a version ${what} is no bookmark`, async () => {
      const urls: string[] = [];
      const again = Promise.withResolvers<void>();
      const hostile = {
        list: listText(),
        watch: `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"${version}"}}}\n`,
        onWatch(path: string) {
          urls.push(path);
          if (urls.length === 2) again.resolve();
        },
      };
      await useMembers({ hostile }, async (clusters) => {
        const informer = clusters.hostile?.acquire({ gvk: configMap });
        await again.promise;
        assert.deepEqual(
          urls.map((url) => new URL(url, 'http://a').searchParams.get('resourceVersion')),
          ['7', '7'],
        );
        informer?.release();
      });
    });

  test('bookmarks of the far future do not stop the reading of other members', async () => {
    const hostile = {
      list: listText(),
      watch: `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"${'9'.repeat(60)}"}}}\n`,
    };
    await useMembers({ hostile, healthy }, async (clusters, exceeded) => {
      assert.equal(await untilRead(clusters.hostile), 0);
      assert.equal(await untilRead(clusters.healthy), 1);
      assert.deepEqual(exceeded, []);
    });
  });
});

describe('attacks/members: kubeconfigs and answers', () => {
  /** What a Secret with this kubeconfig gives. */
  const accessWith = (kubeconfig: string) =>
    accessOf(
      { secret: { name: 'a' } } as Parameters<typeof accessOf>[0],
      { namespace: 'a', allowed: ['a'] },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'a' },
        data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
      },
    );
  const withAuthority = (pem: string) => {
    const authority = Buffer.from(pem).toString('base64');
    const server = 'https://127.0.0.1:1';
    const cluster = { server, 'certificate-authority-data': authority };
    return JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [{ name: 'a', cluster }],
      users: [{ name: 'a', user: { token: 'a' } }],
    });
  };

  for (const [what, kubeconfig] of [
    ['with a certificate authority of a megabyte', withAuthority('-'.repeat(1_000_000))],
    ['of 200 kB of maps', `a: [${'{},'.repeat(66_000)}{}]`],
    ['of 200 kB of lines', 'a:\n'.repeat(66_000)],
  ] as const)
    test(`a kubeconfig ${what} is not parsed`, () => {
      const access = accessWith(kubeconfig);
      assert.ok('reason' in access);
      assert.equal(access.reason, 'InvalidKubeconfig');
      assert.match(access.message, /^The kubeconfig may have at most 262144 characters and 5000/);
    });

  test('a certificate authority of 100 kB without a certificate fails alone', async () => {
    const access = accessWith(withAuthority('-----BEGIN CERTIFICATE-----\n'.repeat(4_000)));
    assert.ok('config' in access);
    const { state } = await stateOf(access.config);
    assert.ok(state.kind !== 'connected' && state.failure !== undefined);
    await useMembers({ healthy }, async (clusters) => {
      assert.equal(await untilRead(clusters.healthy), 1);
    });
  });

  test('a storm of 403 is Forbidden, with one attempt for each pause', async () => {
    let requests = 0;
    const { state } = await firstState(() => {
      requests += 1;
      return { status: 403, body: { kind: 'Status', code: 403, message: 'no' } };
    });
    assert.equal(state.kind === 'failed' && state.failure.reason, 'Forbidden');
    assert.equal(requests, 1);
  });

  test('a storm of 403 to lists and watches costs one request for each pause', async () => {
    const paths: string[] = [];
    const hostile = {
      list: listText(),
      onRequest: (path: string) => {
        paths.push(path);
        return path.startsWith('/api/v1/configmaps')
          ? { status: 403, body: { kind: 'Status', code: 403, message: 'x'.repeat(500_000) } }
          : undefined;
      },
    };
    await useMembers({ hostile, healthy }, async (clusters) => {
      assert.equal(await untilRead(clusters.hostile), 'forbidden');
      assert.equal(await untilRead(clusters.healthy), 1);
      const lists = paths.filter((path) => path.startsWith('/api/v1/configmaps'));
      assert.equal(lists.length, 1);
    });
  });
});
