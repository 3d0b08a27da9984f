import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { startAdmissionWebhook } from '../support/admission-webhook.ts';
import { skipBefore, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import { untilQuotaExceeded } from '../support/until-quota-exceeded.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const workloads = thingDefinition(
  'workloads',
  `  children:
    - id: web
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: web }
        spec:
          replicas: 0
          selector: { matchLabels: { app: "\${ spec.app }" } }
          template:
            metadata: { labels: { app: "\${ spec.app }" } }
            spec: { containers: [{ name: main, image: busybox }] }
    - id: task
      template:
        apiVersion: batch/v1
        kind: Job
        metadata: { name: task }
        spec:
          suspend: true
          template:
            spec: { restartPolicy: Never, containers: [{ name: main, image: "\${ spec.image }" }] }
`,
);

const claims = thingDefinition(
  'claims',
  `  children:
    - id: data
      template:
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: { name: data }
        spec:
          accessModes: [ReadWriteOnce]
          storageClassName: "\${ spec.class }"
          resources: { requests: { storage: 1Gi } }
`,
);

const configs = thingDefinition(
  'configs',
  `  children:
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: config }, data: { a: "\${ spec.a }" } }
  controller: { retry: { permanent: 2s } }
`,
);

const secrets = thingDefinition(
  'secrets',
  `  reads:
    - { id: source, apiVersion: v1, kind: Secret, name: source }
  children:
    - id: copy
      template: { apiVersion: v1, kind: Secret, metadata: { name: copy }, stringData: { "\${ $base64decode(reads.source.data.key) }": "\${ $base64decode(reads.source.data.value) }" } }
`,
);

const derived = thingDefinition(
  'derived',
  `  reads:
    - { id: source, apiVersion: v1, kind: Secret, name: source }
  children:
    - id: first
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: first }, data: { a: "\${ $base64decode(reads.source.data.value) }" } }
    - id: second
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: second }, data: { a: "\${ children.first.data.a }" } }
`,
);

async function until(definition: string, namespace: string, reason: string): Promise<KubeObject> {
  const found = await shared
    .client()
    .untilObject(
      thingPath(definition, namespace),
      (object) =>
        conditionOf(object)?.reason === reason &&
        conditionOf(object)?.observedGeneration === object?.metadata.generation,
    );
  assert.ok(found);
  return found;
}

shared.describe('integration/rejections', () => {
  before(async () => {
    await startHomeostat({
      'workloads.yaml': workloads,
      'claims.yaml': claims,
      'configs.yaml': configs,
      'secrets.yaml': secrets,
      'derived.yaml': derived,
    });
  });

  test('a field that cannot be changed is reported, with its child and what to do, and heals when the change is taken back', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const spec = { app: 'one', image: 'busybox:1' };
    await client.apply(thing('workloads', namespace, spec));
    // A change by a controller after the rejection would have the apply sent again.
    await client.untilObject(
      `/apis/batch/v1/namespaces/${namespace}/jobs/task`,
      (object) => conditionOf(object, 'Suspended')?.status === 'True',
    );
    await client.untilObject(
      `/apis/apps/v1/namespaces/${namespace}/deployments/web`,
      (object) => conditionOf(object, 'Progressing')?.reason === 'NewReplicaSetAvailable',
    );
    await client.patch(thingPath('workloads', namespace), {
      spec: { app: 'two', image: 'busybox:2' },
    });
    const rejected = await until('workloads', namespace, 'ApplyFailed');
    const message = conditionOf(rejected)?.message ?? '';
    assert.match(
      message,
      /web "web": spec\.selector: field is immutable; revert the change, or set/,
    );
    assert.match(message, /task "task": spec\.template(?:\.spec)?: field is immutable; revert/);
    assert.match(message, /"updateStrategy: { type: Recreate }"/);
    assert.doesNotMatch(message, /busybox/);
    assert.equal(conditionOf(rejected, 'Stalled')?.status, 'True');
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    await shared.audit.quiet(3_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);
    // Deleting the Job is enough: it is made as wanted.
    await client.patch(thingPath('workloads', namespace), { spec: { app: 'one' } });
    await client.delete(`/apis/batch/v1/namespaces/${namespace}/jobs/task`);
    await client.untilObject(
      thingPath('workloads', namespace),
      (object) =>
        conditionOf(object)?.observedGeneration === 3 &&
        conditionOf(object)?.reason !== 'ApplyFailed',
    );
  });

  test('of a claim, what the server allows is quoted, and a deletion is never recommended', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(thing('claims', namespace, { class: 'one' }));
    await client.untilObject(
      `/api/v1/namespaces/${namespace}/persistentvolumeclaims/data`,
      (object) => object !== undefined,
    );
    await client.patch(thingPath('claims', namespace), { spec: { class: 'two' } });
    const rejected = await until('claims', namespace, 'ApplyFailed');
    assert.match(
      conditionOf(rejected)?.message ?? '',
      /^data "data": spec: spec is immutable after creation except resources\.requests and volumeAttributesClassName for bound claims; revert the change \(/,
    );
  });

  // Policies are stable since 1.30.
  const policies = { skip: skipBefore('1.30') };
  test(
    'a policy that rejects is quoted, and what it rejects is tried again when the intent changes',
    policies,
    async () => {
      const namespace = await shared.namespace();
      const client = shared.client();
      const registration = 'admissionregistration.k8s.io/v1';
      await client.apply({
        apiVersion: registration,
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: namespace },
        spec: {
          matchConstraints: {
            resourceRules: [
              {
                apiGroups: [''],
                apiVersions: ['v1'],
                operations: ['*'],
                resources: ['configmaps'],
              },
            ],
          },
          validations: [
            { expression: "object.?data.?a.orValue('') != 'bad'", message: 'a is bad' },
          ],
        },
      });
      await client.apply({
        apiVersion: registration,
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name: namespace },
        spec: {
          policyName: namespace,
          validationActions: ['Deny'],
          matchResources: {
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          },
        },
      });
      await untilInForce(namespace);
      await client.apply(thing('configs', namespace, { a: 'bad' }));
      const rejected = await until('configs', namespace, 'ApplyFailed');
      assert.match(
        conditionOf(rejected)?.message ?? '',
        /config "config": .*denied request: a is bad/,
      );
      await client.patch(thingPath('configs', namespace), { spec: { a: 'good' } });
      await until('configs', namespace, 'AllReady');
    },
  );

  test('a webhook that rejects is quoted in stable words; the status is written once, and heals by retry.permanent', async (t) => {
    const namespace = await shared.namespace();
    const client = shared.client();
    let isOpen = false;
    const webhook = await startAdmissionWebhook({
      client,
      namespace,
      type: 'Validating',
      resource: 'configmaps',
      judge: () =>
        isOpen
          ? { kind: 'allow' }
          : {
              kind: 'deny',
              message: `no more, request ${randomUUID()} at ${new Date().toISOString()}`,
              status: 404,
            },
    });
    t.after(() => webhook.stop());
    const mark = shared.audit.mark();
    await client.apply(thing('configs', namespace, { a: 'x' }));
    const rejected = await until('configs', namespace, 'ApplyFailed');
    assert.match(
      conditionOf(rejected)?.message ?? '',
      /denied the request: no more, request … at …/,
    );
    // Two more tries of `retry.permanent`.
    while (webhook.calls < 3) await shared.audit.quiet(100);
    const own = shared.audit
      .entries({ since: mark })
      .filter((each) => each.namespace === namespace);
    assert.equal(own.filter(({ resource }) => resource === 'things/status').length, 1);
    isOpen = true;
    await until('configs', namespace, 'AllReady');
  });

  test('where a Secret is used, neither a value nor a key of it is reported, whatever the server quotes', async (t) => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const metadata = { name: 'source', namespace };
    const webhook = await startAdmissionWebhook({
      client,
      namespace,
      type: 'Validating',
      resource: 'secrets',
      judge: ({ data, metadata: { name } }) => {
        const [entry] = Object.entries((data ?? {}) as Record<string, string>);
        const quoted = Buffer.from(entry?.[1] ?? '', 'base64').toString();
        return name === 'copy'
          ? { kind: 'deny', message: `${entry?.[0]} is ${quoted}` }
          : { kind: 'allow' };
      },
    });
    t.after(() => webhook.stop());
    await client.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      stringData: { key: 'the-key', value: 'hunter2' },
    });
    await client.apply(thing('secrets', namespace, {}));
    const rejected = await until('secrets', namespace, 'ApplyFailed');
    assert.doesNotMatch(JSON.stringify(rejected), /hunter2|the-key/);
    // And a key that is no key of a Secret: the server names the field.
    await webhook.stop();
    await client.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      stringData: { key: 'not a key!', value: 'hunter2' },
    });
    const again = await client.untilObject(thingPath('secrets', namespace), (object) =>
      /copy "copy": Invalid: data/.test(conditionOf(object)?.message ?? ''),
    );
    assert.doesNotMatch(JSON.stringify(again), /hunter2|not a key/);
    const events = await client.list(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
    assert.doesNotMatch(JSON.stringify(events), /hunter2|the-key|not a key/);
  });

  test('nor of what was made of one, whatever a webhook says, and in which field', async (t) => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const webhook = await startAdmissionWebhook({
      client,
      namespace,
      type: 'Validating',
      resource: 'configmaps',
      judge: ({ data, metadata: { name } }) => {
        const { a = '' } = (data ?? {}) as { readonly a?: string };
        return name === 'second' ? { kind: 'deny', message: `a is ${a}` } : { kind: 'allow' };
      },
    });
    t.after(() => webhook.stop());
    const metadata = { name: 'source', namespace };
    const stringData = { value: 'hunter2' };
    await client.apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData });
    await client.apply(thing('derived', namespace, {}));
    const rejected = await until('derived', namespace, 'ApplyFailed');
    assert.match(
      conditionOf(rejected)?.message ?? '',
      /^second "second": \w+ \([-\w]+\.yaml:\d+:\d+\)$/,
    );
    const events = await client.list(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
    assert.doesNotMatch(JSON.stringify([rejected, events]), /hunter2/);
  });

  test('a quota that is used up is reported, and the child is made when it is raised', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const quota = `/api/v1/namespaces/${namespace}/resourcequotas/small`;
    const limited = async (hard: string) => {
      const limits = { 'count/configmaps': hard };
      await client.apply({
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'small', namespace },
        spec: { hard: limits },
      });
      // No controller counts here.
      await client.patch(`${quota}/status`, {
        status: { hard: limits, used: { 'count/configmaps': '1' } },
      });
    };
    await limited('1');
    await untilRejected(namespace);
    await client.apply(thing('configs', namespace, { a: 'x' }));
    const exceeded =
      /exceeded quota: small, requested: count\/configmaps=1, limited: count\/configmaps=1/;
    const rejected = await client.untilObject(thingPath('configs', namespace), (object) => {
      const { reason, message = '' } = conditionOf(object) ?? {};
      return reason === 'ApplyFailed' && exceeded.test(message);
    });
    assert.equal(conditionOf(rejected, 'Reconciling')?.status, 'True');
    await limited('10');
    await until('configs', namespace, 'AllReady');
  });
});

/** Policies are in force a little after they were written. */
async function untilInForce(namespace: string): Promise<void> {
  const metadata = { name: 'tried-out' };
  const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
  const body = { metadata, data: { a: 'bad' } };
  for (;;) {
    const { status } = await shared.client().request({ method: 'POST', path, body });
    if (status >= 400) return;
  }
}

async function untilRejected(namespace: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
  await untilQuotaExceeded(shared.client(), { path, body: { metadata: { name: 'tried-out' } } });
}
