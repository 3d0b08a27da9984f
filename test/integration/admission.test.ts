import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  bindingPath,
  isDenied,
  keepRule as keep,
  messageOf,
  policyPath,
  ruled,
  smallRule as small,
  useAdmission,
} from '../support/admission.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { definitionPath as pathOf, useDefinitionObjects } from '../support/definition-objects.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { isReady } from '../support/installing.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);

shared.describe('integration/admission', () => {
  const { apply, untilReady, untilReason, runtime, begin } = useDefinitionObjects(shared, launch);
  const { untilAnswer, untilEnforced, untilPermitted } = useAdmission(shared);
  const untilThere = (path: string) =>
    shared.client().untilObject(path, (each) => each !== undefined);
  const patch = (path: string, body: unknown) => shared.client().patch(path, body);
  const annotate = (path: string, annotations: JsonObject) =>
    patch(path, { metadata: { annotations } });

  test('a rule rejects with its field and message, and nothing is sent at rest', async () => {
    const namespace = await shared.namespace();
    await apply(ruled('first', small));
    const ready = await untilReady('first');
    assert.match(
      messageOf(await untilEnforced('first', namespace)),
      /ValidatingAdmissionPolicy 'first\.homeostat\.dev' with binding 'first\.homeostat\.dev' denied request: spec\.size: More than 10 need the label "big"$/,
    );
    await shared.client().apply(thing('first', namespace, { size: 10 }));
    const big = thing('first', namespace, { size: 20 }, 'big');
    await shared
      .client()
      .apply({ ...big, metadata: { ...big.metadata, labels: { big: '' } } } as KubeObject);
    const policy = await untilThere(policyPath('first'));
    assert.equal(policy?.metadata.ownerReferences, undefined);
    assert.equal(policy?.metadata.labels?.['homeostat.dev/definition'], 'first.admission');
    assert.deepEqual((statusOf(ready).admission as JsonObject).childInventory, [
      'admissionregistration.k8s.io/ValidatingAdmissionPolicy first.homeostat.dev',
      'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding first.homeostat.dev',
    ]);
    await shared.audit.quiet(3_000);
    const since = shared.audit.mark();
    await shared.audit.quiet(3_000);
    assert.deepEqual(shared.audit.atRest({ since }), []);
  });

  test('the label that a rule reads cannot be removed, other labels can be changed', async () => {
    const namespace = await shared.namespace();
    await apply(ruled('labels', small));
    await untilReady('labels');
    await untilEnforced('labels', namespace);
    const path = thingPath('labels', namespace);
    const big = thing('labels', namespace, { size: 20 });
    await shared
      .client()
      .apply({ ...big, metadata: { ...big.metadata, labels: { big: '' } } } as KubeObject);
    await patch(path, { metadata: { labels: { other: 'a' } } });
    await assert.rejects(patch(path, { metadata: { labels: { big: null } } }), /More than 10 need/);
  });

  test('an object that breaks a newer rule can be annotated, paused, finalized and deleted, but not changed', async () => {
    const namespace = await shared.namespace();
    await apply(ruled('old', ''));
    await untilReady('old');
    const [path, other] = [thingPath('old', namespace), thingPath('old', namespace, 'other')];
    const finalizers = { metadata: { finalizers: ['example.com/held'] } };
    await shared.client().apply(thing('old', namespace, { size: 20 }));
    await shared.client().apply(thing('old', namespace, { size: 20 }, 'other'));
    await apply(ruled('old', small));
    await untilEnforced('old', namespace);
    await annotate(path, { 'homeostat.dev/paused': 'true' });
    await annotate(path, { 'homeostat.dev/paused': null, 'example.com/note': 'a' });
    await patch(path, finalizers);
    await patch(`${path}/status`, { status: { any: 'a' } });
    await assert.rejects(patch(path, { spec: { text: 'a' } }), /More than 10 need/);
    await shared.client().delete(path);
    await shared
      .client()
      .untilObject(path, (each) => each?.metadata.deletionTimestamp !== undefined);
    // What is being deleted may even change.
    await patch(path, { spec: { text: 'a' } });
    await patch(path, { metadata: { finalizers: null } });
    await shared.client().untilGone(path);
    await shared.client().delete(other);
    await shared.client().untilGone(other);
  });

  test('a rule applies only to changes of what it reads, beside a rule that reads more', async () => {
    const namespace = await shared.namespace();
    const owned = `
      - rule: "object.metadata.?annotations[?'owner'].orValue('') != ''"
        message: The annotation "owner" is missing`;
    await apply(ruled('apart', ''));
    await untilReady('apart');
    await shared.client().apply(thing('apart', namespace, { size: 20 }));
    await apply(ruled('apart', `${small}${owned}`));
    await untilAnswer(thing('apart', namespace, { size: 1 }, 'probe'), isDenied);
    // It breaks the rule of its size, which reads no annotation.
    await annotate(thingPath('apart', namespace), { owner: 'a' });
    await assert.rejects(
      annotate(thingPath('apart', namespace), { owner: null }),
      /The annotation .+owner.+ is missing/,
    );
  });

  test('a rule that reads a field outside of the schema is checked when that field alone changes', async () => {
    const namespace = await shared.namespace();
    const schema = `
            type: object
            x-kubernetes-preserve-unknown-fields: true
            properties:
              spec: { type: object, properties: { size: { type: integer } } }`;
    const rules = `  admission:
    rules:
      - rule: "object[?'data'].?mode.orValue('') != 'forbidden' && object.metadata.name != ''"
        message: This mode is forbidden
      - rule: "object.?spec.?size.orValue(1) <= 10 || 'big' in object.metadata.?labels.orValue({})"
        message: More than 10 need the label "big"
`;
    await apply(thingDefinition('rooted', '', { schema }));
    await untilReady('rooted');
    // It breaks the second rule, which is younger.
    await shared.client().apply(thing('rooted', namespace, { size: 20 }));
    await apply(thingDefinition('rooted', rules, { schema }));
    await untilReady('rooted');
    await untilAnswer(thing('rooted', namespace, { size: 11 }, 'probe'), isDenied);
    const path = thingPath('rooted', namespace);
    await patch(path, { data: { mode: 'allowed' } });
    await assert.rejects(patch(path, { data: { mode: 'forbidden' } }), /This mode is forbidden/);
    await patch(path, { other: { mode: 'forbidden' } });
    await assert.rejects(patch(path, { spec: { size: 21 } }), /More than 10 need the label/);
  });

  test('a rule for deletions holds for users, and neither blocks the end of a namespace nor the garbage collector', async () => {
    const [namespace, ended] = [await shared.namespace(), await shared.namespace()];
    await apply(ruled('kept', keep));
    await untilReady('kept');
    const path = thingPath('kept', namespace);
    for (const place of [namespace, ended]) {
      await shared.client().apply(thing('kept', place, { size: 1 }));
      await annotate(thingPath('kept', place), { keep: 'true' });
    }
    const isPermitted = async () => {
      const request = { method: 'DELETE', path: `${path}?dryRun=All` };
      return (await shared.client().request(request)).status < 300;
    };
    while (await isPermitted()) await shared.client().sleep(50);
    await assert.rejects(shared.client().delete(path), /Remove the annotation .+keep.+ first/);
    await shared.client().delete(`/api/v1/namespaces/${ended}`);
    await shared.client().untilGone(`/api/v1/namespaces/${ended}`);
    await annotate(path, { keep: null });
    await shared.client().delete(path);
    await shared.client().untilGone(path);
  });

  test('"scale" does not reach a rule, as "validate" says', async () => {
    const namespace = await shared.namespace();
    await apply(ruled('scaled', small));
    await untilReady('scaled');
    await untilEnforced('scaled', namespace);
    const path = thingPath('scaled', namespace);
    await shared.client().apply(thing('scaled', namespace, { size: 1 }));
    await patch(`${path}/scale`, { spec: { replicas: 20 } });
    await assert.rejects(patch(path, { spec: { size: 21 } }), /More than 10 need/);
  });

  test('"Warn" warns and permits, "Audit" permits', async () => {
    const namespace = await shared.namespace();
    await apply(ruled('warned', small, { admission: '    action: Warn\n' }));
    await untilReady('warned');
    const probe = thing('warned', namespace, { size: 20 }, 'probe');
    const answer = await untilAnswer(probe, ({ headers }) => headers.warning !== undefined);
    assert.equal(answer.status, 201);
    assert.match(String(answer.headers.warning), /More than 10 need the label/);
    await apply(ruled('warned', small, { admission: '    action: Audit\n' }));
    const silent = await untilAnswer(probe, ({ headers }) => headers.warning === undefined);
    assert.equal(silent.status, 201);
  });

  test('a changed rule replaces the former one, and without rules nothing is left', async () => {
    const namespace = await shared.namespace();
    await apply(ruled('changed', small));
    await untilReady('changed');
    await untilEnforced('changed', namespace);
    await apply(ruled('changed', small.replace('<= 10', '<= 100')));
    await untilPermitted('changed', namespace);
    await untilEnforced('changed', namespace, 101);
    await apply(ruled('changed', ''));
    await shared.client().untilGone(policyPath('changed'));
    await shared.client().untilGone(bindingPath('changed'));
    await shared
      .client()
      .untilObject(
        pathOf('changed'),
        (object) => isReady(object) && statusOf(object).admission === undefined,
      );
  });

  test('a policy that another one edits or deletes is restored', async () => {
    await apply(ruled('drift', small));
    await untilReady('drift');
    const binding = await untilThere(bindingPath('drift'));
    await patch(bindingPath('drift'), { spec: { validationActions: ['Audit'] } });
    await shared.client().untilObject(
      bindingPath('drift'),
      (each) =>
        each?.metadata.resourceVersion !== binding?.metadata.resourceVersion &&
        // A set: what another one adds stays.
        JSON.stringify((each?.spec as JsonObject | undefined)?.validationActions) ===
          '["Audit","Deny"]',
    );
    const policy = await untilThere(policyPath('drift'));
    await shared.client().delete(policyPath('drift'));
    await shared
      .client()
      .untilObject(
        policyPath('drift'),
        (each) => each !== undefined && each.metadata.uid !== policy?.metadata.uid,
      );
  });

  test('a policy of another owner is not taken', async () => {
    const spec = {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ['none.example.com'],
            apiVersions: ['v1'],
            resources: ['things'],
            operations: ['CREATE'],
          },
        ],
      },
      validations: [{ expression: 'true' }],
    };
    await shared
      .client()
      .create('/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies', {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: 'foreign.homeostat.dev' },
        spec,
      });
    await apply(ruled('foreign', small));
    const conflict = await untilReason('foreign', 'AdmissionNotReady');
    assert.match(conditionOf(conflict)?.message ?? '', /^Conflict: /);
    const kept = await shared.client().get(policyPath('foreign'));
    assert.equal(kept?.metadata.labels, undefined);
    assert.equal(kept?.metadata.generation, 1);
    await shared.client().delete(policyPath('foreign'));
    await untilReady('foreign');
  });

  test('a rule that a server cannot compile is named in "Ready"', async () => {
    await apply(ruled('broken', small.replace('object.?spec', 'objekt.?spec')));
    const broken = await untilReason('broken', 'AdmissionNotReady');
    assert.match(conditionOf(broken)?.message ?? '', /undeclared reference to 'objekt'/);
  });

  test('a definition whose manifest is removed keeps its rules, also without the runtime', async () => {
    const namespace = await shared.namespace();
    runtime().write('filed.yaml', ruled('filed', small, { spec: '  removalPolicy: Delete\n' }));
    await untilReady('filed');
    await untilEnforced('filed', namespace);
    runtime().remove('filed.yaml');
    await untilReason('filed', 'Withdrawn');
    await shared.audit.quiet(2_000);
    await runtime().stop();
    await untilEnforced('filed', namespace);
    await begin();
  });

  test('a deleted definition takes its rules with it, and keeps its resources', async () => {
    const namespace = await shared.namespace();
    await apply(ruled('ended', `${small}${keep}`));
    await untilReady('ended');
    await untilEnforced('ended', namespace);
    await shared.client().apply(thing('ended', namespace, { size: 1 }));
    await shared.client().delete(pathOf('ended'));
    await shared.client().untilGone(pathOf('ended'));
    assert.equal(await shared.client().get(policyPath('ended')), undefined);
    assert.equal(await shared.client().get(bindingPath('ended')), undefined);
    assert.notEqual(await shared.client().get(thingPath('ended', namespace)), undefined);
  });

  test('at an uninstall the rules end first, so that they deny nothing of it', async () => {
    const namespace = await shared.namespace();
    const spec = '  removalPolicy: Delete\n  crdPolicy: { deletion: Delete }\n';
    await apply(ruled('gone', `${small}${keep}`, { spec }));
    await untilReady('gone');
    await untilEnforced('gone', namespace);
    await shared.client().apply(thing('gone', namespace, { size: 1 }));
    await annotate(thingPath('gone', namespace), { keep: 'true' });
    await shared.client().delete(pathOf('gone'));
    await shared.client().untilGone(pathOf('gone'));
    assert.equal(await shared.client().get(policyPath('gone')), undefined);
    const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.gone.example.com';
    await shared.client().untilGone(crd);
  });

  test('of a kind of others, only what the definition selects is checked', async () => {
    const [served, other] = [await shared.namespace(), await shared.namespace()];
    await apply(`apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: maps }
spec:
  for: { apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { ruled: "yes" } } }
  controller: { namespaces: { include: ["${served}"] } }
  admission:
    failurePolicy: Fail
    rules:
      - rule: "'text' in object.?data.orValue({})"
        message: The key "text" is missing
`);
    await untilReady('maps');
    const map = (namespace: string, labels: JsonObject, data: JsonObject, name = 'probe') =>
      ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace, labels },
        data,
      }) as unknown as KubeObject;
    await untilAnswer(map(served, { ruled: 'yes' }, {}), isDenied);
    await shared.client().apply(map(served, { ruled: 'yes' }, { text: 'a' }));
    await assert.rejects(
      patch(`/api/v1/namespaces/${served}/configmaps/probe`, { data: { text: null } }),
      /The key .+text.+ is missing/,
    );
    await assert.rejects(
      shared.client().apply(map(served, { ruled: 'no' }, {})),
      /The key .+text.+ is missing/,
    );
    await shared.client().apply(map(served, { ruled: 'no' }, {}, 'free'));
    await shared.client().apply(map(other, { ruled: 'yes' }, {}));
    const policy = await untilThere(policyPath('maps'));
    assert.match(JSON.stringify(policy?.spec), /"NotIn","values":\["[^\]]*kube-system/);
  });
});
