import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ audit: true, controllerManager: false });
const startHomeostat = useHomeostat(shared);

const kept = thingDefinition(
  'kept',
  `  vars: { password: "\${ observed.secret.data.password ?? $base64encode($randomString(20)) }" }
  children:
    - id: secret
      template:
        apiVersion: v1
        kind: Secret
        metadata: { name: "\${ metadata.name }", annotations: { note: "\${ spec.note }" } }
        data: { password: "\${ vars.password }" }
    - id: user
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { digest: "\${ $hash(vars.password) }" }
`,
);

const web = (replicas: string) => `  children:
    - id: web
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec:
          replicas: ${replicas}
          selector: { matchLabels: { app: "\${ metadata.name }" } }
          template:
            metadata: { labels: { app: "\${ metadata.name }" } }
            spec: { containers: [{ name: web, image: "\${ spec.image }" }] }
  status: { replicas: "\${ observed.web.spec.replicas }" }
`;
const scaled = thingDefinition(
  'scaled',
  web(`'\${ spec.auto ? observed.web.spec.replicas ?? 1 : spec.size }'`),
);

const map = (fields: string, kind = 'ConfigMap', more = '') => `  children:
    - id: map
      ${fields}
      template:
        apiVersion: v1
        kind: ${kind}
        metadata: { name: "\${ metadata.name }" }
        ${more}
        ${kind === 'Secret' ? 'stringData' : 'data'}: { text: "\${ spec.text }" }
`;
const definitions = {
  'kept.yaml': kept,
  'scaled.yaml': scaled,
  'anew.yaml': thingDefinition('anew', map('updateStrategy: { type: Recreate }')),
  'fixed.yaml': thingDefinition(
    'fixed',
    map('updateStrategy: { type: Recreate }', 'Secret', 'immutable: true'),
  ),
  'alone.yaml': thingDefinition('alone', map('updateStrategy: { type: OnDelete }')),
  'taken.yaml': thingDefinition('taken', map('adopt: IfUnowned')),
  'owning.yaml': thingDefinition('owning', map('adopt: IfUnowned\n      deletionPolicy: Delete')),
};

const mapPath = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps/one`;
const secretPath = (namespace: string) => `/api/v1/namespaces/${namespace}/secrets/one`;
const webPath = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/deployments/one`;

interface Data extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: readonly { image: string }[] } };
  };
}

/** Applies a Thing and waits until it is ready. */
async function settled(definition: string, namespace: string, spec: unknown): Promise<KubeObject> {
  const client = shared.client();
  const applied = await client.apply(thing(definition, namespace, spec));
  return client.untilObject(
    thingPath(definition, namespace),
    (object) =>
      conditionOf(object)?.status === 'True' &&
      statusOf(object).observedGeneration === applied.metadata.generation,
  ) as Promise<KubeObject>;
}

async function textIs(namespace: string, text: string): Promise<Data> {
  const found = await shared
    .client()
    .untilObject<Data>(mapPath(namespace), (object) => object?.data?.text === text);
  assert.ok(found);
  return found;
}

/** The operator has nothing more to do, and does nothing. */
async function atRest(): Promise<void> {
  await shared.audit.quiet(1_500);
}

shared.describe('integration/children-life', () => {
  let homeostat: HomeostatRuntime;

  before(async () => {
    homeostat = await startHomeostat(definitions);
  });

  describe('observed', () => {
    /** A Thing with its Secret and who uses it. */
    async function withPassword() {
      const namespace = await shared.namespace();
      await settled('kept', namespace, { note: 'one' });
      const client = shared.client();
      const secret = await client.get<Data>(secretPath(namespace));
      const user = await client.get<Data>(mapPath(namespace));
      const password = secret?.data?.password;
      assert.ok(secret && password && user);
      return { namespace, client, secret, password, digest: user.data?.digest, user };
    }

    type Made = Awaited<ReturnType<typeof withPassword>>;

    async function isUnchanged({ namespace, client, secret, password, digest, user }: Made) {
      const now = await client.get<Data>(secretPath(namespace));
      assert.equal(now?.metadata.uid, secret.metadata.uid);
      assert.equal(now?.data?.password, password);
      const using = await client.get<Data>(mapPath(namespace));
      assert.equal(using?.data?.digest, digest);
      // Not even for a moment.
      assert.equal(using?.metadata.resourceVersion, user.metadata.resourceVersion);
    }

    test('a password is made once: an edit, and a label that a user takes off, leave it', async () => {
      const made = await withPassword();
      const { client, namespace } = made;
      await settled('kept', namespace, { note: 'two' });
      await isUnchanged(made);
      const label = 'homeostat.dev/owner-uid';
      await client.patch(secretPath(namespace), { metadata: { labels: { [label]: null } } });
      await client.untilObject(
        secretPath(namespace),
        (object) => object?.metadata.labels?.[label] !== undefined,
      );
      await atRest();
      await isUnchanged(made);
    });

    test('a password outlives a restart, with an edit while no process runs', async () => {
      const made = await withPassword();
      assert.equal(await homeostat.stop('SIGKILL'), null);
      await shared.client().apply(thing('kept', made.namespace, { note: 'three' }));
      homeostat = await startHomeostat(definitions);
      await made.client.untilObject(
        secretPath(made.namespace),
        (object) => object?.metadata.annotations?.note === 'three',
      );
      await atRest();
      await isUnchanged(made);
    });

    test('a Secret that is deleted and comes back from a backup keeps its password', async () => {
      const { client, namespace, secret, password } = await withPassword();
      const { resourceVersion: _, uid: __, creationTimestamp: ___, ...metadata } = secret.metadata;
      await client.delete(secretPath(namespace));
      // No matter which is first: the backup is an edit of the recreated object then, and its value counts.
      await client.apply(
        { ...secret, metadata: { ...metadata, managedFields: undefined } } as KubeObject,
        {
          fieldManager: 'backup',
        },
      );
      await client.untilObject<Data>(
        secretPath(namespace),
        (object) => object?.data?.password === password,
      );
      await atRest();
      assert.equal((await client.get<Data>(secretPath(namespace)))?.data?.password, password);
    });

    test('an autoscaler has the replicas without a conflict, until it is switched off', async () => {
      const namespace = await shared.namespace();
      const client = shared.client();
      // No controller makes a Deployment ready here.
      await client.apply(thing('scaled', namespace, { auto: true, size: 2, image: 'one' }));
      const path = webPath(namespace);
      await client.untilObject<Deployment>(path, (object) => object?.spec.replicas === 1);
      // The line of its creation may come after the watch event.
      await atRest();
      const mark = shared.audit.mark();
      for (const replicas of [3, 5, 4]) {
        await client.patch(`${path}/scale`, { spec: { replicas } });
        await client.untilObject(
          thingPath('scaled', namespace),
          (object) => statusOf(object).replicas === replicas,
        );
      }
      await atRest();
      const applies = shared.audit
        .entries({ since: mark })
        .filter(({ verb, resource }) => verb === 'patch' && resource === 'deployments');
      assert.deepEqual(applies, []);
      // An edit at the same time as it scales.
      await Promise.all([
        client.patch(`${path}/scale`, { spec: { replicas: 6 } }),
        client.apply(thing('scaled', namespace, { auto: true, size: 2, image: 'two' })),
      ]);
      await client.untilObject<Deployment>(
        path,
        (object) => object?.spec.template.spec.containers[0]?.image === 'two',
      );
      await atRest();
      assert.equal((await client.get<Deployment>(path))?.spec.replicas, 6);
      await client.apply(thing('scaled', namespace, { auto: false, size: 2, image: 'two' }));
      await client.untilObject<Deployment>(path, (object) => object?.spec.replicas === 2);
      await client.apply(thing('scaled', namespace, { auto: true, size: 2, image: 'two' }));
      await client.patch(`${path}/scale`, { spec: { replicas: 3 } });
      await client.untilObject(
        thingPath('scaled', namespace),
        (object) => statusOf(object).replicas === 3,
      );
      await atRest();
      assert.equal((await client.get<Deployment>(path))?.spec.replicas, 3);
    });
  });

  describe('updateStrategy', () => {
    test('Recreate: a changed intent creates the object again; drift is reverted, foreign fields stay', async () => {
      const namespace = await shared.namespace();
      const client = shared.client();
      await settled('anew', namespace, { text: 'one' });
      const first = await textIs(namespace, 'one');
      await client.patch(mapPath(namespace), { data: { theirs: 'kept' } });
      await client.patch(mapPath(namespace), { data: { text: 'meddled' } });
      const mended = await textIs(namespace, 'one');
      assert.equal(mended.metadata.uid, first.metadata.uid);
      assert.equal(mended.data?.theirs, 'kept');
      await settled('anew', namespace, { text: 'two' });
      const second = await textIs(namespace, 'two');
      assert.notEqual(second.metadata.uid, first.metadata.uid);
      assert.deepEqual(second.data, { text: 'two' });
      await atRest();
    });

    test('Recreate: what the server does not let change is replaced, a Secret without a hash of its values', async () => {
      const namespace = await shared.namespace();
      const client = shared.client();
      await settled('fixed', namespace, { text: 'one' });
      const first = await client.get<Data>(secretPath(namespace));
      assert.equal(first?.metadata.annotations?.['homeostat.dev/intent'], undefined);
      await settled('fixed', namespace, { text: 'two' });
      const second = await client.get<Data>(secretPath(namespace));
      assert.notEqual(second?.metadata.uid, first?.metadata.uid);
      assert.equal(second?.data?.text, Buffer.from('two').toString('base64'));
      await atRest();
    });

    test('OnDelete: what is there is left alone, what is deleted comes back with the newest template', async () => {
      const namespace = await shared.namespace();
      const client = shared.client();
      await settled('alone', namespace, { text: 'one' });
      await client.patch(mapPath(namespace), { data: { text: 'meddled' } });
      await settled('alone', namespace, { text: 'two' });
      await atRest();
      await textIs(namespace, 'meddled');
      await client.delete(mapPath(namespace));
      await textIs(namespace, 'two');
    });
  });

  describe('adopt: IfUnowned', () => {
    const theirs = (namespace: string, more: Partial<KubeObject['metadata']> = {}): KubeObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'one', namespace, labels: { team: 'x' }, ...more },
      data: { theirs: 'kept', text: 'before' },
    });

    test('an object without an owner is adopted, and released when the resource is deleted', async () => {
      const namespace = await shared.namespace();
      const client = shared.client();
      const before = await client.apply(theirs(namespace));
      await settled('taken', namespace, { text: 'one' });
      const taken = await textIs(namespace, 'one');
      assert.equal(taken.metadata.uid, before.metadata.uid);
      assert.equal(taken.data?.theirs, 'kept');
      await client.patch(mapPath(namespace), { data: { text: 'meddled' } });
      await textIs(namespace, 'one');
      await atRest();
      await client.delete(thingPath('taken', namespace));
      await client.untilGone(thingPath('taken', namespace));
      const left = await client.get<Data>(mapPath(namespace));
      assert.equal(left?.metadata.uid, before.metadata.uid);
      assert.deepEqual(left?.data, { theirs: 'kept', text: 'one' });
      assert.doesNotMatch(
        JSON.stringify([left.metadata.labels, left.metadata.annotations ?? {}]),
        /homeostat/,
      );
      // Its successor takes it over again.
      await settled('taken', namespace, { text: 'two' });
      assert.equal((await textIs(namespace, 'two')).metadata.uid, before.metadata.uid);
    });

    test('what it has made itself is deleted with the resource', async () => {
      const namespace = await shared.namespace();
      const client = shared.client();
      await settled('taken', namespace, { text: 'one' });
      await client.delete(thingPath('taken', namespace));
      await client.untilGone(thingPath('taken', namespace));
      assert.equal(await client.get(mapPath(namespace)), undefined);
    });

    test('with `deletionPolicy: Delete` written what was taken over has an owner like any other', async () => {
      const namespace = await shared.namespace();
      const client = shared.client();
      await client.apply(theirs(namespace));
      const owner = await settled('owning', namespace, { text: 'one' });
      const taken = await textIs(namespace, 'one');
      assert.equal(taken.metadata.ownerReferences?.[0]?.uid, owner.metadata.uid);
    });

    test('what another controller owns is left alone, and taken when it gives it up', async () => {
      const namespace = await shared.namespace();
      const client = shared.client();
      const controller = await client.apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'controller', namespace },
      });
      const reference = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'controller',
        uid: controller.metadata.uid ?? '',
        controller: true,
      };
      const before = await client.apply(theirs(namespace, { ownerReferences: [reference] }));
      await client.apply(thing('taken', namespace, { text: 'one' }));
      await client.untilObject(
        thingPath('taken', namespace),
        (object) => conditionOf(object)?.reason === 'Conflict',
      );
      await atRest();
      const live = await client.get<Data>(mapPath(namespace));
      assert.equal(live?.metadata.resourceVersion, before.metadata.resourceVersion);
      await client.patch(mapPath(namespace), { metadata: { ownerReferences: null } });
      await textIs(namespace, 'one');
    });
  });
});
