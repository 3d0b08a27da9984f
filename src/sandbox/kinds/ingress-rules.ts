import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import {
  dnsLabel,
  dnsSubdomain,
  isIpAddress,
  pathSegment,
  portName,
  portNumber,
  wildcardSubdomain,
} from '../metadata/name-rules.ts';
import {
  type FieldError,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/field-error.ts';

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];
const forbiddenParts = ['//', '/./', '/../', '%2f', '%2F'];
const forbiddenEnds = ['/..', '/.'];

/** Validates the spec of an Ingress. */
export function ingressErrors(spec: JsonObject): readonly FieldError[] {
  const rules = listField(spec, 'rules').filter(isJsonObject);
  const backend = objectField(spec, 'defaultBackend');
  const ingressClass = stringField(spec, 'ingressClassName');
  const detail = 'either `defaultBackend` or `rules` must be specified';
  return [
    ...(rules.length === 0 && backend === undefined
      ? [invalidField('spec', spec.rules ?? null, detail)]
      : []),
    ...(backend === undefined ? [] : backendErrors(backend, 'spec.defaultBackend')),
    ...rules.flatMap((rule, index) => ruleErrors(rule, `spec.rules[${index}]`)),
    ...listField(spec, 'tls')
      .filter(isJsonObject)
      .flatMap((tls, index) => certificateErrors(tls, `spec.tls[${index}]`)),
    ...(ingressClass === undefined
      ? []
      : dnsSubdomain(ingressClass).map((message) =>
          invalidField('spec.ingressClassName', ingressClass, message),
        )),
  ];
}

/** The annotation for the ingress class, which predates the field, must not differ from it. */
export function ingressClassErrors(ingress: JsonObject): readonly FieldError[] {
  const annotations = objectField(objectField(ingress, 'metadata') ?? {}, 'annotations') ?? {};
  const annotated = annotations['kubernetes.io/ingress.class'];
  const ingressClass = stringField(objectField(ingress, 'spec') ?? {}, 'ingressClassName');
  if (annotated === undefined || ingressClass === undefined || annotated === ingressClass)
    return [];
  const detail = 'must match `ingressClassName` when both are specified';
  return [invalidField('annotations.kubernetes.io/ingress.class', annotated, detail)];
}

function ruleErrors(rule: JsonObject, at: string): readonly FieldError[] {
  const host = stringField(rule, 'host') ?? '';
  const http = objectField(rule, 'http');
  const address = 'must be a DNS name, not an IP address';
  return [
    ...(isIpAddress(host) ? [invalidField(`${at}.host`, host, address)] : []),
    ...(host === '' ? [] : hostErrors(host, `${at}.host`)),
    ...(http === undefined ? [] : pathsErrors(http, `${at}.http.paths`)),
  ];
}

function hostErrors(host: Json, at: string): readonly FieldError[] {
  const text = String(host);
  const rule = text.includes('*') ? wildcardSubdomain : dnsSubdomain;
  return rule(text).map((message) => invalidField(at, text, message));
}

function certificateErrors(tls: JsonObject, at: string): readonly FieldError[] {
  const name = stringField(tls, 'secretName') ?? '';
  return [
    ...listField(tls, 'hosts').flatMap((host, index) => hostErrors(host, `${at}.hosts[${index}]`)),
    ...(name === ''
      ? []
      : dnsSubdomain(name).map((message) => invalidField(`${at}.secretName`, name, message))),
  ];
}

function pathsErrors(http: JsonObject, at: string): readonly FieldError[] {
  const paths = listField(http, 'paths').filter(isJsonObject);
  if (paths.length === 0) return [requiredField(at)];
  return paths.flatMap((path, index) => pathErrors(path, `${at}[${index}]`));
}

function pathErrors(path: JsonObject, at: string): readonly FieldError[] {
  const type = stringField(path, 'pathType');
  if (type === undefined) return [requiredField(`${at}.pathType`, 'pathType must be specified')];
  return [
    ...(pathTypes.includes(type)
      ? textErrors(stringField(path, 'path') ?? '', type, `${at}.path`)
      : [unsupportedValue(`${at}.pathType`, type, pathTypes)]),
    ...backendErrors(objectField(path, 'backend') ?? {}, `${at}.backend`),
  ];
}

function textErrors(text: string, type: string, at: string): readonly FieldError[] {
  const isFree = type === 'ImplementationSpecific';
  const isValid = text.startsWith('/') || (isFree && text === '');
  const relative = isValid ? [] : [invalidField(at, text, 'must be an absolute path')];
  if (isFree) return relative;
  return [
    ...relative,
    ...forbiddenParts
      .filter((part) => text.includes(part))
      .map((part) => invalidField(at, text, `must not contain '${part}'`)),
    ...forbiddenEnds
      .filter((end) => text.endsWith(end))
      .map((end) => invalidField(at, text, `cannot end with '${end}'`)),
  ];
}

function backendErrors(backend: JsonObject, at: string): readonly FieldError[] {
  const [service, resource] = [objectField(backend, 'service'), objectField(backend, 'resource')];
  if (service !== undefined && resource !== undefined)
    return [invalidField(at, '', 'cannot set both resource and service backends')];
  if (service !== undefined) return backendServiceErrors(service, at);
  if (resource !== undefined) return resourceErrors(resource, `${at}.resource`);
  return [invalidField(at, '', 'resource or service backend is required')];
}

function backendServiceErrors(service: JsonObject, at: string): readonly FieldError[] {
  const name = stringField(service, 'name') ?? '';
  const field = `${at}.service.name`;
  return [
    ...(name === ''
      ? [requiredField(field)]
      : dnsLabel(name).map((message) => invalidField(field, name, message))),
    ...backendPortErrors(objectField(service, 'port') ?? {}, at),
  ];
}

function backendPortErrors(port: JsonObject, at: string): readonly FieldError[] {
  const name = stringField(port, 'name') ?? '';
  const number = Number(port.number ?? 0);
  const field = `${at}.service.port`;
  if (name !== '' && number !== 0)
    return [invalidField(at, '', 'cannot set both port name & port number')];
  if (name !== '')
    return portName(name).map((message) => invalidField(`${field}.name`, name, message));
  if (number !== 0)
    return portNumber(number).map((message) => invalidField(`${field}.number`, number, message));
  return [requiredField(at, 'port name or number is required')];
}

function resourceErrors(resource: JsonObject, at: string): readonly FieldError[] {
  const group = stringField(resource, 'apiGroup');
  return [
    ...(group === undefined
      ? []
      : dnsSubdomain(group).map((message) => invalidField(`${at}.apiGroup`, group, message))),
    ...['kind', 'name'].flatMap((name) => segmentErrors(resource, name, at)),
  ];
}

/** Validates a field that becomes a path segment. */
function segmentErrors(object: JsonObject, name: string, at: string): readonly FieldError[] {
  const text = stringField(object, name) ?? '';
  if (text === '') return [requiredField(`${at}.${name}`)];
  return pathSegment(text).map((message) => invalidField(`${at}.${name}`, text, message));
}
