import { type ConversionRules, digestOf, writeRules } from '#conversion';
import type { JsonObject } from '#util/json.ts';
import { conversionsAnnotation } from '#util/stored-names.ts';
import type { ContractStep } from '../driver/index.ts';
import { crd, crds, gadgets } from './gadgets.ts';
import { post } from './requests.ts';

export const old = '/apis/$(ns).io/v1alpha1/namespaces/$(ns)/gadgets';
export const [one, oldOne] = [`${gadgets}/x`, `${old}/x`];

const rules: ConversionRules = {
  hub: 'v1',
  versions: [
    {
      version: 'v1alpha1',
      fields: [
        { here: 'spec.size', there: 'spec.replicas' },
        {
          here: 'spec.mode',
          there: 'spec.strategy.type',
          values: { fast: 'Parallel', slow: 'Ordered' },
        },
      ],
      drop: [],
    },
  ],
};

const object = (properties: JsonObject): JsonObject => ({ type: 'object', properties });
const text = { type: 'string' };
const status = object({ phase: text });

const schemas: Readonly<Record<string, JsonObject>> = {
  v1alpha1: object({
    spec: object({
      size: { type: 'integer' },
      mode: text,
      color: { type: 'string', default: 'red' },
      extra: text,
    }),
    status,
  }),
  v1: object({
    spec: object({
      replicas: { type: 'integer' },
      strategy: object({ type: text }),
      color: text,
      level: { type: 'integer', default: 3 },
    }),
    status,
  }),
};

const version = (name: string, isStored: boolean): JsonObject => ({
  name,
  served: true,
  storage: isStored,
  subresources: { status: {} },
  schema: { openAPIV3Schema: schemas[name] ?? {} },
});

const versions = (stored: string, more: Readonly<Record<string, JsonObject>>) =>
  ['v1alpha1', 'v1'].map((name) => ({ ...version(name, name === stored), ...more[name] }));

interface ConvertedOptions {
  /** @default that of the rules */
  readonly digest?: string;
  /** More of each version. */
  readonly more?: Readonly<Record<string, JsonObject>>;
}

/** A CRD with a webhook that converts by rules. The path names the digest of the rules. */
export function converted(stored: string, options: ConvertedOptions = {}): readonly ContractStep[] {
  const { digest = digestOf(rules), more = {} } = options;
  const url = `$(webhook)/gadgets.$(ns).io/${digest}`;
  const clientConfig = { url, caBundle: '$(caBundle)' };
  const webhook = { clientConfig, conversionReviewVersions: ['v1'] };
  const annotations = { [conversionsAnnotation]: writeRules(rules) };
  const conversion = { strategy: 'Webhook', webhook };
  const whole = crd({ versions: versions(stored, more), more: { conversion }, annotations });
  return [
    post(crds, whole, { status: 201 }),
    { until: gadgets, expect: { status: 200 } },
    { until: old, expect: { status: 200 } },
  ];
}

export const gadget = (name: string, spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: `$(ns).io/${name}`,
  kind: 'Gadget',
  metadata: { name: 'x', ...metadata },
  spec,
});
export const withStatus = (name: string, phase: string): JsonObject => ({
  apiVersion: `$(ns).io/${name}`,
  kind: 'Gadget',
  metadata: { name: 'x' },
  status: { phase },
});
