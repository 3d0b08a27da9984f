import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '#util/kube-object.ts';
import { recordKeysName } from '#util/stored-names.ts';
import { fileOfRightTest, rightTests } from '../../scripts/deploy/right-tests.ts';
import { InstantKubelet, InstantVolumes, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, shippedText, statusOf, thing } from '../support/definitions.ts';
import { matching } from '../support/fault-proxy/index.ts';
import { objectsOf } from '../support/helm/index.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { isReady } from '../support/operator-suite.ts';
import { patienceMs } from '../support/patience.ts';
import {
  expiring,
  foreign,
  leaving,
  narrow,
  oneConfigMap,
  versioned,
} from '../support/rights/definitions-of-tests.ts';
import {
  DeployedRuntime,
  examplesPath,
  type GrantedRight,
  isUsedBy,
  rightText,
} from '../support/rights/index.ts';
import { fullSamples, ownedObjects, withoutChildren } from '../support/rights/stage.ts';

// The plugin is on in some distributions: a client that names an owner must be allowed to hold up its deletion.
const shared = useControlPlane({
  audit: true,
  admissionPlugins: ['OwnerReferencesPermissionEnforcement'],
});

/** The operators of deploy/manifests, in the order of their files. */
const names = [
  'air-conditioner',
  'config-copy',
  'config-journal',
  'database',
  'foobar',
  'podset',
  'tenant',
  'virtual-machine',
];

/** Where children of the shipped operators are. */
const collections = [
  '/api/v1/configmaps',
  '/api/v1/namespaces',
  '/api/v1/persistentvolumeclaims',
  '/api/v1/pods',
  '/api/v1/resourcequotas',
  '/api/v1/secrets',
  '/api/v1/services',
  '/apis/apps/v1/deployments',
  '/apis/batch/v1/jobs',
  '/apis/networking.k8s.io/v1/networkpolicies',
  '/apis/rbac.authorization.k8s.io/v1/rolebindings',
  '/apis/rbac.authorization.k8s.io/v1/roles',
];

/** Rights that no request is made with: the server asks for them while it does something else. Each has a test that it is needed. */
const askedWithin: readonly ((right: GrantedRight) => boolean)[] = [
  ({ resource, verb }) => verb === 'update' && resource.endsWith('/finalizers'),
  ({ resource, verb }) => verb === 'bind' && resource === 'clusterroles',
];

/** The shipped operators, changed. */
function edited(change: (text: string) => string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.map((name) => [`${name}.yaml`, change(shippedText(`${name}.yaml`))]),
  );
}

/** Rejections of admission that pass by themselves: a namespace that terminates, an owner's kind that is new. */
const passing = /is being terminated|cannot find RESTMapping/;

shared.describe('integration/deploy-rights', () => {
  const kubelets: { stop(): Promise<void> }[] = [];
  let runtime: DeployedRuntime;
  let homeostat: HomeostatRuntime;
  let namespace: string;

  const untilReady = async (sample: KubeObject) => {
    const client = shared.client();
    return client.untilObject(await client.pathOf(sample), isReady);
  };
  const work = (where: string) => {
    const client = shared.client();
    const kubelet = new InstantKubelet(client);
    // Pods of Jobs are ended by the test.
    kubelet.start({ namespace: where, selector: '!batch.kubernetes.io/job-name' });
    const volumes = new InstantVolumes(client);
    volumes.start(where);
    kubelets.push(kubelet, volumes);
  };

  before(async () => {
    runtime = await DeployedRuntime.install(shared);
    // Somebody is faster, once for each kind: what is there is looked at then.
    const created = (await runtime.rights()).filter(({ verb }) => verb === 'create');
    for (const resource of new Set(created.map((right) => right.resource)))
      runtime.rejectOnce(
        `${resource} are there already`,
        // The Secret of keys is read by its watch only: it must not use up the rejection after which a child is read.
        (request) =>
          matching({ verb: 'apply', resource })(request) && request.name !== recordKeysName,
      );
    runtime.rejectOnce(
      'the keys are there already',
      ({ verb, name }) => verb === 'apply' && name === recordKeysName,
    );
    homeostat = runtime.start();
  });
  after(async () => {
    await runtime?.stop();
    await Promise.all(kubelets.map((each) => each.stop()));
  });

  test('the runtime starts', async () => {
    await homeostat.whenLoggedTimes('Definition running', names.length);
    // The garbage collector looks for new kinds every 30 s only.
    await shared.plane.restartControllerManager();
  });

  test('resources are made', async () => {
    const client = shared.client();
    namespace = await shared.namespace();
    work(namespace);
    const target = await shared.namespace();
    await client.patch(`/api/v1/namespaces/${target}`, {
      metadata: { labels: { 'config.example.com/group': 'example' } },
    });
    const samples = fullSamples(namespace);
    for (const sample of samples) await client.apply(sample);
    const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
    const [job] = await client.untilList(jobs, (list) => list.length > 0);
    assert.ok(job);
    const fault = runtime.rejectOnce(
      'the resource of the Job has changed',
      (request) =>
        request.method === 'PATCH' && matching({ verb: 'other', resource: 'foobars' })(request),
    );
    await new InstantKubelet(client).completeJob(namespace, job.metadata.name);
    for (const sample of samples) if (sample.kind !== 'ConfigMap') await untilReady(sample);
    assert.equal(fault.count, 1);
  });

  test('children are made, reverted, found to belong to another owner, and deleted', async () => {
    const client = shared.client();
    const owned = await ownedObjects(client, collections);
    const paths = new Set(
      owned.map(({ path }) =>
        path.replace(/\/namespaces\/[^/]+(?=\/[^/]+\/)/, '').replace(/\/[^/]+$/, ''),
      ),
    );
    assert.deepEqual([...paths].sort(), [...collections].sort());
    for (const { path, object } of owned) {
      const label = 'homeostat.dev/child';
      const id = object.metadata.labels?.[label];
      assert.ok(id !== undefined, path);
      await client.patch(path, { metadata: { labels: { [label]: 'another' } } });
    }
    for (const { path, object } of owned)
      await client.untilObject(
        path,
        (now) =>
          now?.metadata.labels?.['homeostat.dev/child'] ===
          object.metadata.labels?.['homeostat.dev/child'],
      );
  });

  test('a resource that patches itself', async () => {
    const client = shared.client();
    const path = `/apis/compute.example.com/v1alpha1/namespaces/${namespace}/virtualmachines/machine`;
    const fault = runtime.rejectOnce(
      'the machine has changed',
      matching({ verb: 'apply', resource: 'virtualmachines' }),
    );
    await client.patch(path, { spec: { status: 'creating' } });
    await client.untilObject(
      path,
      (object) => (object?.spec as { readonly status?: string })?.status === 'complete',
    );
    assert.equal(fault.count, 1);
  });

  test('versions are recorded, marked, trimmed and deleted', async () => {
    const client = shared.client();
    const journal = `/apis/journal.example.com/v1alpha1/namespaces/${namespace}/configjournals/example`;
    const target = await shared.namespace();
    await client.patch(`/api/v1/namespaces/${target}`, {
      metadata: { labels: { 'journal.example.com/group': 'example' } },
    });
    const untilVersions = (count: number) =>
      client.untilObject(journal, (each) => statusOf(each).versions === count);
    const objects = [
      { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        spec: {
          paused: true,
          replicas: 0,
          selector: { matchLabels: { a: 'b' } },
          template: {
            metadata: { labels: { a: 'b' } },
            spec: { containers: [{ name: 'a', image: 'a' }] },
          },
        },
      },
    ];
    const before = statusOf(await client.get(journal)).versions as number;
    const fault = runtime.rejectOnce(
      'the journal has changed',
      (request) =>
        request.method === 'PATCH' &&
        matching({ verb: 'other', resource: 'configjournals' })(request),
    );
    let versions = before;
    for (const { kind, ...object } of objects) {
      const metadata = { name: 'recorded', namespace: target };
      const path = await client.pathOf({ ...object, kind, metadata });
      const ask = (to: number) =>
        client.patch(journal, {
          spec: { rollback: { kind, namespace: target, name: 'recorded', to } },
        });
      await client.apply({ ...object, kind, metadata });
      await client.untilList(
        `/apis/apps/v1/namespaces/${target}/controllerrevisions?labelSelector=homeostat.dev/read=${kind === 'ConfigMap' ? 'configs' : 'apps'}`,
        (records) => records.some(({ data }) => JSON.stringify(data).includes('"recorded"')),
      );
      await client.patch(
        path,
        kind === 'ConfigMap' ? { data: { a: '2' } } : { spec: { replicas: 1 } },
      );
      await untilVersions(++versions);
      await ask(1);
      await untilVersions(++versions);
      await client.delete(path);
      await untilVersions(++versions);
      await ask(2);
      await client.untilObject(path, (each) => each !== undefined);
    }
    assert.equal(fault.count, 1);
    await client.delete(journal);
    await client.untilGone(journal);
    await client.untilList(
      '/apis/apps/v1/controllerrevisions?labelSelector=homeostat.dev/recorded-by=config-journal',
      (records) => records.length === 0,
    );
  });

  test('resources are released', async () => {
    const client = shared.client();
    for (const [resource, path] of [
      [
        'configcopies',
        `/apis/config.example.com/v1alpha1/namespaces/${namespace}/configcopies/example`,
      ],
      ['databases', `/apis/data.example.com/v1alpha1/namespaces/${namespace}/databases/example`],
    ] as const) {
      const fault = runtime.rejectOnce(
        `${resource} have changed`,
        (request) => request.method === 'PATCH' && matching({ verb: 'other', resource })(request),
      );
      await client.delete(path);
      if (resource === 'databases')
        await new InstantKubelet(client).completeJob(namespace, 'example-backup');
      await client.untilGone(path);
      assert.equal(fault.count, 1);
    }
  });

  test('a namespace is deleted with what is in it', async () => {
    const client = shared.client();
    const going = await shared.namespace();
    work(going);
    const samples = fullSamples(going).filter(({ kind }) => kind === 'Database');
    for (const sample of samples) await client.apply(sample);
    for (const sample of samples) await untilReady(sample);
    await client.delete(`/api/v1/namespaces/${going}`);
    await client.untilGone(`/api/v1/namespaces/${going}`);
  });

  test('Events are reported, and counted', async () => {
    const client = shared.client();
    const path = `/apis/home.example.com/v1alpha1/namespaces/${namespace}/airconditioners/example`;
    const measure = async (measured: number, cooling: boolean) => {
      await client.patch(path, { spec: { measured } });
      await client.untilObject(path, (object) => statusOf(object).cooling === cooling);
    };
    await measure(18, false);
    await measure(24.5, true);
    await client.untilList(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`, (events) =>
      events.some(
        (event) => (event as { readonly series?: { readonly count: number } }).series?.count === 2,
      ),
    );
  });

  test('another replica continues where the leader ends', async () => {
    const client = shared.client();
    const follower = runtime.start();
    await follower.whenLogged('Follower, another process is the leader');
    await homeostat.stop();
    homeostat = follower;
    await homeostat.whenLogged('Became leader');
    const path = `/apis/apps.example.com/v1alpha1/namespaces/${namespace}/podsets/example`;
    await client.patch(path, { spec: { size: 1 } });
    await client.untilObject(
      path,
      (object) => isReady(object) && statusOf(object).readyReplicas === 1,
    );
  });

  test('definitions are published, and the object of one whose manifest is removed is deleted', async () => {
    const client = shared.client();
    const definitions = '/apis/homeostat.dev/v1alpha1/operatordefinitions';
    await client.untilList(
      definitions,
      (list) => list.length === names.length && list.every((each) => isReady(each)),
    );
    const last = `${definitions}/podset`;
    const revisionOf = (object: KubeObject) => String(statusOf(object).revision);
    const isHeld = (object: KubeObject) => conditionOf(object)?.reason === 'DeletionsHeld';
    // Some of them hold data: their deletion is approved.
    const approveDeletions = async (before: ReadonlySet<string>) => {
      const settled = await client.untilList(definitions, (list) =>
        list.every((each) => isHeld(each) || (isReady(each) && !before.has(revisionOf(each)))),
      );
      for (const object of settled.filter(isHeld)) {
        const { rollout } = statusOf(object) as { readonly rollout?: { readonly to?: string } };
        await client.patch(`${definitions}/${object.metadata.name}`, {
          metadata: { annotations: { 'homeostat.dev/approve-deletions': String(rollout?.to) } },
        });
      }
      return settled.filter(isHeld).map(({ metadata: { name } }) => name);
    };
    const change = async (by: (text: string) => string) => {
      const before = statusOf(await client.get(last)).revision;
      await client.patch(examplesPath, { data: edited(by) });
      await client.untilObject(
        last,
        (object) => isReady(object) && statusOf(object).revision !== before,
      );
    };
    // Nothing but their kinds: what they had made is to go.
    const before = new Set((await client.list(definitions)).map(revisionOf));
    await change(withoutChildren);
    assert.ok((await approveDeletions(before)).includes('tenant'));
    for (const collection of collections)
      await client.untilList(
        `${collection}?labelSelector=homeostat.dev/owner-uid`,
        (left) => left.length === 0,
      );
    await change((text) => text);
    await change((text) => text.replace('busybox', 'other'));
    await client.patch(examplesPath, { data: { 'podset.yaml': null } });
    await client.untilGone(last);
  });

  test('a definition of one namespace writes there and nowhere else', async () => {
    const client = shared.client();
    const here = await shared.namespace();
    const other = `/api/v1/namespaces/${here}/services/other`;
    await client.create(`/api/v1/namespaces/${here}/services`, {
      metadata: { name: 'other' },
      spec: { ports: [{ port: 80 }] },
    });
    await runtime.bring(narrow(here, oneConfigMap));
    // Others are faster, once for each.
    const faults = ['services', 'configmaps'].map((resource) =>
      runtime.rejectOnce(
        `${resource} have changed`,
        (request) => matching({ verb: 'apply', resource })(request) && request.namespace === here,
      ),
    );
    const resource = thing('narrow', here, {});
    await client.apply(resource);
    await untilReady(resource);
    await client.untilObject(other, (object) => object?.metadata.labels?.found === '0');
    assert.ok(await client.get(`/api/v1/namespaces/${here}/configmaps/made`));
    assert.deepEqual(
      faults.map(({ count }) => count),
      [1, 1],
    );
    // The rights of the text before are still there: what it had made is to go.
    const [edit] = objectsOf(narrow(here, ''));
    assert.ok(edit);
    await client.apply(edit);
    await client.untilGone(`/api/v1/namespaces/${here}/configmaps/one`);
  });

  test('a definition for a kind of others releases what matches no more', async () => {
    const client = shared.client();
    await runtime.bring(foreign);
    const labels = { wanted: 'yes' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    const set = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'selected', namespace, labels },
      spec: { replicas: 0, serviceName: 'a', selector: { matchLabels: labels }, template },
    };
    await client.apply(set);
    const child = `/api/v1/namespaces/${namespace}/configmaps/selected`;
    await client.untilObject(child, (object) => object !== undefined);
    await client.patch(await client.pathOf(set), { metadata: { labels: { wanted: null } } });
    await client.untilGone(child);
  });

  test('resources are written again when another version is stored', async () => {
    const client = shared.client();
    const resource = thing('versioned', namespace, {}, 'stored');
    const crd = 'things.versioned.example.com';
    runtime.rejectOnce(
      'the kind has changed',
      (request) => request.verb === 'apply' && request.name === crd,
    );
    await runtime.bring(versioned('v0'));
    await client.apply(resource);
    await untilReady(resource);
    const fault = runtime.rejectOnce(
      'the resource has changed',
      (request) =>
        matching({ verb: 'other', resource: 'things' })(request) && request.namespace === namespace,
    );
    const [edit] = objectsOf(versioned('v1'));
    assert.ok(edit);
    await client.apply(edit);
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await client.untilObject(`${crds}/${crd}`, (kind) => {
      const { storedVersions } = (kind?.status ?? {}) as { readonly storedVersions?: unknown };
      return JSON.stringify(storedVersions) === '["v1"]';
    });
    assert.equal(fault.count, 1);
  });

  test('a resource deletes itself, and withdraws its patches', async () => {
    const client = shared.client();
    const here = await shared.namespace();
    const services = `/api/v1/namespaces/${here}/services`;
    for (const name of ['first', 'second'])
      await client.create(services, { metadata: { name }, spec: { ports: [{ port: 80 }] } });
    await runtime.bring(expiring);
    const fault = runtime.rejectOnce(
      'the resource has changed',
      (request) =>
        request.method === 'PATCH' &&
        matching({ verb: 'other', resource: 'things' })(request) &&
        request.namespace === here,
    );
    const resource = thing('expiring', here, {});
    await client.apply(resource);
    await untilReady(resource);
    const usedOf = async () =>
      (await client.list(services)).map(({ metadata: { labels } }) => labels?.used);
    assert.deepEqual(await usedOf(), ['yes', 'yes']);
    assert.equal(fault.count, 1);
    const path = await client.pathOf(resource);
    await client.patch(path, { spec: { finishedAt: '2020-01-01T00:00:00Z' } });
    await client.untilGone(path);
    assert.deepEqual(await usedOf(), [undefined, undefined]);
  });

  test('a definition is deleted with all that it has made', async () => {
    const client = shared.client();
    const path = await runtime.bring(leaving);
    const resource = thing('leaving', namespace, {});
    await client.apply(resource);
    await untilReady(resource);
    await client.delete(path);
    await client.untilGone(path);
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    assert.equal(await client.get(`${crds}/things.leaving.example.com`), undefined);
  });

  test('every request was allowed', () => {
    const forbidden = runtime
      .requests()
      .filter(
        ({ code, isForbidden, message }) => isForbidden || (code === 403 && !passing.test(message)),
      );
    assert.deepEqual(
      forbidden.map(({ verb, uri, message }) => `${verb} ${uri}: ${message}`),
      [],
    );
  });

  test('every right was used', async () => {
    const granted = (await runtime.rights()).filter(
      (right) => !askedWithin.some((isAsked) => isAsked(right)),
    );
    // What was seen may not be in the log yet.
    const deadline = performance.now() + patienceMs;
    let unused = granted;
    while (unused.length > 0 && performance.now() < deadline) {
      const all = runtime.requests();
      unused = unused.filter((right) => !all.some((request) => isUsedBy(right, request)));
      if (unused.length > 0) await sleep(500);
    }
    assert.deepEqual(unused.map(rightText), []);
  });

  test('every right names a test that there is', () => {
    for (const title of Object.values(rightTests)) {
      const text = readFileSync(fileOfRightTest(title), 'utf8');
      assert.ok(text.includes(`test('${title}', `), title);
    }
  });

  describe('what is asked for while the server does something else', () => {
    before(() => shared.client().patch(examplesPath, { data: edited((text) => text) }));

    test('without the right to name owners no child is made', async () => {
      const client = shared.client();
      await runtime.take(({ resources }) => resources.includes('podsets/finalizers'));
      const podset = fullSamples(namespace).find(({ kind }) => kind === 'PodSet');
      assert.ok(podset);
      const denied = { ...podset, metadata: { name: 'denied', namespace } };
      await client.apply(denied);
      const reported = await client.untilObject(
        await client.pathOf(denied),
        (object) => conditionOf(object)?.reason === 'ApplyFailed',
      );
      assert.match(conditionOf(reported)?.message ?? '', /cannot set blockOwnerDeletion/);
    });

    test('no user binds a role that it may not bind', async () => {
      const client = shared.client();
      await runtime.take(({ verbs }) => verbs.includes('bind'));
      const tenant = fullSamples(namespace).find(({ kind }) => kind === 'Tenant');
      assert.ok(tenant);
      const denied = { ...tenant, metadata: { name: 'denied' } };
      await client.apply(denied);
      const reported = await client.untilObject(await client.pathOf(denied), (object) =>
        /attempting to grant RBAC permissions/.test(conditionOf(object)?.message ?? ''),
      );
      assert.notEqual(conditionOf(reported)?.status, 'True');
    });
  });
});
