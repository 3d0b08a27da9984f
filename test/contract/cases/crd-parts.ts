import type { Json, JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { type CrdOptions, crd, crds } from './gadgets.ts';
import { merge, post } from './requests.ts';

function rejected(
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

function rejectedVersion(name: string, more: JsonObject, differs?: Record<string, string>) {
  return rejected(name, version(more), differs);
}

const names: readonly ContractCase[] = [
  rejected('a plural in another name', { name: 'gadget.$(ns).io' }),
  rejected('no kind', { names: { kind: '' } }),
  rejected('no plural', { names: { plural: '' }, name: '.$(ns).io' }),
  rejected('a kind with a space', { names: { kind: 'Ga dget' } }),
  rejected('a singular in capitals', { names: { singular: 'Gadget' } }),
  rejected('a short name in capitals', { names: { shortNames: ['ga', 'GA'] } }),
  rejected('a short name with a dot', { names: { shortNames: ['g.a'] } }),
  rejected('a category with an underscore', { names: { categories: ['all', 'my_own'] } }),
  rejected('a group in capitals', { group: 'Demo.io', name: 'gadgets.Demo.io' }),
  rejected('a protected group', { group: 'demo.k8s.io', name: 'gadgets.demo.k8s.io' }),
  rejected('a protected group whose approval is none', {
    group: 'demo.kubernetes.io',
    name: 'gadgets.demo.kubernetes.io',
    annotations: { 'api-approved.kubernetes.io': 'sure' },
  }),
  taken('a protected group that says so', {
    group: '$(ns).k8s.io',
    annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' },
  }),
  rejected('preserved unknown fields', { more: { preserveUnknownFields: true } }),
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
  rejectedVersion(`a column with ${name}`, { additionalPrinterColumns: [column] }),
);

function rejectedScale(name: string, scale: JsonObject): ContractCase {
  return rejectedVersion(`a scale with ${name}`, { subresources: { scale } });
}

const specReplicasPath = '.spec.size';
const statusReplicasPath = '.status.size';

const subresources: readonly ContractCase[] = [
  rejectedScale('no paths', {}),
  rejectedScale('replicas outside spec', { specReplicasPath: '.status.size', statusReplicasPath }),
  rejectedScale('replicas that are the spec', { specReplicasPath: '.spec', statusReplicasPath }),
  rejectedScale('replicas without a dot', { specReplicasPath: 'spec.size', statusReplicasPath }),
  rejectedScale('status replicas outside status', { specReplicasPath, statusReplicasPath: '.a' }),
  rejectedScale('a selector elsewhere', {
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
  rejected(
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

function rejectedSelectable(name: string, fields: Json): ContractCase {
  return rejectedVersion(`selectable fields ${name}`, { selectableFields: fields });
}

const manyFields = Object.fromEntries(
  Array.from({ length: 9 }, (_, index) => [`f${index}`, { type: 'string' }]),
);

const selectable: readonly ContractCase[] = [
  rejectedSelectable('without a path', [{ jsonPath: '' }]),
  rejectedSelectable('that are not there', [{ jsonPath: '.spec.nothing' }]),
  rejectedSelectable('without a dot', [{ jsonPath: 'spec.size' }]),
  rejectedSelectable('in brackets', [{ jsonPath: ".spec['size']" }]),
  rejectedSelectable('that are lists', [{ jsonPath: '.spec.tags' }]),
  rejectedSelectable('that are objects', [{ jsonPath: '.spec' }]),
  rejectedSelectable('below a number', [{ jsonPath: '.spec.size.more' }]),
  rejectedSelectable('in metadata', [{ jsonPath: '.metadata.name' }]),
  rejectedSelectable('twice', [{ jsonPath: '.spec.size' }, { jsonPath: '.spec.size' }]),
  rejectedVersion('selectable fields of the metadata that it names', {
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { metadata: { type: 'object', properties: { name: { type: 'string' } } } },
      },
    },
    selectableFields: [{ jsonPath: '.metadata.name' }],
  }),
  rejectedVersion('nine selectable fields', {
    schema: { openAPIV3Schema: { type: 'object', properties: manyFields } },
    selectableFields: Object.keys(manyFields).map((name) => ({ jsonPath: `.${name}` })),
  }),
];

const versions: readonly ContractCase[] = [
  rejected('a version in capitals', {
    versions: [{ name: 'V1', served: true, storage: true, schema }],
  }),
  rejected('a version without a name', {
    versions: [{ name: '', served: true, storage: true, schema }],
  }),
  rejectedVersion('a deprecation warning of what is not deprecated', { deprecationWarning: 'x' }),
  rejectedVersion('an empty deprecation warning', { deprecated: true, deprecationWarning: '' }),
  rejectedVersion('a deprecation warning of two lines', {
    deprecated: true,
    deprecationWarning: 'a\nb',
  }),
  rejectedVersion('a long deprecation warning', {
    deprecated: true,
    deprecationWarning: 'x'.repeat(257),
  }),
  rejected('a mistake in the column of one version of two', {
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

function rejectedConversion(name: string, conversion: JsonObject): ContractCase {
  return rejected(`a conversion ${name}`, { more: { conversion } });
}

const url = 'https://a.example/convert';

const conversions: readonly ContractCase[] = [
  {
    name: 'a conversion webhook is stored with its port, and ends with its strategy',
    steps: [
      post(
        crds,
        crd({
          more: {
            conversion: {
              strategy: 'Webhook',
              webhook: {
                clientConfig: { service: { namespace: 'a', name: 'b', path: '/convert' } },
                conversionReviewVersions: ['v1'],
              },
            },
          },
        }),
        {
          status: 201,
          body: {
            spec: { conversion: { webhook: { clientConfig: { service: { port: 443 } } } } },
          },
          differs: { warning: 'the sandbox does not call the webhook, of which it warns' },
        },
      ),
      {
        until: `${crds}/gadgets.$(ns).io`,
        expect: {
          status: 200,
          body: { status: { conditions: [{}, { type: 'Established', status: 'True' }] } },
        },
      },
      merge(
        `${crds}/gadgets.$(ns).io`,
        { metadata: { labels: { a: 'b' } } },
        { status: 200, body: { spec: { conversion: { strategy: 'Webhook' } } } },
      ),
      merge(
        `${crds}/gadgets.$(ns).io`,
        { spec: { conversion: { strategy: 'None' } } },
        { status: 422 },
      ),
      merge(
        `${crds}/gadgets.$(ns).io`,
        { spec: { conversion: { strategy: 'None', webhook: null } } },
        { status: 200, body: { spec: { conversion: { strategy: 'None', webhook: null } } } },
      ),
    ],
  },
  rejectedConversion('without a strategy', {}),
  rejectedConversion('by a webhook that is not given', { strategy: 'Webhook' }),
  rejectedConversion('by a webhook of no versions', {
    strategy: 'Webhook',
    webhook: { clientConfig: { url } },
  }),
  rejectedConversion('by a webhook of unknown versions', {
    strategy: 'Webhook',
    webhook: { clientConfig: { url }, conversionReviewVersions: ['v7', 'v7', 'V8'] },
  }),
  rejectedConversion('by a webhook without an address', {
    strategy: 'Webhook',
    webhook: { clientConfig: {}, conversionReviewVersions: ['v1'] },
  }),
  rejectedConversion('by a webhook with two addresses', {
    strategy: 'Webhook',
    webhook: {
      clientConfig: { url, service: { namespace: 'a', name: 'b' } },
      conversionReviewVersions: ['v1'],
    },
  }),
  rejectedConversion('by a webhook with a query and without TLS', {
    strategy: 'Webhook',
    webhook: {
      clientConfig: { url: 'http://user@a.example/convert?x=1' },
      conversionReviewVersions: ['v1'],
    },
  }),
  rejectedConversion('by a service without a name', {
    strategy: 'Webhook',
    webhook: {
      clientConfig: { service: { namespace: 'a', name: '', path: 'convert', port: 70_000 } },
      conversionReviewVersions: ['v1'],
    },
  }),
  rejectedConversion('by name with a webhook', {
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
