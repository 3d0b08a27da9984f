import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { dnsLabel, dnsSubdomain } from '../metadata/name-rules.ts';
import { annotationErrors, labelErrors } from '../metadata/validate-metadata.ts';
import {
  duplicateField,
  type FieldError,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/field-error.ts';
import { containerErrors, initContainerErrors } from './container-rules.ts';
import { errorsOf } from './field-checks.ts';
import { podChecks } from './pod-checks.ts';
import { volumeErrors } from './volume-rules.ts';

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const largestInt32 = 2_147_483_647;

/** Validates a pod template in any workload. */
export function templateContentErrors(template: JsonObject, at: string): readonly FieldError[] {
  const metadata = objectField(template, 'metadata') ?? {};
  return [
    ...labelErrors(objectField(metadata, 'labels') ?? {}, `${at}.labels`),
    ...annotationErrors(objectField(metadata, 'annotations') ?? {}, `${at}.annotations`),
    ...podSpecErrors(objectField(template, 'spec') ?? {}, `${at}.spec`),
  ];
}

/** Validates the spec of a pod; a subset: the rules that authors of templates meet. */
export function podSpecErrors(spec: JsonObject, at: string): readonly FieldError[] {
  const { volumes, errors } = volumeErrors(listField(spec, 'volumes'), `${at}.volumes`);
  const containers = listField(spec, 'containers').filter(isJsonObject);
  const restartPolicy = stringField(spec, 'restartPolicy') ?? '';
  const dnsPolicy = stringField(spec, 'dnsPolicy') ?? '';
  const named = (name: string, rule: (text: string) => readonly string[]) => {
    const text = stringField(spec, name) ?? '';
    return text === ''
      ? []
      : rule(text).map((message) => invalidField(`${at}.${name}`, text, message));
  };
  return [
    ...errors,
    ...containersErrors(containers, volumes, `${at}.containers`),
    ...(spec.hostNetwork === true ? nodePortErrors(containers, `${at}.containers`) : []),
    ...initErrors(spec, volumes, `${at}.initContainers`),
    ...choiceErrors(restartPolicy, restartPolicies, `${at}.restartPolicy`),
    ...choiceErrors(dnsPolicy, dnsPolicies, `${at}.dnsPolicy`),
    ...labelErrors(objectField(spec, 'nodeSelector') ?? {}, `${at}.nodeSelector`),
    ...errorsOf(podChecks, spec, at),
    ...named('serviceAccountName', dnsSubdomain),
    ...named('nodeName', dnsSubdomain),
    ...deadlineErrors(spec.activeDeadlineSeconds, `${at}.activeDeadlineSeconds`),
    ...named('hostname', dnsLabel),
    ...named('subdomain', dnsLabel),
    ...named('priorityClassName', dnsSubdomain),
  ];
}

function choiceErrors(
  value: string,
  choices: readonly string[],
  at: string,
): readonly FieldError[] {
  return choices.includes(value) ? [] : [unsupportedValue(at, value, choices)];
}

function deadlineErrors(seconds: Json | undefined, at: string): readonly FieldError[] {
  if (typeof seconds !== 'number' || (seconds >= 1 && seconds <= largestInt32)) return [];
  return [invalidField(at, seconds, `must be between 1 and ${largestInt32}, inclusive`)];
}

function containersErrors(
  containers: readonly JsonObject[],
  volumes: ReadonlySet<string>,
  at: string,
): readonly FieldError[] {
  if (containers.length === 0) return [requiredField(at)];
  const known = new Set<string>();
  return [
    ...containers.flatMap((container, index) => [
      ...containerErrors(container, volumes, `${at}[${index}]`),
      ...(isNew(container, known)
        ? []
        : [duplicateField(`${at}[${index}].name`, container.name ?? '')]),
    ]),
    ...hostPortErrors(containers, at),
  ];
}

function initErrors(
  spec: JsonObject,
  volumes: ReadonlySet<string>,
  at: string,
): readonly FieldError[] {
  const known = new Set<string>();
  for (const container of listField(spec, 'containers'))
    if (isJsonObject(container)) known.add(stringField(container, 'name') ?? '');
  return listField(spec, 'initContainers')
    .filter(isJsonObject)
    .flatMap((container, index) => [
      ...initContainerErrors(container, volumes, `${at}[${index}]`),
      ...(isNew(container, known)
        ? []
        : [duplicateField(`${at}[${index}].name`, container.name ?? '')]),
    ]);
}

function isNew(container: JsonObject, known: Set<string>): boolean {
  const name = stringField(container, 'name') ?? '';
  if (known.has(name)) return false;
  known.add(name);
  return true;
}

/** With hostNetwork, a port of a container is a port of its node. */
function nodePortErrors(containers: readonly JsonObject[], at: string): readonly FieldError[] {
  const detail = 'must match `containerPort` when `hostNetwork` is true';
  return containers.flatMap((container, index) =>
    listField(container, 'ports').flatMap((port, number) => {
      const { hostPort = 0, containerPort } = isJsonObject(port) ? port : {};
      if (hostPort === 0 || hostPort === containerPort) return [];
      return [invalidField(`${at}[${index}].ports[${number}].hostPort`, hostPort, detail)];
    }),
  );
}

/** Only one container may use a host port. */
function hostPortErrors(containers: readonly JsonObject[], at: string): readonly FieldError[] {
  const known = new Set<string>();
  return containers.flatMap((container, index) =>
    listField(container, 'ports').flatMap((port, number) => {
      if (!isJsonObject(port) || typeof port.hostPort !== 'number' || port.hostPort === 0)
        return [];
      const text = `${port.protocol ?? ''}/${port.hostIP ?? ''}/${port.hostPort}`;
      if (known.has(text))
        return [duplicateField(`${at}[${index}].ports[${number}].hostPort`, text)];
      known.add(text);
      return [];
    }),
  );
}
