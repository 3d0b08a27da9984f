import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { dnsLabel, portName, portNumber } from '../metadata/name-rules.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notFoundField,
  requiredField,
  unsupportedValue,
} from '../status/field-error.ts';
import { environmentErrors, environmentSourceErrors } from './environment-rules.ts';
import { errorsOf } from './field-checks.ts';
import { securityChecks } from './pod-checks.ts';
import { lifecycleErrors, probeErrors, probes } from './probe-rules.ts';
import { resourceErrors } from './resource-rules.ts';
import { descendingPathErrors } from './volume-rules.ts';

const messagePolicies = ['File', 'FallbackToLogsOnError'];
const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const protocols = ['SCTP', 'TCP', 'UDP'];

/** Validates a container that runs as long as its pod. */
export function containerErrors(
  container: JsonObject,
  volumes: ReadonlySet<string>,
  at: string,
): readonly FieldError[] {
  return [
    ...commonErrors(container, volumes, at),
    ...lifecycleErrors(container, at),
    ...probes.flatMap((name) => probeErrors(container, name, at)),
  ];
}

/** Validates an init container; a sidecar allows all that containers allow. */
export function initContainerErrors(
  container: JsonObject,
  volumes: ReadonlySet<string>,
  at: string,
): readonly FieldError[] {
  const policy = container.restartPolicy;
  if (policy === 'Always') return containerErrors(container, volumes, at);
  const policies = ['Always', 'Never', 'OnFailure'];
  const detail = 'may not be set for init containers without restartPolicy=Always';
  return [
    ...commonErrors(container, volumes, at),
    ...(policy === undefined || policies.includes(String(policy))
      ? []
      : [unsupportedValue(`${at}.restartPolicy`, policy, policies)]),
    ...['lifecycle', ...probes]
      .filter((name) => container[name] !== undefined)
      .map((name) => forbiddenField(`${at}.${name}`, detail)),
  ];
}

function commonErrors(
  container: JsonObject,
  volumes: ReadonlySet<string>,
  at: string,
): readonly FieldError[] {
  const name = stringField(container, 'name') ?? '';
  const messages = stringField(container, 'terminationMessagePolicy') ?? '';
  const pulls = stringField(container, 'imagePullPolicy') ?? '';
  return [
    ...(name === ''
      ? [requiredField(`${at}.name`)]
      : dnsLabel(name).map((message) => invalidField(`${at}.name`, name, message))),
    ...(stringField(container, 'image') ? [] : [requiredField(`${at}.image`)]),
    ...(messagePolicies.includes(messages)
      ? []
      : [unsupportedValue(`${at}.terminationMessagePolicy`, messages, messagePolicies)]),
    ...portErrors(listField(container, 'ports').filter(isJsonObject), `${at}.ports`),
    ...environmentErrors(listField(container, 'env').filter(isJsonObject), `${at}.env`),
    ...environmentSourceErrors(
      listField(container, 'envFrom').filter(isJsonObject),
      `${at}.envFrom`,
    ),
    ...mountErrors(container, volumes, `${at}.volumeMounts`),
    ...(pullPolicies.includes(pulls)
      ? []
      : [unsupportedValue(`${at}.imagePullPolicy`, pulls, pullPolicies)]),
    ...resourceErrors(objectField(container, 'resources') ?? {}, `${at}.resources`),
    ...errorsOf(
      securityChecks,
      objectField(container, 'securityContext') ?? {},
      `${at}.securityContext`,
    ),
  ];
}

function portErrors(ports: readonly JsonObject[], at: string): readonly FieldError[] {
  const known = new Set<string>();
  return ports.flatMap((port, index) => [
    ...portNameErrors(stringField(port, 'name') ?? '', known, `${at}[${index}].name`),
    ...(Number(port.containerPort ?? 0) === 0
      ? [requiredField(`${at}[${index}].containerPort`)]
      : numberErrors(port, 'containerPort', `${at}[${index}]`)),
    ...numberErrors(port, 'hostPort', `${at}[${index}]`),
    ...protocolErrors(port, `${at}[${index}]`),
  ]);
}

function portNameErrors(name: string, known: Set<string>, at: string): readonly FieldError[] {
  const messages = name === '' ? [] : portName(name);
  if (messages.length > 0) return messages.map((message) => invalidField(at, name, message));
  if (name !== '' && known.has(name)) return [duplicateField(at, name)];
  known.add(name);
  return [];
}

function numberErrors(port: JsonObject, name: string, at: string): readonly FieldError[] {
  const number = Number(port[name] ?? 0);
  if (number === 0) return [];
  return portNumber(number).map((message) => invalidField(`${at}.${name}`, number, message));
}

export function protocolErrors(port: JsonObject, at: string): readonly FieldError[] {
  const protocol = stringField(port, 'protocol') ?? '';
  return protocols.includes(protocol)
    ? []
    : [unsupportedValue(`${at}.protocol`, protocol, protocols)];
}

function mountErrors(
  container: JsonObject,
  volumes: ReadonlySet<string>,
  at: string,
): readonly FieldError[] {
  const known = new Set<string>();
  return listField(container, 'volumeMounts')
    .filter(isJsonObject)
    .flatMap((mount, index) => {
      const [name, path] = ['name', 'mountPath'].map((field) => stringField(mount, field) ?? '');
      const place = `${at}[${index}]`;
      const errors = [
        ...(name === '' ? [requiredField(`${place}.name`)] : []),
        ...(volumes.has(name ?? '') ? [] : [notFoundField(`${place}.name`, name ?? '')]),
        ...(path === '' ? [requiredField(`${place}.mountPath`)] : []),
        ...(known.has(path ?? '')
          ? [invalidField(`${place}.mountPath`, path, 'must be unique')]
          : []),
        ...subPathErrors(mount, at, place),
        ...propagationErrors(mount, container, at),
      ];
      known.add(path ?? '');
      return errors;
    });
}

const propagations = ['Bidirectional', 'HostToContainer', 'None'];

function propagationErrors(
  mount: JsonObject,
  container: JsonObject,
  at: string,
): readonly FieldError[] {
  const mode = mount.mountPropagation;
  const { privileged } = objectField(container, 'securityContext') ?? {};
  const detail = 'Bidirectional mount propagation is available only to privileged containers';
  const readOnly = mount.recursiveReadOnly;
  const modes = ['Disabled', 'Enabled', 'IfPossible'];
  return [
    ...(mode === undefined || propagations.includes(String(mode))
      ? []
      : [unsupportedValue(`${at}.mountPropagation`, mode, propagations)]),
    ...(mode === 'Bidirectional' && privileged !== true
      ? [forbiddenField(`${at}.mountPropagation`, detail)]
      : []),
    ...(readOnly === undefined || modes.includes(String(readOnly))
      ? []
      : [unsupportedValue(`${at}.recursiveReadOnly`, readOnly, modes)]),
    ...(['Enabled', 'IfPossible'].includes(String(readOnly)) && mount.readOnly !== true
      ? [forbiddenField(`${at}.recursiveReadOnly`, 'may only be specified when readOnly is true')]
      : []),
  ];
}

function subPathErrors(mount: JsonObject, at: string, place: string): readonly FieldError[] {
  const [path, expression] = ['subPath', 'subPathExpr'].map(
    (field) => stringField(mount, field) ?? '',
  );
  const detail = 'subPathExpr and subPath are mutually exclusive';
  return [
    ...(path ? descendingPathErrors(path, `${at}.subPath`) : []),
    ...(path && expression ? [invalidField(`${place}.subPathExpr`, expression, detail)] : []),
    ...(expression ? descendingPathErrors(expression, `${at}.subPathExpr`) : []),
  ];
}
