import type { Json, JsonObject } from '../../../src/util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { type CrdOptions, crd, crds } from './gadgets.ts';
import { post } from './requests.ts';

function refused(
  name: string,
  options: CrdOptions,
  differs?: Record<string, string>,
): ContractCase {
  const expect = { status: 422, ...(differs === undefined ? {} : { differs }) };
  return { name: `a CRD with ${name} is rejected`, steps: [post(crds, crd(options), expect)] };
}

function taken(name: string, options: CrdOptions): ContractCase {
  const steps = [post(crds, crd(options), { status: 201 })];
  return { name: `a CRD with ${name} is taken`, steps };
}

const spec = {
  type: 'object',
  properties: { size: { type: 'integer' }, tags: { type: 'array', items: { type: 'string' } } },
};
const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };

/** One version, with something more. */
function version(more: JsonObject): CrdOptions {
  return { versions: [{ name: 'v1', served: true, storage: true, schema, ...more }] };
}

function refusedVersion(name: string, more: JsonObject, differs?: Record<string, string>) {
  return refused(name, version(more), differs);
}

const names: readonly ContractCase[] = [
  refused('a plural in another name', { name: 'gadget.$(ns).io' }),
  refused('no kind', { names: { kind: '' } }),
  refused('no plural', { names: { plural: '' }, name: '.$(ns).io' }),
  refused('a kind with a space', { names: { kind: 'Ga dget' } }),
  refused('a singular in capitals', { names: { singular: 'Gadget' } }),
  refused('a short name in capitals', { names: { shortNames: ['ga', 'GA'] } }),
  refused('a short name with a dot', { names: { shortNames: ['g.a'] } }),
  refused('a category with an underscore', { names: { categories: ['all', 'my_own'] } }),
  refused('a group in capitals', { group: 'Demo.io', name: 'gadgets.Demo.io' }),
  refused('a protected group', { group: 'demo.k8s.io', name: 'gadgets.demo.k8s.io' }),
  refused('a protected group whose approval is none', {
    group: 'demo.kubernetes.io',
    name: 'gadgets.demo.kubernetes.io',
    annotations: { 'api-approved.kubernetes.io': 'sure' },
  }),
  taken('a protected group that says so', {
    group: '$(ns).k8s.io',
    annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' },
  }),
  refused('preserved unknown fields', { more: { preserveUnknownFields: true } }),
];

const columns: readonly ContractCase[] = (
  [
    ['no name', { type: 'string', jsonPath: '.spec' }],
    ['no type', { name: 'A', jsonPath: '.spec' }],
    ['an unknown type', { name: 'A', type: 'text', jsonPath: '.spec' }],
    ['an unknown format', { name: 'A', type: 'string', format: 'uuid', jsonPath: '.spec' }],
    ['no path', { name: 'A', type: 'string' }],
    ['a path without a dot', { name: 'A', type: 'string', jsonPath: 'spec.size' }],
    ['a path in braces', { name: 'A', type: 'string', jsonPath: '{.spec.size}' }],
  ] as const
).map(([name, column]) =>
  refusedVersion(`a column with ${name}`, { additionalPrinterColumns: [column] }),
);

function refusedScale(name: string, scale: JsonObject): ContractCase {
  return refusedVersion(`a scale with ${name}`, { subresources: { scale } });
}

const specReplicasPath = '.spec.size';
const statusReplicasPath = '.status.size';

const subresources: readonly ContractCase[] = [
  refusedScale('no paths', {}),
  refusedScale('replicas outside spec', { specReplicasPath: '.status.size', statusReplicasPath }),
  refusedScale('replicas that are the spec', { specReplicasPath: '.spec', statusReplicasPath }),
  refusedScale('replicas without a dot', { specReplicasPath: 'spec.size', statusReplicasPath }),
  refusedScale('status replicas outside status', { specReplicasPath, statusReplicasPath: '.a' }),
  refusedScale('a selector elsewhere', {
    specReplicasPath,
    statusReplicasPath,
    labelSelectorPath: '.metadata.labels',
  }),
  taken(
    'a scale whose selector is in the spec',
    version({
      subresources: {
        scale: { specReplicasPath, statusReplicasPath, labelSelectorPath: '.spec.selector' },
      },
    }),
  ),
  refused(
    'a status and rules that would not be seen there',
    version({
      subresources: { status: {} },
      schema: { openAPIV3Schema: { type: 'object', oneOf: [{ required: ['spec'] }] } },
    }),
    {
      message: 'prints structs of the server',
      'details.causes': 'prints structs of the server',
    },
  ),
];

function refusedSelectable(name: string, fields: Json): ContractCase {
  return refusedVersion(`selectable fields ${name}`, { selectableFields: fields });
}

const manyFields = Object.fromEntries(
  Array.from({ length: 9 }, (_, index) => [`f${index}`, { type: 'string' }]),
);

const selectable: readonly ContractCase[] = [
  refusedSelectable('without a path', [{ jsonPath: '' }]),
  refusedSelectable('that are not there', [{ jsonPath: '.spec.nothing' }]),
  refusedSelectable('without a dot', [{ jsonPath: 'spec.size' }]),
  refusedSelectable('in brackets', [{ jsonPath: ".spec['size']" }]),
  refusedSelectable('that are lists', [{ jsonPath: '.spec.tags' }]),
  refusedSelectable('that are objects', [{ jsonPath: '.spec' }]),
  refusedSelectable('below a number', [{ jsonPath: '.spec.size.more' }]),
  refusedSelectable('in metadata', [{ jsonPath: '.metadata.name' }]),
  refusedSelectable('twice', [{ jsonPath: '.spec.size' }, { jsonPath: '.spec.size' }]),
  refusedVersion('selectable fields of the metadata that it names', {
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { metadata: { type: 'object', properties: { name: { type: 'string' } } } },
      },
    },
    selectableFields: [{ jsonPath: '.metadata.name' }],
  }),
  refusedVersion('nine selectable fields', {
    schema: { openAPIV3Schema: { type: 'object', properties: manyFields } },
    selectableFields: Object.keys(manyFields).map((name) => ({ jsonPath: `.${name}` })),
  }),
];

const versions: readonly ContractCase[] = [
  refused('a version in capitals', {
    versions: [{ name: 'V1', served: true, storage: true, schema }],
  }),
  refused('a version without a name', {
    versions: [{ name: '', served: true, storage: true, schema }],
  }),
  refusedVersion('a deprecation warning of what is not deprecated', { deprecationWarning: 'x' }),
  refusedVersion('an empty deprecation warning', { deprecated: true, deprecationWarning: '' }),
  refusedVersion('a deprecation warning of two lines', {
    deprecated: true,
    deprecationWarning: 'a\nb',
  }),
  refusedVersion('a long deprecation warning', {
    deprecated: true,
    deprecationWarning: 'x'.repeat(257),
  }),
  refused('a mistake in the column of one version of two', {
    versions: [
      { name: 'v1', served: true, storage: true, schema },
      {
        name: 'v2',
        served: true,
        storage: false,
        schema,
        additionalPrinterColumns: [{ name: 'A', type: 'x', jsonPath: '.spec' }],
      },
    ],
  }),
];

function refusedConversion(name: string, conversion: JsonObject): ContractCase {
  return refused(`a conversion ${name}`, { more: { conversion } });
}

const url = 'https://a.example/convert';

const conversions: readonly ContractCase[] = [
  refusedConversion('without a strategy', {}),
  refusedConversion('by a webhook that is not told', { strategy: 'Webhook' }),
  refusedConversion('by a webhook of no versions', {
    strategy: 'Webhook',
    webhook: { clientConfig: { url } },
  }),
  refusedConversion('by a webhook of unknown versions', {
    strategy: 'Webhook',
    webhook: { clientConfig: { url }, conversionReviewVersions: ['v7', 'v7', 'V8'] },
  }),
  refusedConversion('by a webhook without an address', {
    strategy: 'Webhook',
    webhook: { clientConfig: {}, conversionReviewVersions: ['v1'] },
  }),
  refusedConversion('by a webhook with two addresses', {
    strategy: 'Webhook',
    webhook: {
      clientConfig: { url, service: { namespace: 'a', name: 'b' } },
      conversionReviewVersions: ['v1'],
    },
  }),
  refusedConversion('by name with a webhook', {
    strategy: 'None',
    webhook: { clientConfig: { url }, conversionReviewVersions: ['v1'] },
  }),
];

export const crdParts: readonly ContractCase[] = [
  ...names,
  ...columns,
  ...subresources,
  ...selectable,
  ...versions,
  ...conversions,
];
