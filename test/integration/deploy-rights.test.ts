import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { rightsTestFile, rightTests } from '../../scripts/deploy/right-tests.ts';
import type { KubeObject } from '../../src/util/kube-object.ts';
import { InstantKubelet, InstantVolumes, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, shippedText, statusOf, thing } from '../support/definitions.ts';
import { type FaultProxy, matching, startFaultProxy } from '../support/fault-proxy/index.ts';
import { objectsOf } from '../support/helm/index.ts';
import { HomeostatProcess, runCli } from '../support/homeostat-process.ts';
import { isReady } from '../support/operator-suite.ts';
import { patienceMs } from '../support/patience.ts';
import {
  foreign,
  leaving,
  narrow,
  oneConfigMap,
  versioned,
} from '../support/rights/definitions-of-tests.ts';
import {
  auditedRequests,
  type GrantedRight,
  isUsedBy,
  rightsOfRoles,
  rightText,
  tokenOf,
} from '../support/rights/index.ts';
import {
  fullSamples,
  ownedObjects,
  plainManifests,
  withoutChildren,
} from '../support/rights/stage.ts';

// The plugin is on in some distributions: whoever names an owner must be allowed to hold up its deletion.
const shared = useControlPlane({
  audit: true,
  admissionPlugins: ['OwnerReferencesPermissionEnforcement'],
});
const system = 'homeostat-system';
const user = `system:serviceaccount:${system}:homeostat`;
const rbac = 'rbac.authorization.k8s.io';

/** Operators, in the order of their files. */
const names = [
  'air-conditioner',
  'config-copy',
  'database',
  'foobar',
  'podset',
  'tenant',
  'virtual-machine',
  'web-app',
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
  '/apis/autoscaling/v2/horizontalpodautoscalers',
  '/apis/batch/v1/jobs',
  '/apis/networking.k8s.io/v1/ingresses',
  '/apis/networking.k8s.io/v1/networkpolicies',
  `/apis/${rbac}/v1/rolebindings`,
  `/apis/${rbac}/v1/roles`,
];

/** Rights that no request is made with: the server asks for them while it does something else. Each has a test that it is needed. */
const askedWithin: readonly ((right: GrantedRight) => boolean)[] = [
  ({ resource, verb }) => verb === 'update' && resource.endsWith('/finalizers'),
  ({ resource, verb }) => verb === 'bind' && resource === 'clusterroles',
];

const configMap = `/api/v1/namespaces/${system}/configmaps/homeostat-examples`;

/** The shipped operators, changed. */
function edited(change: (text: string) => string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.map((name) => [`${name}.yaml`, change(shippedText(`${name}.yaml`))]),
  );
}

/** Without what the process is told by its test: where it listens, and where it may write. */
function argumentsOfDeployment(): readonly string[] {
  const deployment = plainManifests().find(({ kind }) => kind === 'Deployment') as Deployment;
  const [container] = deployment.spec.template.spec.containers;
  return (container?.args ?? [])
    .slice(1)
    .filter((argument) => !/^--(?:http|state-dir)=/.test(argument))
    .map((argument) => argument.replace('$(POD_NAMESPACE)', system));
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Role extends KubeObject {
  readonly rules: readonly Rule[];
}

interface Deployment extends KubeObject {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
    };
  };
}

/** Refusals of admission that pass by themselves: a namespace that goes, an owner's kind that is new. */
const passing = /is being terminated|cannot find RESTMapping/;

describe('integration/deploy-rights', { skip: shared.skip }, () => {
  const kubelets: { stop(): Promise<void> }[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-rights-'));
  /** Roles that `homeostat rights` has made: their paths. */
  const ownRoles: string[] = [];
  let proxy: FaultProxy;
  let kubeconfig: string;
  let homeostat: HomeostatProcess;
  let namespace: string;

  /** As the Deployment says; the rest is what a Pod has. */
  const start = () =>
    new HomeostatProcess({
      kubeconfig,
      flags: argumentsOfDeployment(),
      env: { HOSTNAME: 'tried' },
    });
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
    const client = shared.client();
    // The runtime installs the kind of definitions itself where it is missing.
    for (const object of plainManifests())
      if (object.kind !== 'CustomResourceDefinition') await client.apply(object);
    // Here nobody puts them together: a role without rules may be bound by everybody.
    const rules = [{ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }];
    for (const name of ['admin', 'edit', 'view'])
      await client.patch(`/apis/${rbac}/v1/clusterroles/${name}`, { rules });
    const token = await tokenOf(client, { namespace: system, name: 'homeostat' });
    const { server, caCertificate, folder } = shared.plane;
    const proxied = await startFaultProxy({ server, caCertificate, folder, token: () => token });
    ({ proxy, kubeconfig } = proxied);
    // Somebody is faster, once for each kind: what is there is looked at then.
    for (const { resource, apiGroup } of rightsOfRoles(await roles()).filter(
      ({ verb }) => verb === 'create',
    ))
      proxy.inject({
        name: `${resource}.${apiGroup} is there already`,
        on: 'request',
        when: (request) => matching({ verb: 'apply', resource })(request),
        action: { kind: 'answer', status: 409 },
        times: 1,
      });
    await untilInForce(rightsOfRoles(await roles()));
    homeostat = start();
  });
  after(async () => {
    await homeostat?.stop('SIGKILL');
    await proxy?.refuse();
    await Promise.all(kubelets.map((each) => each.stop()));
    rmSync(folder, { recursive: true, force: true });
  });

  const isAllowed = async (right: GrantedRight): Promise<boolean> => {
    const [resource, subresource] = right.resource.split('/');
    const { apiGroup: group, verb, namespace: where, names: [name] = [] } = right;
    const resourceAttributes = { group, resource, subresource, verb, name, namespace: where };
    const apiVersion = 'authorization.k8s.io/v1';
    const path = `/apis/${apiVersion}/subjectaccessreviews`;
    const spec = { user, resourceAttributes };
    const review = { apiVersion, kind: 'SubjectAccessReview', spec };
    const { status } = await shared.client().create(path, review);
    return (status as { readonly allowed: boolean }).allowed;
  };

  const roles = async (): Promise<readonly KubeObject[]> => {
    const client = shared.client();
    const wanted = plainManifests().filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole');
    const paths = [...(await Promise.all(wanted.map((role) => client.pathOf(role)))), ...ownRoles];
    const found = await Promise.all(paths.map((path) => client.get(path)));
    return found.filter((role) => role !== undefined);
  };

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
    await new InstantKubelet(client).completeJob(namespace, job.metadata.name);
    for (const sample of samples) if (sample.kind !== 'ConfigMap') await untilReady(sample);
  });

  test('children are made, put back, found in the way, and deleted', async () => {
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
    const fault = proxy.inject({
      name: 'the machine has changed',
      on: 'request',
      when: matching({ verb: 'apply', resource: 'virtualmachines' }),
      action: { kind: 'answer', status: 409 },
      times: 1,
    });
    await client.patch(path, { spec: { status: 'creating' } });
    await client.untilObject(
      path,
      (object) => (object?.spec as { readonly status?: string })?.status === 'complete',
    );
    assert.equal(fault.count, 1);
  });

  test('resources are let go', async () => {
    const client = shared.client();
    for (const [resource, path] of [
      [
        'configcopies',
        `/apis/config.example.com/v1alpha1/namespaces/${namespace}/configcopies/example`,
      ],
      ['databases', `/apis/data.example.com/v1alpha1/namespaces/${namespace}/databases/example`],
    ] as const) {
      const fault = proxy.inject({
        name: `${resource} have changed`,
        on: 'request',
        when: (request) =>
          request.method === 'PATCH' && matching({ verb: 'other', resource })(request),
        action: { kind: 'answer', status: 409 },
        times: 1,
      });
      await client.delete(path);
      if (resource === 'databases')
        await new InstantKubelet(client).completeJob(namespace, 'example-backup');
      await client.untilGone(path);
      assert.equal(fault.count, 1);
    }
  });

  test('a namespace goes with what is in it', async () => {
    const client = shared.client();
    const going = await shared.namespace();
    work(going);
    const samples = fullSamples(going).filter(({ kind }) => kind === 'Database');
    for (const sample of samples) await client.apply(sample);
    for (const sample of samples) await untilReady(sample);
    await client.delete(`/api/v1/namespaces/${going}`);
    await client.untilGone(`/api/v1/namespaces/${going}`);
  });

  test('Events are told, and counted', async () => {
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

  test('another replica goes on where the leader ends', async () => {
    const client = shared.client();
    const follower = start();
    await follower.whenLogged('Follows, another process leads');
    await homeostat.stop();
    homeostat = follower;
    await homeostat.whenLogged('Leads now');
    const path = `/apis/apps.example.com/v1alpha1/namespaces/${namespace}/podsets/example`;
    await client.patch(path, { spec: { size: 1 } });
    await client.untilObject(
      path,
      (object) => isReady(object) && statusOf(object).readyReplicas === 1,
    );
  });

  test('definitions are shown, and the mirror of one that goes is taken away', async () => {
    const client = shared.client();
    const definitions = '/apis/homeostat.dev/v1alpha1/operatordefinitions';
    await client.untilList(
      definitions,
      (list) => list.length === names.length && list.every((each) => isReady(each)),
    );
    const last = `${definitions}/podset`;
    const change = async (by: (text: string) => string) => {
      const before = statusOf(await client.get(last)).revision;
      await client.patch(configMap, { data: edited(by) });
      await client.untilObject(
        last,
        (object) => isReady(object) && statusOf(object).revision !== before,
      );
    };
    // Nothing but their kinds: what they had made is to go.
    await change(withoutChildren);
    for (const collection of collections)
      await client.untilList(
        `${collection}?labelSelector=homeostat.dev/owner-uid`,
        (left) => left.length === 0,
      );
    // Of three revisions two are kept.
    await change((text) => text);
    await change((text) => text.replace('busybox', 'other'));
    await client.patch(configMap, { data: { 'podset.yaml': null } });
    await client.untilGone(last);
  });

  /** The server hears of roles and bindings a little later. */
  const untilInForce = async (given: readonly GrantedRight[]) => {
    for (const right of new Map(given.map((each) => [each.role, each])).values())
      while (!(await isAllowed(right))) await sleep(50);
  };

  /** Gives a definition the rights that are printed for it, and brings it as an object. */
  const bring = async (text: string): Promise<string> => {
    const client = shared.client();
    const [definition] = objectsOf(text);
    assert.ok(definition);
    const { name } = definition.metadata;
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, text);
    const { code, stdout } = await runCli('rights', file, '--name', name);
    assert.equal(code, 0);
    const objects = objectsOf(stdout);
    for (const object of objects) await client.apply(object);
    const given = objects.filter(({ kind }) => kind.endsWith('Role'));
    for (const role of given) ownRoles.push(await client.pathOf(role));
    await untilInForce(rightsOfRoles(given));
    const path = await client.pathOf(definition);
    await client.apply(definition);
    await client.untilObject(path, isReady);
    return path;
  };

  test('a definition of one namespace writes there and nowhere else', async () => {
    const client = shared.client();
    const here = await shared.namespace();
    const other = `/api/v1/namespaces/${here}/services/other`;
    await client.create(`/api/v1/namespaces/${here}/services`, {
      metadata: { name: 'other' },
      spec: { ports: [{ port: 80 }] },
    });
    await bring(narrow(here, oneConfigMap));
    // Others are faster, once for each.
    const faults = ['services', 'configmaps'].map((resource) =>
      proxy.inject({
        name: `${resource} have changed`,
        on: 'request',
        when: (request) =>
          matching({ verb: 'apply', resource })(request) && request.namespace === here,
        action: { kind: 'answer', status: 409 },
        times: 1,
      }),
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

  test('a definition for a kind of others lets go of what matches no more', async () => {
    const client = shared.client();
    await bring(foreign);
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

  test('resources are written anew when another version is stored', async () => {
    const client = shared.client();
    const resource = thing('versioned', namespace, {}, 'stored');
    const crd = 'things.versioned.example.com';
    proxy.inject({
      name: 'the kind has changed',
      on: 'request',
      when: (request) => request.verb === 'apply' && request.name === crd,
      action: { kind: 'answer', status: 409 },
      times: 1,
    });
    await bring(versioned('v0'));
    await client.apply(resource);
    await untilReady(resource);
    const fault = proxy.inject({
      name: 'the resource has changed',
      on: 'request',
      when: (request) =>
        matching({ verb: 'other', resource: 'things' })(request) && request.namespace === namespace,
      action: { kind: 'answer', status: 409 },
      times: 1,
    });
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

  test('a definition goes with all that it has made', async () => {
    const client = shared.client();
    const path = await bring(leaving);
    const resource = thing('leaving', namespace, {});
    await client.apply(resource);
    await untilReady(resource);
    await client.delete(path);
    await client.untilGone(path);
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    assert.equal(await client.get(`${crds}/things.leaving.example.com`), undefined);
  });

  test('every request was allowed', () => {
    const forbidden = requests().filter(
      ({ code, isForbidden, message }) => isForbidden || (code === 403 && !passing.test(message)),
    );
    assert.deepEqual(
      forbidden.map(({ verb, uri, message }) => `${verb} ${uri}: ${message}`),
      [],
    );
  });

  test('every right was used', async () => {
    const granted = rightsOfRoles(await roles()).filter(
      (right) => !askedWithin.some((isAsked) => isAsked(right)),
    );
    // What was seen may not be in the log yet.
    const deadline = performance.now() + patienceMs;
    let unused = granted;
    while (unused.length > 0 && performance.now() < deadline) {
      const all = requests();
      unused = unused.filter((right) => !all.some((request) => isUsedBy(right, request)));
      if (unused.length > 0) await sleep(500);
    }
    assert.deepEqual(unused.map(rightText), []);
  });

  test('every right names a test that there is', () => {
    const text = readFileSync(rightsTestFile, 'utf8');
    for (const title of Object.values(rightTests))
      assert.ok(text.includes(`test('${title}', `), title);
  });

  describe('what is asked for while the server does something else', () => {
    /** Takes rights away; the server hears of it a little later. */
    const without = async (isTaken: (rule: Rule) => boolean) => {
      const client = shared.client();
      const path = `/apis/${rbac}/v1/clusterroles/homeostat-examples`;
      const role = (await client.get(path)) as Role;
      const [taken] = role.rules.filter(isTaken);
      assert.ok(taken);
      await client.patch(path, { rules: role.rules.filter((rule) => !isTaken(rule)) });
      const [right] = rightsOfRoles([{ ...role, rules: [taken] } as Role]);
      while (right !== undefined && (await isAllowed(right))) await sleep(50);
    };

    before(() => shared.client().patch(configMap, { data: edited((text) => text) }));

    test('without the right to name owners no child is made', async () => {
      const client = shared.client();
      await without(({ resources }) => resources.includes('podsets/finalizers'));
      const podset = fullSamples(namespace).find(({ kind }) => kind === 'PodSet');
      assert.ok(podset);
      const denied = { ...podset, metadata: { name: 'denied', namespace } };
      await client.apply(denied);
      const told = await client.untilObject(
        await client.pathOf(denied),
        (object) => conditionOf(object)?.reason === 'ApplyFailed',
      );
      assert.match(conditionOf(told)?.message ?? '', /cannot set blockOwnerDeletion/);
    });

    test('nobody binds a role that he may not bind', async () => {
      const client = shared.client();
      await without(({ verbs }) => verbs.includes('bind'));
      const tenant = fullSamples(namespace).find(({ kind }) => kind === 'Tenant');
      assert.ok(tenant);
      const denied = { ...tenant, metadata: { name: 'denied' } };
      await client.apply(denied);
      const told = await client.untilObject(await client.pathOf(denied), (object) =>
        /attempting to grant RBAC permissions/.test(conditionOf(object)?.message ?? ''),
      );
      assert.notEqual(conditionOf(told)?.status, 'True');
    });
  });

  function requests() {
    const { auditFile } = shared.plane;
    assert.ok(auditFile);
    return auditedRequests(auditFile, user);
  }
});
