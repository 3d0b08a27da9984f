import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { fieldOf, objectField, stringField } from '../json-fields.ts';
import { dns1035Label, dnsSubdomain, portNumber, qualifiedName } from '../metadata/name-rules.ts';
import {
  duplicateField,
  type FieldError,
  invalidField,
  requiredField,
} from '../status/field-error.ts';
import { type Check, fields, isEmpty, oneOf, optional, required } from './field-checks.ts';
import { labelSelector } from './selector-rules.ts';
import { webhookUrlErrors } from './webhook-url.ts';

/** `webhook.example.org`: a domain of three labels or more. */
const qualifiedDomain: Check = ({ value, at }) => {
  if (isEmpty(value)) return [requiredField(at)];
  const name = String(value);
  const errors = dnsSubdomain(name);
  if (errors.length > 0) return [invalidField(at, name, errors.join(','))];
  if (name.split('.').length >= 3) return [];
  return [
    invalidField(at, name, 'should be a domain with at least three segments separated by dots'),
  ];
};

/** A list that is not empty; a `*` in it is its only item. */
function listOrWildcard(what: string): Check {
  return ({ value, at }) => {
    const list = Array.isArray(value) ? value.map(String) : [];
    if (list.length === 0) return [requiredField(at)];
    const detail = `if '*' is present, must not specify other ${what}`;
    return list.length > 1 && list.includes('*') ? [invalidField(at, list, detail)] : [];
  };
}

/** Resources and their subresources, without what a wildcard contains already. */
const ruleResources: Check = ({ value, at }) => {
  const list = Array.isArray(value) ? value.map(String) : [];
  if (list.length === 0) return [requiredField(at)];
  const pairs = list.map((each) => each.split(/\/(.*)/s).slice(0, 2));
  const errors = list.flatMap((each, index): readonly FieldError[] => {
    const place = `${at}[${index}]`;
    const [resource = '', subresource] = pairs[index] ?? [];
    if (each === '') return [requiredField(place)];
    if (subresource === undefined) return [];
    const before = pairs.slice(0, index);
    const has = (a: string, b: string) => before.some(([x, y]) => x === a && y === b);
    if (has(resource, '*'))
      return [invalidField(place, each, `if '${resource}/*' is present, must not specify ${each}`)];
    if (has('*', subresource))
      return [
        invalidField(place, each, `if '*/${subresource}' is present, must not specify ${each}`),
      ];
    return [];
  });
  const others = "if '*/*' is present, must not specify other resources";
  const plain = "if '*' is present, must not specify other resources without subresources";
  const isPlain = (each: string) => each !== '' && each !== '*' && !each.includes('/');
  return [
    ...errors,
    ...(list.length > 1 && list.includes('*/*') ? [invalidField(at, list, others)] : []),
    ...(list.includes('*') && list.some(isPlain) ? [invalidField(at, list, plain)] : []),
  ];
};

/** Validates a rule that selects requests by operation and resource. */
export const requestRule = fields({
  operations: listOrWildcard('operations'),
  'operations[]': oneOf('*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'),
  apiGroups: listOrWildcard('API groups'),
  apiVersions: listOrWildcard('API versions'),
  'apiVersions[]': required(),
  resources: ruleResources,
  scope: optional(oneOf('*', 'Cluster', 'Namespaced')),
});

const sideEffectClasses = ['None', 'NoneOnDryRun'];

const sideEffects: Check = (found) =>
  found.value === undefined || found.value === null
    ? [requiredField(found.at, `must specify one of ${sideEffectClasses.join(', ')}`)]
    : oneOf(...sideEffectClasses)(found);

const timeout: Check = ({ value, at }) =>
  Number(value) >= 1 && Number(value) <= 30
    ? []
    : [invalidField(at, value, 'the timeout value must be between 1 and 30 seconds')];

/** Validates how a webhook is called: by URL or Service. */
export const clientConfig: Check = ({ value, at }) => {
  const config = isJsonObject(value) ? value : {};
  const [url, service] = [fieldOf(config, 'url'), objectField(config, 'service')];
  if ((url === undefined) === (service === undefined))
    return [requiredField(at, 'exactly one of url or service is required')];
  return service === undefined
    ? webhookUrlErrors(String(url), `${at}.url`)
    : serviceErrors(service, `${at}.service`);
};

function serviceErrors(service: JsonObject, at: string): readonly FieldError[] {
  const [name, namespace] = ['name', 'namespace'].map((field) => stringField(service, field) ?? '');
  const { port = 443 } = service;
  return [
    // A real server names the other field of the two.
    ...(namespace === '' ? [requiredField(`${at}.name`)] : []),
    ...(name === '' ? [requiredField(`${at}.namespace`)] : []),
    ...portErrors(Number(port), `${at}.port`),
    ...pathErrors(stringField(service, 'path') ?? '', `${at}.path`),
  ];
}

function portErrors(port: number, at: string): readonly FieldError[] {
  const errors = portNumber(port);
  if (errors.length === 0) return [];
  return [invalidField(at, port, `port is not valid: ${errors.join(',')}`)];
}

/** `/a/b`: segments that are names. */
function pathErrors(path: string, at: string): readonly FieldError[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return [invalidField(at, path, 'segment[0] may not be empty')];
  const start = path.startsWith('/') ? [] : [invalidField(at, path, "must start with a '/'")];
  const segments = path.slice(1).replace(/\/$/, '').split('/');
  return [
    ...start,
    ...segments.flatMap((segment, index) =>
      segment === ''
        ? [invalidField(at, path, `segment[${index}] may not be empty`)]
        : dnsSubdomain(segment).map((error) =>
            invalidField(at, path, `segment[${index}]: ${error}`),
          ),
    ),
  ];
}

const understood = ['v1', 'v1beta1'];

const reviewVersions: Check = ({ value, at }) => {
  const versions = Array.isArray(value) ? value.map(String) : [];
  if (versions.length === 0)
    return [requiredField(at, `must specify one of ${understood.join(', ')}`)];
  const errors = versions.flatMap((version, index) => {
    const place = `${at}[${index}]`;
    if (versions.indexOf(version) < index)
      return [invalidField(place, version, 'duplicate version')];
    return dns1035Label(version).map((error) => invalidField(place, version, error));
  });
  if (versions.some((version) => understood.includes(version))) return errors;
  const detail = `must include at least one of ${understood.join(', ')}`;
  return [...errors, invalidField(at, versions, detail)];
};

/** Names and presence of the conditions; their expressions are not compiled. */
const matchConditions: Check = ({ value, at }) => {
  const known = new Set<Json>();
  return (Array.isArray(value) ? value.filter(isJsonObject) : []).flatMap((condition, index) => {
    const [name, expression] = ['name', 'expression'].map(
      (field) => stringField(condition, field) ?? '',
    );
    const isTwice = known.has(name ?? '');
    known.add(name ?? '');
    return [
      ...((expression ?? '').trim() === '' ? [requiredField(`${at}[${index}].expression`)] : []),
      ...((name ?? '') === ''
        ? [requiredField(`${at}[${index}].name`)]
        : qualifiedName(name ?? '').map((error) =>
            invalidField(`${at}[${index}].name`, name, error),
          )),
      ...(isTwice ? [duplicateField(`${at}[${index}].name`, name ?? '')] : []),
    ];
  });
};

const webhook: readonly Check[] = [
  fields({
    name: qualifiedDomain,
    'rules[]': requestRule,
    failurePolicy: optional(oneOf('Fail', 'Ignore')),
    matchPolicy: optional(oneOf('Equivalent', 'Exact')),
    sideEffects,
    timeoutSeconds: optional(timeout),
    namespaceSelector: labelSelector,
    objectSelector: labelSelector,
    reinvocationPolicy: optional(oneOf('IfNeeded', 'Never')),
    clientConfig,
    matchConditions,
    admissionReviewVersions: reviewVersions,
  }),
];

/** Each name of a webhook once. */
const names: Check = ({ value, at }) => {
  const known = new Set<string>();
  return (Array.isArray(value) ? value.filter(isJsonObject) : []).flatMap((each, index) => {
    const name = stringField(each, 'name') ?? '';
    if (name === '' || !known.has(name)) {
      known.add(name);
      return [];
    }
    return [duplicateField(`${at}[${index}].name`, name)];
  });
};

/** Validates the configuration of admission webhooks. */
export const webhookChecks = fields({ 'webhooks[]': webhook, webhooks: names });
