import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { type HandmadeChild, planOf } from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

interface Where {
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly kind?: 'ConfigMap' | 'Namespace';
  readonly namespace?: string;
  /** @default 'child' */
  readonly name?: string;
  readonly crossNamespace?: HandmadeChild['crossNamespace'];
  readonly secrecy?: HandmadeChild['secrecy'];
}

/** What comes of one child in that place: the object, or why there is none. */
async function place({ scope = 'Namespaced', kind = 'ConfigMap', ...where }: Where) {
  const { name = 'child', namespace, crossNamespace, secrecy } = where;
  const child: HandmadeChild = {
    id: 'child',
    apiVersion: 'v1',
    kind,
    ...(crossNamespace !== undefined && { crossNamespace }),
    ...(secrecy !== undefined && { secrecy }),
    template: () => ({ metadata: { name, ...(namespace && { namespace }) } }),
  };
  const harness = new OperatorHarness(planOf({ children: [child], scope }));
  await harness.start();
  const metadata = { name: 'a', ...(scope === 'Namespaced' && { namespace: 'default' }) };
  const gvk = gvkOf('apps.example.com/v1', 'PodSet');
  harness.cluster.server.put({
    apiVersion: 'apps.example.com/v1',
    kind: 'PodSet',
    metadata,
    spec: {},
  });
  await harness.settle();
  const [made] = harness.cluster.server.list(gvkOf('v1', kind)).map(({ object }) => object);
  const resource = harness.cluster.server.get(gvk, metadata.namespace || undefined, 'a')?.object;
  return { harness, made, resource, why: messageOf(resource) };
}

function messageOf(object: KubeObject | undefined): string {
  const { conditions = [] } = (object?.status ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly message: string }[];
  };
  return conditions.find(({ type }) => type === 'Ready')?.message ?? '';
}

describe('reconcile/child/placement', () => {
  const allowed: readonly (readonly [string, Where, string | undefined, 'owned' | 'labelled'])[] = [
    ['the namespace of its resource', {}, 'default', 'owned'],
    ['the same, said so', { namespace: 'default' }, 'default', 'owned'],
    ['another, on purpose', { namespace: 'b', crossNamespace: true }, 'b', 'labelled'],
    [
      'one within globs',
      { namespace: 'team-a', crossNamespace: { namespaces: ['team-*'] } },
      'team-a',
      'labelled',
    ],
    ['none', { kind: 'Namespace', crossNamespace: true }, undefined, 'labelled'],
    [
      'none, called within globs',
      { kind: 'Namespace', name: 'team-a', crossNamespace: { namespaces: ['team-*'] } },
      undefined,
      'labelled',
    ],
    [
      'one of Kubernetes itself that globs name',
      { namespace: 'kube-system', crossNamespace: { namespaces: ['*', 'kube-system'] } },
      'kube-system',
      'labelled',
    ],
    ['any, of a cluster-scoped resource', { scope: 'Cluster', namespace: 'b' }, 'b', 'owned'],
    [
      'none, of a cluster-scoped resource',
      { scope: 'Cluster', kind: 'Namespace' },
      undefined,
      'owned',
    ],
    [
      'one within globs, of a cluster-scoped resource',
      { scope: 'Cluster', namespace: 'team-a', crossNamespace: { namespaces: ['team-*'] } },
      'team-a',
      'owned',
    ],
  ];
  for (const [what, where, namespace, by] of allowed) {
    test(`a child may be in ${what}`, async () => {
      const { harness, made, resource, why } = await place(where);
      assert.ok(made, why);
      assert.equal(made.metadata.namespace, namespace);
      const { uid = '' } = resource?.metadata ?? {};
      assert.equal(made.metadata.labels?.['homeostat.dev/owner-uid'], uid);
      const owner = made.metadata.ownerReferences?.[0]?.uid;
      assert.equal(owner, by === 'owned' ? uid : undefined);
      const held = resource?.metadata.finalizers ?? [];
      assert.deepEqual(held, by === 'owned' ? [] : ['homeostat.dev/podset']);
      // Idle, wherever it is.
      const [key] = [...harness.operator.keys()];
      harness.cluster.takeWrites();
      await harness.runOne(key ?? '');
      assert.deepEqual(harness.cluster.requests, []);
    });
  }

  const rejected: readonly (readonly [string, Where, RegExp])[] = [
    [
      'another namespace by accident',
      { namespace: 'b' },
      /"b" is not the namespace of the resource; set "crossNamespace" to allow it/,
    ],
    [
      'one beyond its globs',
      { namespace: 'b', crossNamespace: { namespaces: ['team-*'] } },
      /"b" matches none of "crossNamespace.namespaces"/,
    ],
    [
      'that of the runtime',
      { namespace: 'homeostat-system', crossNamespace: { namespaces: ['*'] } },
      /is a namespace of the Homeostat runtime/,
    ],
    [
      'that of the definitions',
      { namespace: 'operators', crossNamespace: { namespaces: ['*'] } },
      /is a namespace of the Homeostat runtime/,
    ],
    [
      'that of the runtime, of a cluster-scoped resource',
      { scope: 'Cluster', namespace: 'homeostat-system' },
      /is a namespace of the Homeostat runtime/,
    ],
    [
      'one of Kubernetes itself that no glob names',
      { namespace: 'kube-system', crossNamespace: { namespaces: ['*'] } },
      /"kube-system" is a system namespace; list its name in "crossNamespace.namespaces"/,
    ],
    [
      'what is no name of a namespace, though globs match it',
      { namespace: 'team-a/../kube-system', crossNamespace: { namespaces: ['team-*'] } },
      /metadata.namespace: Expected a namespace name/,
    ],
    [
      'a Namespace of Kubernetes itself that it is called after',
      { kind: 'Namespace', name: 'kube-system', crossNamespace: { namespaces: ['*'] } },
      /metadata.name: "kube-system" is a system namespace/,
    ],
    [
      'a Namespace of the runtime that it is called after',
      { kind: 'Namespace', name: 'homeostat-system', crossNamespace: true },
      /metadata.name: "homeostat-system" is a namespace of the Homeostat runtime/,
    ],
    [
      'a Namespace of the runtime, of a cluster-scoped resource',
      { scope: 'Cluster', kind: 'Namespace', name: 'operators' },
      /metadata.name: "operators" is a namespace of the Homeostat runtime/,
    ],
    [
      'a Namespace beyond its globs',
      { kind: 'Namespace', name: 'b', crossNamespace: { namespaces: ['team-*'] } },
      /metadata.name: "b" matches none of "crossNamespace.namespaces"/,
    ],
    [
      'the Namespace of its resource, which its globs do not match',
      { kind: 'Namespace', name: 'default', crossNamespace: { namespaces: ['team-*'] } },
      /metadata.name: "default" matches none of "crossNamespace.namespaces"/,
    ],
    [
      'none by accident',
      { kind: 'Namespace' },
      /"Namespace" is cluster-scoped; set "crossNamespace" to allow it/,
    ],
    [
      'a namespace that its kind does not have',
      { kind: 'Namespace', namespace: 'b', crossNamespace: true },
      /Expected none, "Namespace" is cluster-scoped; found "b"/,
    ],
    [
      'no namespace that anybody knows',
      { scope: 'Cluster' },
      /Expected a namespace, the resource is cluster-scoped; found none/,
    ],
  ];
  for (const [what, where, message] of rejected) {
    test(`a child may not be in ${what}`, async () => {
      const { harness, made, why } = await place(where);
      assert.equal(made, undefined);
      assert.match(why, message);
      const applied = harness.cluster.takeWrites().filter((write) => write.startsWith('apply'));
      assert.deepEqual(applied, []);
    });

    test(`where its place may come from a Secret, that is not quoted: ${what}`, async () => {
      const { why } = await place({ ...where, secrecy: 'all' });
      assert.notEqual(why, '');
      for (const quoted of [where.namespace ?? 'child', where.name ?? 'child'])
        assert.equal(why.includes(`"${quoted}"`), false, why);
    });
  }
});
