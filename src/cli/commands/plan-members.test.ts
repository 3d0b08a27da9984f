import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeCluster } from '#kube';
import { definitionParser } from '../../../test/support/definition-parser.ts';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { CliError } from '../exit-code.ts';
import type { ClusterSession } from './cluster-session.ts';
import { planMembers } from './plan-members.ts';

const inMembers = thingDefinition('thing', '  controller: { clusters: { selector: all } }\n');
const onHub = thingDefinition('thing', '');

function located(text: string) {
  return definitionParser.parse(text, 'thing.yaml').definitions;
}

/** A cluster that answers with its UID and its `Cluster` objects. */
function clusterWith(uid: string, items: readonly object[] = []): KubeCluster {
  const request = async ({ path }: { readonly path: string }) => ({
    status: 200,
    body: path.endsWith('/clusters') ? { items } : { metadata: { uid } },
  });
  return { api: { request } } as unknown as KubeCluster;
}

const member = (name: string, uid?: string) => ({
  metadata: { name, labels: { tier: 'prod' } },
  status: uid === undefined ? {} : { uid },
});

function sessionOf(contexts: Readonly<Record<string, string>>): ClusterSession {
  const items = [member('paris', 'a'), member('oslo', 'b'), member('rome', 'c'), member('new')];
  return {
    cluster: clusterWith('hub-uid', items),
    signal: new AbortController().signal,
    connectContext: async (name: string) => {
      const uid = contexts[name];
      if (uid === undefined) throw new CliError(`There is no context "${name}"`);
      return clusterWith(uid);
    },
  } as unknown as ClusterSession;
}

describe('cli/plan-members', () => {
  test('a member is reached by its context, if that leads to the recorded cluster', async () => {
    const found = await planMembers(
      located(inMembers),
      sessionOf({ paris: 'a', oslo: 'another', new: 'd' }),
    );
    assert.equal(found?.hubUid, 'hub-uid');
    assert.deepEqual(
      found.reached.map(({ name, uid, labels }) => ({ name, uid, labels })),
      [{ name: 'paris', uid: 'a', labels: { tier: 'prod' } }],
    );
    assert.deepEqual(
      found.unreached.map(({ name, reason }) => `${name}: ${reason}`),
      [
        'oslo: the context "oslo" of the kubeconfig leads to another cluster',
        'rome: There is no context "rome"',
        'new: the runtime was never connected to it',
      ],
    );
  });

  test('without a definition that uses members, nothing is asked', async () => {
    assert.equal(await planMembers(located(onHub), {} as ClusterSession), undefined);
  });
});
