import type { Json, JsonObject } from '#util/json.ts';
import { parseQuantity, quantityBillionths } from '#util/quantity.ts';
import { objectField } from '../json-fields.ts';
import { qualifiedName } from '../metadata/name-rules.ts';
import { type FieldError, invalidField, requiredField } from '../status/field-error.ts';

const billion = 1_000_000_000n;
const containerResources = ['cpu', 'memory', 'ephemeral-storage'];
/** Standard resources that apply to other objects than containers, too. */
const otherResources = [
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'services.nodeports',
  'services.loadbalancers',
];

/** Resources that are measured in whole numbers. */
const countedResources = otherResources.filter(
  (name) => !/^(?:storage|requests\.\w|limits\.\w)/.test(name),
);

/** Validates the requests and limits of a container. */
export function resourceErrors(resources: JsonObject, at: string): readonly FieldError[] {
  const limits = objectField(resources, 'limits') ?? {};
  const requests = objectField(resources, 'requests') ?? {};
  return [
    ...amountErrors(limits, `${at}.limits`),
    ...amountErrors(requests, `${at}.requests`),
    ...Object.entries(requests).flatMap(([name, request]) =>
      limitErrors({ name, request, limit: limits[name] }, at),
    ),
  ];
}

function amountErrors(amounts: JsonObject, at: string): readonly FieldError[] {
  return Object.entries(amounts).flatMap(([name, amount]) => [
    ...containerResourceErrors(name, `${at}[${name}]`),
    ...quantityErrors(name, amount, `${at}[${name}]`),
  ]);
}

interface LimitedRequest {
  readonly name: string;
  readonly request: Json | undefined;
  readonly limit: Json | undefined;
}

/** A limit may exceed its request, except for extended resources and huge pages. */
function limitErrors({ name, request, limit }: LimitedRequest, at: string): readonly FieldError[] {
  const isOvercommittable = isNative(name) && !isHugePage(name);
  if (limit === undefined) {
    const detail = 'Limit must be set for non overcommitable resources';
    return isOvercommittable ? [] : [requiredField(`${at}.limits`, detail)];
  }
  const difference = billionthsOf(request) - billionthsOf(limit);
  const isValid = isOvercommittable ? difference <= 0n : difference === 0n;
  if (isValid) return [];
  const relation = isOvercommittable ? 'less than or equal' : 'equal';
  const detail = `must be ${relation} to ${name} limit of ${limit}`;
  return [invalidField(`${at}.requests`, request, detail)];
}

/** Validates the name of any resource. */
export function resourceNameErrors(name: string, at: string): readonly FieldError[] {
  const malformed = qualifiedName(name).map((message) => invalidField(at, name, message));
  if (malformed.length > 0 || name.includes('/') || isStandard(name)) return malformed;
  return [invalidField(at, name, 'must be a standard resource type or fully qualified')];
}

function isStandard(name: string): boolean {
  return (
    isOfContainers(name) || otherResources.includes(name) || name.startsWith('requests.hugepages-')
  );
}

function isOfContainers(name: string): boolean {
  return containerResources.includes(name) || isHugePage(name);
}

/** Validates the name of a resource in a quota. */
export function quotaResourceErrors(name: string, at: string): readonly FieldError[] {
  const errors = resourceNameErrors(name, at);
  if (name.includes('/') || (isStandard(name) && name !== 'storage')) return errors;
  return [...errors, invalidField(at, name, 'must be a standard resource for quota')];
}

/** Validates the name of a resource of containers. */
export function containerResourceErrors(name: string, at: string): readonly FieldError[] {
  const errors = resourceNameErrors(name, at);
  if (!name.includes('/')) {
    if (isOfContainers(name)) return errors;
    return [...errors, invalidField(at, name, 'must be a standard resource for containers')];
  }
  if (isNative(name) || isExtended(name)) return errors;
  return [...errors, invalidField(at, name, "doesn't follow extended resource name standard")];
}

/** Validates a quantity: not negative, and an integer for countable resources. */
export function quantityErrors(
  name: string,
  amount: Json | undefined,
  at: string,
): readonly FieldError[] {
  const isWhole = billionthsOf(amount) % billion === 0n;
  return [
    ...(isNegativeQuantity(amount)
      ? [invalidField(at, amount, 'must be greater than or equal to 0')]
      : []),
    ...((isExtended(name) || countedResources.includes(name)) && !isWhole
      ? [invalidField(at, amount, 'must be an integer')]
      : []),
  ];
}

export function isNegativeQuantity(amount: Json | undefined): boolean {
  return billionthsOf(amount) < 0n;
}

export function billionthsOf(amount: Json | undefined): bigint {
  const quantity = parseQuantity(amount);
  return (quantity && quantityBillionths(quantity)) ?? 0n;
}

function isHugePage(name: string): boolean {
  return name.startsWith('hugepages-');
}

function isNative(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

function isExtended(name: string): boolean {
  if (isNative(name) || name.startsWith('requests.')) return false;
  return qualifiedName(`requests.${name}`).length === 0;
}
