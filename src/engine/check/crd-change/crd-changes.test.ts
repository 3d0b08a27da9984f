import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { standardStatusSchemas } from '#definition';
import type { Json, JsonObject } from '#util/json.ts';
import type { CrdChange } from './breaking-change.ts';
import { breakingChanges } from './compare-crds.ts';

type Fields = Readonly<Record<string, Json>>;

const root = (fields: Fields = { a: { type: 'string' } }, status: Fields = {}): JsonObject => ({
  type: 'object',
  properties: {
    spec: { type: 'object', properties: fields },
    status: { type: 'object', properties: status },
  },
});

const version = (name: string, more: Fields = {}, schema: JsonObject = root()): JsonObject => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: schema },
  subresources: { status: {} },
  ...more,
});

const crd = (more: Fields = {}): JsonObject => ({
  group: 'a.example.com',
  names: { kind: 'A', plural: 'as', singular: 'a', listKind: 'AList' },
  scope: 'Namespaced',
  versions: [version('v1')],
  ...more,
});

const scale = { specReplicasPath: '.spec.a', statusReplicasPath: '.status.a' };
const stored = { storage: true };
const unstored = { storage: false };

interface Case {
  readonly what: string;
  readonly before?: Fields;
  readonly after?: Fields;
  readonly storedVersions?: readonly string[];
  /** What is said, in order; none: it is safe. */
  readonly reasons?: readonly RegExp[];
}

const cases: readonly Case[] = [
  { what: 'nothing' },
  {
    what: 'what the server fills in',
    before: { conversion: { strategy: 'None' }, preserveUnknownFields: false },
  },
  { what: 'the group', after: { group: 'b' }, reasons: [/"group" changes .*another kind/] },
  {
    what: 'the scope',
    after: { scope: 'Cluster' },
    reasons: [/"scope" changes from "Namespaced" to "Cluster"/],
  },
  {
    what: 'the names that make the kind',
    after: { names: { kind: 'B', plural: 'bs', singular: 'a', listKind: 'AList' } },
    reasons: [/"names.plural"/, /"names.kind"/],
  },
  {
    what: 'other names',
    after: {
      names: { kind: 'A', plural: 'as', shortNames: ['x'], categories: ['all'], singular: 'x' },
    },
  },
  {
    what: 'a conversion by webhook that ends while two versions remain',
    before: {
      conversion: { strategy: 'Webhook', webhook: {} },
      versions: [version('v1'), version('v2', unstored)],
    },
    after: { versions: [version('v1'), version('v2', unstored)] },
    reasons: [/"conversion.strategy" changes from "Webhook" to "None"/],
  },
  {
    what: 'a conversion by webhook that ends with the only other version',
    before: {
      conversion: { strategy: 'Webhook', webhook: {} },
      versions: [version('v1'), version('v2', { storage: false, served: false })],
    },
  },
  {
    what: 'a conversion by webhook that ends while resources are stored in another version',
    before: { conversion: { strategy: 'Webhook', webhook: {} } },
    storedVersions: ['v1', 'v2'],
    after: { versions: [version('v1'), version('v2', unstored)] },
    reasons: [/"conversion.strategy" changes from "Webhook" to "None"/],
  },
  {
    what: 'a conversion by webhook that comes with the second version',
    after: {
      conversion: { strategy: 'Webhook', webhook: {} },
      versions: [version('v1', unstored), version('v2', stored, root({ b: { type: 'integer' } }))],
    },
  },
  {
    what: 'a conversion by webhook that comes after the second version',
    before: { versions: [version('v1'), version('v2', unstored)] },
    after: {
      conversion: { strategy: 'Webhook', webhook: {} },
      versions: [version('v1'), version('v2', unstored)],
    },
    reasons: [/"conversion.strategy" changes from "None" to "Webhook"/],
  },
  {
    what: 'the address of a conversion webhook',
    before: { conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: 'a' } } } },
    after: { conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: 'b' } } } },
  },
  {
    what: 'unknown fields that were preserved everywhere',
    before: { preserveUnknownFields: true },
    reasons: [/"preserveUnknownFields"/],
  },
  {
    what: 'a field of the CRD that is not known',
    after: { extra: 1 },
    reasons: [/"extra".*is unknown/],
  },
  {
    what: 'a field of a version that is not known',
    after: { versions: [version('v1', { extra: 1 })] },
    reasons: [/"extra" of version "v1".*is unknown/],
  },
  {
    what: 'printer columns and deprecation',
    before: { versions: [version('v1', { additionalPrinterColumns: [{ name: 'a' }] })] },
    after: { versions: [version('v1', { deprecated: true, deprecationWarning: 'x' })] },
  },
  {
    what: 'the status subresource taken away',
    after: { versions: [version('v1', { subresources: {} })] },
    reasons: [/The subresource "status" of version "v1" is removed/],
  },
  {
    what: 'a status subresource where there was none',
    before: { versions: [version('v1', { subresources: {} })] },
  },
  {
    what: 'a new scale subresource',
    after: { versions: [version('v1', { subresources: { status: {}, scale } })] },
  },
  {
    what: 'a scale subresource that is gone',
    before: { versions: [version('v1', { subresources: { status: {}, scale } })] },
    reasons: [/"scale" of version "v1" is removed/],
  },
  {
    what: 'a scale subresource with another path',
    before: { versions: [version('v1', { subresources: { status: {}, scale } })] },
    after: {
      versions: [
        version('v1', {
          subresources: { status: {}, scale: { ...scale, specReplicasPath: '.spec.b' } },
        }),
      ],
    },
    reasons: [/"scale" of version "v1" changes/],
  },
  {
    what: 'a new selectable field',
    after: { versions: [version('v1', { selectableFields: [{ jsonPath: '.spec.a' }] })] },
  },
  {
    what: 'a selectable field that is gone',
    before: { versions: [version('v1', { selectableFields: [{ jsonPath: '.spec.a' }] })] },
    reasons: [/".spec.a" of version "v1" is no longer selectable/],
  },
  {
    what: 'a new version',
    after: { versions: [version('v1'), version('v2', unstored, root({ b: { type: 'integer' } }))] },
  },
  {
    what: 'the stored version taken away',
    after: { versions: [version('v2')] },
    reasons: [/Version "v1" is removed: resources may be stored in it/],
  },
  {
    what: 'a version taken away in which resources may still be stored',
    before: { versions: [version('v1', { ...unstored, served: false }), version('v2')] },
    after: { versions: [version('v2')] },
    storedVersions: ['v1', 'v2'],
    reasons: [/Version "v1" is removed: resources may be stored in it/],
  },
  {
    what: 'a version taken away while it is served',
    before: { versions: [version('v1'), version('v2', unstored)] },
    reasons: [/Version "v2" is removed while it is served/],
  },
  {
    what: 'a removed version that is not served',
    before: { versions: [version('v1'), version('v2', { ...unstored, served: false })] },
  },
  {
    what: 'a version that is not served any more',
    before: { versions: [version('v1'), version('v2', unstored)] },
    after: { versions: [version('v1'), version('v2', { ...unstored, served: false })] },
  },
  {
    what: 'a version that is not served any more, in which resources may be stored',
    before: { versions: [version('v1', unstored), version('v2')] },
    after: { versions: [version('v1', { ...unstored, served: false }), version('v2')] },
    storedVersions: ['v1', 'v2'],
    reasons: [/Version "v1" is no longer served: resources may be stored in it/],
  },
  {
    what: 'the schema of a version that is not used',
    before: { versions: [version('v1'), version('v2', { ...unstored, served: false })] },
    after: {
      versions: [version('v1'), version('v2', { ...unstored, served: false }, root({}))],
    },
  },
  {
    what: 'the schema of a version that is not stored, but served',
    before: { versions: [version('v1'), version('v2', unstored)] },
    after: { versions: [version('v1'), version('v2', unstored, root({}))] },
    reasons: [/"spec.a" of version "v2" is removed/],
  },
  {
    what: 'another stored version that has all fields',
    before: { versions: [version('v1', stored), version('v2', unstored)] },
    after: { versions: [version('v1', unstored), version('v2', stored)] },
  },
  {
    what: 'another stored version with defaults of its own',
    before: {
      versions: [
        version('v1', stored),
        version('v2', unstored, root({ a: { type: 'string', default: 'x' } })),
      ],
    },
    after: {
      versions: [
        version('v1', unstored),
        version('v2', stored, root({ a: { type: 'string', default: 'x' } })),
      ],
    },
  },
  {
    what: 'another stored version that lacks a field',
    before: { versions: [version('v1', stored), version('v2', unstored, root({}))] },
    after: { versions: [version('v1', unstored), version('v2', stored, root({}))] },
    reasons: [/"spec.a" of version "v2", which is to be stored instead of "v1", is removed/],
  },
  {
    what: 'a new stored version that rejects what the old one took',
    after: {
      versions: [
        version('v1', unstored),
        version('v2', stored, root({ a: { type: 'string', maxLength: 3 } })),
      ],
    },
    reasons: [/instead of "v1", gets "maxLength: 3"/],
  },
  {
    what: 'limits on names of resources',
    after: {
      versions: [
        version(
          'v1',
          {},
          {
            type: 'object',
            properties: {
              metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 5 } } },
              spec: { type: 'object', properties: { a: { type: 'string' } } },
              status: { type: 'object' },
            },
          },
        ),
      ],
    },
    reasons: [/"metadata.name" of version "v1" gets "maxLength: 5"/],
  },
];

function check({ before = {}, after = {}, storedVersions = ['v1'] }: Case, isOurs = true) {
  const change: CrdChange = { installed: crd(before), desired: crd(after), storedVersions, isOurs };
  return breakingChanges(change).map(({ message }) => message);
}

describe('check/crd-change: what is not in a schema', () => {
  for (const each of cases) {
    const { what, reasons = [] } = each;
    test(`${what}: ${reasons.length === 0 ? 'safe' : 'breaks'}`, () => {
      const messages = check(each);
      assert.equal(messages.length, reasons.length, messages.join('\n'));
      for (const [index, reason] of reasons.entries()) assert.match(messages[index] ?? '', reason);
    });
  }

  test('the status fields that the runtime adds never count, whatever an older one had added', () => {
    const older = {
      ...standardStatusSchemas,
      conditions: { type: 'array', items: { type: 'object' } },
    };
    const withStatus = (status: Fields) => ({ versions: [version('v1', {}, root({}, status))] });
    const change = {
      what: '',
      before: withStatus(older),
      after: withStatus(standardStatusSchemas),
    };
    assert.deepEqual(check(change), []);
    assert.deepEqual(check({ ...change, before: withStatus({}) }), []);
    // Of a CRD of others they are others' fields.
    const [message] = check(change, false);
    assert.match(
      message ?? '',
      /"status.conditions" of version "v1" changes "x-kubernetes-list-type"/,
    );
  });

  test('a CRD of others whose status is free takes the standard fields', () => {
    const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const schema = (status: JsonObject) => ({
      versions: [version('v1', {}, { type: 'object', properties: { status } })],
    });
    const after = schema({ ...free, properties: standardStatusSchemas });
    assert.deepEqual(check({ what: '', before: schema(free), after }, false), []);
  });

  test('a status field of the author is checked, also where the runtime writes it', () => {
    const own = (maxItems: number) => ({
      versions: [
        version(
          'v1',
          {},
          root(
            {},
            {
              conditions: { type: 'array', maxItems, items: { type: 'object' } },
              phase: { type: 'string', maxLength: maxItems },
            },
          ),
        ),
      ],
    });
    assert.equal(check({ what: '', before: own(4), after: own(3) }).length, 2);
  });
});
