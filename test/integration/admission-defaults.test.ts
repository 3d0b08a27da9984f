import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { defaultsPath, isDenied, policyPath, useAdmission } from '../support/admission.ts';
import { type PlaneAnswer, skipBefore, useControlPlane } from '../support/control-plane/index.ts';
import { definitionPath, useDefinitionObjects } from '../support/definition-objects.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);
const skip = skipBefore('1.36');

const schema = `
            type: object
            properties:
              spec:
                type: object
                properties:
                  size: { type: integer }
                  image: { type: string }
                  limits:
                    type: object
                    nullable: true
                    properties: { cpu: { type: string }, memory: { type: string, default: 1Gi } }
                  options: { type: object, additionalProperties: { type: string } }
                  any: { x-kubernetes-preserve-unknown-fields: true }`;

const image = { path: 'spec.image', value: "'example.com/' + object.metadata.name" };

interface Default {
  readonly path: string;
  readonly value: string;
}

/** A definition with these defaults, and further fields of `admission`. */
function defaulted(name: string, defaults: readonly Default[], more = ''): string {
  const entries = defaults.map((each) => `\n      - ${JSON.stringify(each)}`).join('');
  const body = defaults.length === 0 ? '' : `  admission:\n    defaults:${entries}\n${more}`;
  return thingDefinition(name, body, { schema });
}

const nested = defaulted('nested', [
  { path: 'spec.limits.cpu', value: 'object.metadata.name' },
  { path: "spec.options['a/b~c']", value: 'object.metadata.name' },
  { path: "metadata.labels['example.com/tier']", value: "'low'" },
  image,
  { path: 'spec.options.copy', value: "object.spec.?image.orValue('')" },
  { path: 'spec.size', value: 'size(object.metadata.name)' },
]);
/** As deep as a path may be. */
const deepKeys = Array.from({ length: 18 }, () => "['a/b']").join('');
const open = defaulted('open', [
  { path: `spec.any${deepKeys}`, value: "'deep'" },
  { path: 'spec.limits.cpu', value: "'1'" },
]);
const foreign = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: follower }
spec:
  for: { apiVersion: followed.example.com/v1, kind: Thing }
  admission:
    defaults:
      - { path: spec.image, value: "'a'" }
`;
const both = defaulted(
  'both',
  [image],
  `    rules:
      - { message: An image is missing, rule: "has(object.spec) && has(object.spec.image) && request.name != 'a'" }
`,
);
const broken = defaulted(
  'broken',
  [{ path: 'spec.image', value: 'objekt.spec.image' }],
  `    rules:\n      - { message: No, rule: "request.name != 'a'" }\n`,
);

shared.describe('integration/admission-defaults', { skip }, () => {
  const { apply, untilReady, untilReason } = useDefinitionObjects(shared, launch);
  const { untilAnswer } = useAdmission(shared);
  // At once: each waits until the API server has read the schema of its kind.
  before(() =>
    Promise.all([
      apply(defaulted('first', [image])),
      apply(defaulted('later', [])),
      apply(nested),
      apply(both),
      apply(defaulted('gone', [{ path: 'spec.image', value: 'object.spec.options.none' }])),
      apply(broken),
      apply(open),
    ]),
  );
  const patch = (path: string, body: unknown) => shared.client().patch(path, body);
  const specOf = (object: unknown) => ((object as KubeObject).spec ?? {}) as JsonObject;
  const hasImage = ({ body, status }: PlaneAnswer) =>
    status < 300 && specOf(body).image !== undefined;
  /** Until a Thing gets its image. */
  const untilDefaulted = async (name: string, namespace: string) => {
    const isSettled = (answer: PlaneAnswer) => answer.status === 503 || hasImage(answer);
    const { status } = await untilAnswer(thing(name, namespace, {}, 'probe'), isSettled);
    assert.notEqual(status, 503, 'The API server has not read the schema');
  };

  test('a value is set where a request leaves it out, from the first request on, and nothing is sent at rest', async () => {
    const namespace = await shared.namespace();
    const ready = await untilReady('first');
    await untilDefaulted('first', namespace);
    const one = await shared.client().apply(thing('first', namespace, { size: 1 }));
    assert.deepEqual(one.spec, { size: 1, image: 'example.com/one' });
    const own = await shared.client().apply(thing('first', namespace, { image: 'mine' }, 'own'));
    assert.deepEqual(own.spec, { image: 'mine' });
    assert.deepEqual((statusOf(ready).admission as JsonObject).childInventory, [
      'admissionregistration.k8s.io/MutatingAdmissionPolicy first.homeostat.dev',
      'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding first.homeostat.dev',
    ]);
    await shared.audit.quiet(3_000);
    const since = shared.audit.mark();
    await shared.audit.quiet(3_000);
    assert.deepEqual(shared.audit.atRest({ since }), []);
  });

  test('a removed value is set again; what changes nothing in the spec leaves an older object as it is', async () => {
    const namespace = await shared.namespace();
    const path = thingPath('later', namespace);
    await untilReady('later');
    await shared.client().apply(thing('later', namespace, { size: 1 }));
    await apply(defaulted('later', [image]));
    await untilDefaulted('later', namespace);
    const noted = await patch(path, { metadata: { annotations: { note: 'a' } } });
    assert.deepEqual(specOf(noted), { size: 1 });
    const changed = await patch(path, { spec: { size: 2 } });
    assert.deepEqual(specOf(changed), { size: 2, image: 'example.com/one' });
    assert.deepEqual(specOf(await patch(path, { spec: { image: null } })).image, 'example.com/one');
    await patch(path, { metadata: { finalizers: ['example.com/held'] } });
    await shared.client().delete(path);
    const ending = await patch(path, { spec: { image: null } });
    assert.deepEqual(specOf(ending), { size: 2 });
    await patch(path, { metadata: { finalizers: null } });
    await shared.client().untilGone(path);
  });

  test('parents are created and existing ones are kept; keys are escaped; a later value sees earlier ones', async () => {
    const namespace = await shared.namespace();
    await untilReady('nested');
    await untilDefaulted('nested', namespace);
    const made = await shared.client().apply({
      apiVersion: 'nested.example.com/v1',
      kind: 'Thing',
      metadata: { name: 'bare', namespace },
    } as KubeObject);
    assert.deepEqual(made.spec, {
      size: 4,
      limits: { cpu: 'bare', memory: '1Gi' },
      options: { 'a/b~c': 'bare', copy: 'example.com/bare' },
      image: 'example.com/bare',
    });
    assert.deepEqual(made.metadata.labels, { 'example.com/tier': 'low' });
    const kept = await shared
      .client()
      .apply(
        thing('nested', namespace, { limits: { memory: '2Gi' }, options: { x: 'y' } }, 'kept'),
      );
    assert.deepEqual(specOf(kept).limits, { cpu: 'kept', memory: '2Gi' });
    assert.equal((specOf(kept).options as JsonObject).x, 'y');
    const empty = await shared.client().apply(thing('nested', namespace, { limits: null }, 'null'));
    assert.equal(specOf(empty).limits, null);
  });

  test('a parent without fields is kept, and the schema decides about it', async () => {
    const namespace = await shared.namespace();
    await untilReady('open');
    const nestedValue = (object: unknown) =>
      deepKeys
        .split('][')
        .reduce<unknown>((found) => (found as JsonObject | undefined)?.['a/b'], specOf(object).any);
    await untilAnswer(
      thing('open', namespace, {}, 'probe'),
      ({ body, status }) => status < 300 && nestedValue(body) === 'deep',
    );
    for (const any of [5, 'text', ['a']]) {
      const kept = await shared.client().apply(thing('open', namespace, { any }, 'kept'));
      assert.deepEqual(kept.spec, { any, limits: { cpu: '1', memory: '1Gi' } });
    }
    const wrong = thing('open', namespace, { limits: 'none' }, 'wrong');
    const answer = await shared.client().request({
      method: 'POST',
      path: `/apis/open.example.com/v1/namespaces/${namespace}/things`,
      body: wrong,
      contentType: 'application/json',
    });
    assert.match(
      String((answer.body as JsonObject).message),
      /spec\.limits: Invalid value: "string": .*must be of type object/,
    );
  });

  test('an object with "generateName" has no name yet', async () => {
    const namespace = await shared.namespace();
    await untilReady('first');
    await untilDefaulted('first', namespace);
    const { metadata: _, ...body } = thing('first', namespace, { size: 1 });
    const { status, body: found } = await shared.client().request({
      method: 'POST',
      path: `/apis/first.example.com/v1/namespaces/${namespace}/things`,
      body: { ...body, metadata: { generateName: 'a-' } },
      contentType: 'application/json',
    });
    assert.equal(status, 403);
    assert.match(String((found as JsonObject).message), /no such key: name/);
  });

  test('the first default for a custom kind of others waits for its schema, too', async () => {
    const namespace = await shared.namespace();
    await apply(defaulted('followed', []));
    await untilReady('followed');
    await apply(foreign);
    await untilReady('follower');
    await untilDefaulted('followed', namespace);
  });

  test('defaults for another stored version wait until its schema is read', async () => {
    const namespace = await shared.namespace();
    const first = defaulted('moved', [{ path: 'spec.image', value: "'a'" }]);
    await apply(first);
    await untilReady('moved');
    await untilDefaulted('moved', namespace);
    const [, v1 = ''] = /versions:(\n[\s\S]*?)\n {2}admission:/.exec(first) ?? [];
    const stored = `${v1.replace('name: v1', 'name: v2')}\n        storage: true\n        served: true`;
    const both = first.replace(v1, `${v1}\n        storage: false\n        served: true${stored}`);
    await apply(both.replace("'a'", "'b'"));
    const isSettled = ({ status, body }: PlaneAnswer) =>
      status === 503 || specOf(body).image === 'b';
    const { status } = await untilAnswer(thing('moved', namespace, {}, 'probe'), isSettled);
    assert.notEqual(status, 503, 'The API server has not read the schema');
  });

  test('rules see the values of defaults, and hold before them', async () => {
    const namespace = await shared.namespace();
    await untilReady('both');
    await untilDefaulted('both', namespace);
    await shared.client().apply(thing('both', namespace, {}));
    await untilAnswer(thing('both', namespace, {}, 'a'), isDenied);
  });

  test('without defaults nothing is left, and a value that fails rejects the request', async () => {
    const namespace = await shared.namespace();
    await untilReady('gone');
    const denied = await untilAnswer(thing('gone', namespace, {}), isDenied);
    assert.match(
      String((denied.body as JsonObject).message),
      /policy 'gone\.homeostat\.dev' with binding 'gone\.homeostat\.dev' denied request: .*no such key: options/s,
    );
    await apply(defaulted('gone', [image]));
    await untilDefaulted('gone', namespace);
    await apply(defaulted('gone', []));
    await shared.client().untilGone(defaultsPath('gone'));
    await apply(defaulted('gone', [image]));
    await untilDefaulted('gone', namespace);
    await shared.client().delete(definitionPath('gone'));
    await shared.client().untilGone(definitionPath('gone'));
    assert.equal(await shared.client().get(defaultsPath('gone')), undefined);
  });

  test('of a kind of others, only what the definition selects gets values, also constant ones', async () => {
    const [served, other] = [await shared.namespace(), await shared.namespace()];
    await apply(`apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: maps }
spec:
  for: { apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { ruled: "yes" } } }
  controller: { namespaces: { include: ["${served}"] } }
  admission:
    defaults:
      - { path: data.text, value: "'a'" }
`);
    await untilReady('maps');
    const map = (namespace: string, name: string, labels: JsonObject) =>
      ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace, labels },
      }) as unknown as KubeObject;
    await untilAnswer(
      map(served, 'probe', { ruled: 'yes' }),
      ({ body }) => (body as JsonObject).data !== undefined,
    );
    const found = await shared.client().apply(map(served, 'one', { ruled: 'yes' }));
    assert.deepEqual((found as unknown as JsonObject).data, { text: 'a' });
    for (const each of [map(served, 'free', {}), map(other, 'other', { ruled: 'yes' })])
      assert.equal(((await shared.client().apply(each)) as unknown as JsonObject).data, undefined);
  });

  test('a value that the server cannot compile is named in "Ready", and the rules hold', async () => {
    const rejected = await untilReason('broken', 'AdmissionNotReady');
    assert.match(conditionOf(rejected)?.message ?? '', /undeclared reference to 'objekt'/);
    const namespace = await shared.namespace();
    await untilAnswer(thing('broken', namespace, {}, 'a'), isDenied);
    assert.notEqual(await shared.client().get(policyPath('broken')), undefined);
  });
});
