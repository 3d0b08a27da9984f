import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { customKind, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ controllerManager: false });
const startHomeostat = useHomeostat(shared);

const crdPath = (name: string) =>
  `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${name}.example.com`;

interface Text {
  /** Properties of `spec`, in flow style. */
  readonly fields: string;
  /** Fields of `spec` that must be there, in flow style. */
  readonly required?: string;
  readonly policy?: string;
  /** What the child says. */
  readonly says?: string;
}

/** A definition with one child that says something of its resource. */
function definition(name: string, text: Text): string {
  const { fields, required = '[]', policy = '{}', says = '$string(spec.size)' } = text;
  const schema = `
            type: object
            properties:
              spec: { type: object, required: ${required}, properties: { ${fields} } }
              status: { type: object }`;
  const body = `  crdPolicy: ${policy}
  children:
    - id: config
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: '\${ ${says} }' }
  controller: { rollout: { perSecond: 0 } }
`;
  return thingDefinition(name, body, { schema });
}

const textOf = (object: KubeObject | undefined) =>
  (object?.data as { text?: string } | undefined)?.text;
const configMapPath = (namespace: string, name = 'one') =>
  `/api/v1/namespaces/${namespace}/configmaps/${name}`;

interface CrdSchema {
  readonly properties: {
    readonly spec: { readonly properties: Readonly<Record<string, unknown>> };
  };
}

function fieldsOf(crd: KubeObject | undefined): Readonly<Record<string, unknown>> {
  const { versions } = (crd?.spec ?? { versions: [] }) as {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: CrdSchema } }[];
  };
  return versions[0]?.schema.openAPIV3Schema.properties.spec.properties ?? {};
}

const plain = 'size: { type: integer, minimum: 0 }, name: { type: string }';
const tight = 'size: { type: integer, minimum: 1 }, mode: { type: string }';

shared.describe('integration/crd-change', () => {
  test('a change that breaks is rejected with all its reasons, what ran continues; with the override it is accepted', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const homeostat = await startHomeostat({ 'a.yaml': definition('tight', { fields: plain }) });
    await client.apply(thing('tight', namespace, { size: 0, name: 'x' }));
    await client.untilObject(configMapPath(namespace), (object) => textOf(object) === '0');
    const before = await client.get(crdPath('tight'));

    const breaking = { fields: tight, required: '[mode]', says: '"changed " & $string(spec.size)' };
    homeostat.write('a.yaml', definition('tight', breaking));
    const rejected = await homeostat.whenLogged(
      'Change rejected, the active revision keeps running',
    );
    assert.match(String(rejected.reason), /"things.tight.example.com" .* \(3 reasons\)/);
    const hint =
      '. Compared with the installed CustomResourceDefinition; set "crdPolicy: { allowBreakingChanges: true }" to install it anyway';
    const diagnostics = (rejected.diagnostics as readonly string[]).map((line) => {
      assert.ok(line.endsWith(hint), line);
      return line.replace(/^.*\/a\.yaml/, 'a.yaml').replace(hint, '');
    });
    assert.deepEqual(diagnostics.toSorted(), [
      'a.yaml:15:37: "spec" of version "v1" requires "mode" from now on: stored resources may lack it',
      'a.yaml:15:55: "spec.name" of version "v1" is removed: stored values of it would be lost',
      'a.yaml:15:92: "spec.size" of version "v1" raises "minimum" from "0" to "1": stored values may be below it',
    ]);
    const kept = await client.get(crdPath('tight'));
    assert.equal(kept?.metadata.generation, before?.metadata.generation);
    await client.patch(thingPath('tight', namespace), { spec: { size: 7 } });
    await client.untilObject(configMapPath(namespace), (object) => textOf(object) === '7');

    const policy = '{ allowBreakingChanges: true }';
    homeostat.write('a.yaml', definition('tight', { ...breaking, policy }));
    const allowed = await homeostat.whenLogged(
      'A breaking change of the CustomResourceDefinition is installed, as allowed',
    );
    const reasons = (allowed.diagnostics as readonly string[]).map((line) =>
      line.replace(/^.*\/a\.yaml:\d+:\d+: /, ''),
    );
    assert.deepEqual(
      reasons.toSorted(),
      diagnostics.map((line) => line.replace(/^a\.yaml:\d+:\d+: /, '')).toSorted(),
    );
    await client.untilObject(crdPath('tight'), (crd) => 'mode' in fieldsOf(crd));
    await client.untilObject(configMapPath(namespace), (object) => textOf(object) === 'changed 7');
    await homeostat.stop();

    // A process that begins finds the CRD as it is: nothing to blame, nothing to write.
    const installed = await client.get(crdPath('tight'));
    const next = await startHomeostat({ 'a.yaml': definition('tight', breaking) });
    await next.whenLogged('Definition running');
    const after = await client.get(crdPath('tight'));
    assert.equal(after?.metadata.resourceVersion, installed?.metadata.resourceVersion);
    await next.stop();
    const older = await startHomeostat({ 'a.yaml': definition('tight', { fields: plain }) });
    const again = await older.whenLogged('Change rejected, the active revision keeps running');
    assert.match(String(again.reason), /would break stored resources/);
  });

  test('a new optional field is served at once, without a restart', async (t) => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const homeostat = await startHomeostat({ 'a.yaml': definition('wider', { fields: plain }) });
    await client.apply(thing('wider', namespace, { size: 1 }));
    await client.untilObject(configMapPath(namespace), (object) => textOf(object) === '1');
    const wider = { fields: `${plain}, mode: { type: string }`, says: 'spec.mode ?? "none"' };
    const beganMs = performance.now();
    homeostat.write('a.yaml', definition('wider', wider));
    await client.untilObject(crdPath('wider'), (crd) => 'mode' in fieldsOf(crd));
    const installedMs = performance.now();
    await client.untilObject(configMapPath(namespace), (object) => textOf(object) === 'none');
    const followedMs = performance.now();
    await client.patch(thingPath('wider', namespace), { spec: { mode: 'fast' } });
    await client.untilObject(configMapPath(namespace), (object) => textOf(object) === 'fast');
    const round = (endMs: number) => Math.round(endMs - beganMs);
    t.diagnostic(
      `CRD changed after ${round(installedMs)} ms, resources follow after ${round(followedMs)} ms`,
    );
  });

  test('a new default is applied to resources that nothing else changes', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const homeostat = await startHomeostat({ 'a.yaml': definition('filled', { fields: plain }) });
    const names = ['one', 'two', 'three'];
    for (const name of names) await client.apply(thing('filled', namespace, { size: 1 }, name));
    for (const name of names)
      await client.untilObject(configMapPath(namespace, name), (object) => textOf(object) === '1');
    const filled = {
      fields: `${plain}, mode: { type: string, default: slow }`,
      says: 'spec.mode ?? "none"',
      policy: '{ allowBreakingChanges: true }',
    };
    homeostat.write('a.yaml', definition('filled', filled));
    for (const name of names)
      await client.untilObject(
        configMapPath(namespace, name),
        (object) => textOf(object) === 'slow',
      );
  });

  test('what the server itself rejects it rejects with the override, too, in its words', async () => {
    const client = shared.client();
    const policy = '{ allowBreakingChanges: true }';
    const inDefault = definition('scoped', { fields: plain, policy })
      .replace('      template:', '      crossNamespace: true\n      template:')
      .replace('.name }" }', '.name }", namespace: default }');
    const homeostat = await startHomeostat({ 'a.yaml': inDefault });
    homeostat.write('a.yaml', inDefault.replace('Namespaced', 'Cluster'));
    const rejected = await homeostat.whenLogged(
      'Change rejected, the active revision keeps running',
    );
    assert.match(String(rejected.reason), /The API server rejects .*spec\.scope.*immutable/s);
    const crd = await client.get(crdPath('scoped'));
    assert.equal((crd?.spec as { scope?: string } | undefined)?.scope, 'Namespaced');
  });

  test('a CRD of others is not taken over where that would break what they have stored', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const foreign = customKind({
      group: 'theirs.example.com',
      kind: 'Thing',
      properties: {
        spec: { type: 'object', properties: { size: { type: 'integer' } } },
        status: { type: 'object', properties: { children: { type: 'integer' } } },
      },
    });
    await client.installCrd(foreign);
    await client.apply(thing('theirs', namespace, { size: -1 }));
    const adopt = '{ adopt: true }';
    const homeostat = await startHomeostat({
      'a.yaml': definition('theirs', { fields: plain, policy: adopt }),
    });
    const rejected = await homeostat.whenLogged('Definition rejected');
    const reasons = (rejected.diagnostics as readonly string[]).join('\n');
    assert.match(reasons, /"spec.size" of version "v1" gets "minimum: 0"/);
    assert.match(reasons, /"status.children" of version "v1" changes its type/);
    const crd = await client.get(crdPath('theirs'));
    assert.equal(crd?.metadata.labels, undefined);
  });

  test('a schema that only the server can judge is rejected with file, line and column, and corrected without a restart', async () => {
    const namespace = await shared.namespace();
    const wrong = definition('judged', {
      fields: 'size: { type: integer }, name: { type: string, pattern: "[" }',
    });
    const line = wrong.split('\n').findIndex((each) => each.includes('pattern')) + 1;
    const column = (wrong.split('\n')[line - 1] ?? '').indexOf('"["') + 1;
    const homeostat = await startHomeostat({ 'judged.yaml': wrong });
    const { reason, diagnostics } = await homeostat.whenLogged('Definition rejected');
    assert.match(
      String(reason),
      /The API server rejects the CustomResourceDefinition "things\.judged\.example\.com": /,
    );
    const [shown = ''] = diagnostics as readonly string[];
    assert.equal(
      shown.replace(/^.*\/judged\.yaml/, 'judged.yaml'),
      `judged.yaml:${line}:${column}: The API server rejects this: must be a valid regular expression, but isn't: error parsing regexp: missing closing ]: \`[\``,
    );
    homeostat.write('judged.yaml', definition('judged', { fields: 'size: { type: integer }' }));
    await homeostat.whenLogged('Definition running');
    await shared.client().apply(thing('judged', namespace, { size: 3 }));
    await shared.client().untilObject(configMapPath(namespace), (object) => textOf(object) === '3');
  });
});
