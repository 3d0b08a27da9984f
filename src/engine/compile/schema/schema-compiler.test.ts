import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { bundledSchemas } from './bundled-schemas.ts';
import { createSchemaCompiler } from './schema-compiler.ts';
import type { SchemaType } from './schema-type.ts';

const schemas = bundledSchemas();
const compiler = createSchemaCompiler();

function compileKind(apiVersion: string, kind: string): SchemaType {
  const schema = schemas.schemaFor(gvkOf(apiVersion, kind));
  assert.ok(schema);
  return compiler.compile(schema);
}

/** The type at a path; `*` steps into items. */
function typeAt(type: SchemaType, path: string): SchemaType {
  let at = type;
  for (const step of path.split('.')) {
    if (at.kind === 'struct') {
      const field = at.fields.get(step);
      assert.ok(field, `Expected the field "${step}" of ${path}`);
      at = field.type;
    } else {
      assert.ok(at.kind === 'list' || at.kind === 'map', `Expected items at "${step}" of ${path}`);
      at = at.item;
    }
  }
  return at;
}

function compileComponents(
  components: Record<string, Record<string, unknown>>,
  root = 'com.example.v1.Thing',
): SchemaType {
  return createSchemaCompiler().compile({ root, components });
}

describe('compile/schema/schema-compiler', () => {
  const pod = compileKind('v1', 'Pod');
  const deployment = compileKind('apps/v1', 'Deployment');

  for (const [path, accepts, format] of [
    ['spec.replicas', ['integer'], 'exact'],
    ['spec.paused', ['boolean'], 'exact'],
    ['metadata.name', ['string'], 'exact'],
    ['metadata.creationTimestamp', ['string'], 'time'],
    ['spec.template.spec.containers.*.resources.limits.*', ['string', 'number'], 'quantity'],
    ['spec.template.spec.containers.*.readinessProbe.httpGet.port', ['integer', 'string'], 'exact'],
    ['spec.strategy.rollingUpdate.maxSurge', ['integer', 'string'], 'exact'],
  ] as const) {
    test(`a Deployment's ${path} accepts ${accepts.join(' and ')} and compares as ${format}`, () => {
      const type = typeAt(deployment, path);
      assert.deepEqual(type, { kind: 'scalar', builtIn: true, accepts, format });
    });
  }

  for (const [path, list, keys] of [
    ['spec.containers', 'map', ['name']],
    ['spec.containers.*.ports', 'map', ['containerPort', 'protocol']],
    ['spec.containers.*.args', 'atomic', []],
    ['spec.tolerations', 'atomic', []],
    ['metadata.finalizers', 'set', []],
    ['metadata.ownerReferences', 'map', ['uid']],
  ] as const) {
    test(`a Pod's ${path} is a list of type ${list}`, () => {
      const type = typeAt(pod, path);
      assert.ok(type.kind === 'list');
      assert.deepEqual([type.list, type.keys], [list, keys]);
    });
  }

  test('the bytes of a Secret are base64, not those of a custom resource', () => {
    const data = typeAt(compileKind('v1', 'Secret'), 'data.*');
    assert.equal(data.kind === 'scalar' && data.format, 'base64');
    const own = compileComponents({ 'com.example.v1.Thing': { type: 'string', format: 'byte' } });
    assert.equal(own.kind === 'scalar' && own.format, 'exact');
  });

  test('the referring field overrides whether a type is atomic', () => {
    const claimRef = typeAt(compileKind('v1', 'PersistentVolume'), 'spec.claimRef');
    const involved = typeAt(compileKind('v1', 'Event'), 'involvedObject');
    assert.ok(claimRef.kind === 'struct' && involved.kind === 'struct');
    assert.deepEqual([claimRef.atomic, involved.atomic], [false, true]);
    assert.equal(claimRef.fields, involved.fields);
  });

  test('built-in structs have dropped zeros, defaults and items that admission appends', () => {
    const spec = typeAt(pod, 'spec');
    assert.ok(spec.kind === 'struct');
    assert.ok(spec.droppedZeros.has('hostNetwork'));
    assert.ok(!spec.droppedZeros.has('automountServiceAccountToken'));
    assert.equal(spec.defaults.restartPolicy, 'Always');
    assert.equal(spec.injected.tolerations?.length, 2);
    assert.equal(spec.defaults.constructor, undefined);
  });

  test('a recursive type refers to itself', () => {
    const schema = typeAt(
      compileKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
      'spec.versions.*.schema.openAPIV3Schema',
    );
    assert.equal(typeAt(schema, 'properties.*'), schema);
    const items = typeAt(schema, 'items');
    assert.ok(items.kind === 'branch');
    assert.equal(items.either, schema);
  });

  test('raw JSON is opaque and replaced as a whole', () => {
    const data = typeAt(compileKind('apps/v1', 'ControllerRevision'), 'data');
    assert.deepEqual(data, { kind: 'any', builtIn: false, keepsNull: true, atomic: true });
  });

  test('shared components are compiled once', () => {
    const one = compileKind('apps/v1', 'Deployment');
    const other = compileKind('apps/v1', 'StatefulSet');
    assert.equal(typeAt(one, 'spec.template'), typeAt(other, 'spec.template'));
  });

  for (const [what, schema, type] of [
    ['int-or-string', { 'x-kubernetes-int-or-string': true }, { accepts: ['integer', 'string'] }],
    [
      'alternatives',
      { oneOf: [{ type: 'number' }, { type: 'boolean' }] },
      { accepts: ['number', 'boolean'] },
    ],
    ['nothing', {}, { accepts: ['unknown'] }],
    ['an enum', { type: 'string', enum: ['a', 'b'] }, { accepts: ['string'], enum: ['a', 'b'] }],
  ] as const) {
    test(`a scalar with ${what} accepts it`, () => {
      const compiled = compileComponents({ 'com.example.v1.Thing': schema });
      assert.deepEqual(compiled, { kind: 'scalar', builtIn: false, format: 'exact', ...type });
    });
  }

  test('a custom struct keeps its defaults, nullable fields and openness', () => {
    const type = compileComponents({
      'com.example.v1.Thing': {
        type: 'object',
        required: ['a'],
        'x-kubernetes-preserve-unknown-fields': true,
        properties: {
          a: { type: 'string', default: 'x', nullable: true },
          m: { type: 'object', additionalProperties: { type: 'string', nullable: true } },
          free: { type: 'object' },
        },
      },
    });
    assert.ok(type.kind === 'struct');
    assert.deepEqual([type.open, type.required, type.builtIn], [true, ['a'], false]);
    assert.deepEqual(
      [type.fields.get('a')?.defaultValue, type.fields.get('a')?.keepsNull],
      ['x', true],
    );
    const map = type.fields.get('m')?.type;
    assert.ok(map?.kind === 'map' && map.keepsNull);
    assert.deepEqual(type.fields.get('free')?.type, {
      kind: 'any',
      builtIn: false,
      keepsNull: false,
      atomic: false,
    });
  });

  test('a reference to a missing component, or only to itself, is the any type', () => {
    const type = compileComponents({
      'com.example.v1.Thing': {
        properties: {
          missing: { $ref: '#/components/schemas/com.example.v1.Missing' },
          circle: { $ref: '#/components/schemas/com.example.v1.Circle' },
        },
      },
      'com.example.v1.Circle': { type: 'array', items: { $ref: '#/x/com.example.v1.Circle' } },
    });
    assert.equal(typeAt(type, 'missing').kind, 'any');
    assert.equal(typeAt(type, 'circle.*').kind, 'any');
  });
});
