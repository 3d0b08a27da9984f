import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { portName, portNumber } from '../metadata/name-rules.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/field-error.ts';

export const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'];

const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'];
const schemes = ['HTTP', 'HTTPS'];
const counts = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

/** Validates a probe of a container, if present. */
export function probeErrors(
  container: JsonObject,
  name: string,
  path: string,
): readonly FieldError[] {
  const probe = objectField(container, name);
  if (probe === undefined) return [];
  const at = `${path}.${name}`;
  const isReadiness = name === 'readinessProbe';
  const grace = probe.terminationGracePeriodSeconds;
  const once = probe.successThreshold ?? 0;
  return [
    ...handlerErrors(probe, at),
    ...counts.flatMap((count) => {
      const value = probe[count];
      return typeof value === 'number' && value < 0
        ? [invalidField(`${at}.${count}`, value, 'must be greater than or equal to 0')]
        : [];
    }),
    ...(typeof grace === 'number' && grace <= 0
      ? [invalidField(`${at}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')]
      : []),
    ...(isReadiness || once === 1
      ? []
      : [invalidField(`${at}.successThreshold`, once, 'must be 1')]),
    ...(isReadiness && grace !== undefined
      ? [
          invalidField(
            `${at}.terminationGracePeriodSeconds`,
            grace,
            'must not be set for readinessProbes',
          ),
        ]
      : []),
  ];
}

export function lifecycleErrors(container: JsonObject, path: string): readonly FieldError[] {
  const lifecycle = objectField(container, 'lifecycle') ?? {};
  return ['postStart', 'preStop'].flatMap((name) => {
    const hook = objectField(lifecycle, name);
    return hook === undefined ? [] : handlerErrors(hook, `${path}.lifecycle.${name}`);
  });
}

/** Exactly one handler must be set. */
function handlerErrors(action: JsonObject, at: string): readonly FieldError[] {
  const [first, ...others] = handlers.filter((name) => objectField(action, name) !== undefined);
  if (first === undefined) return [requiredField(at, 'must specify a handler type')];
  return [
    ...actionErrors(first, objectField(action, first) ?? {}, `${at}.${first}`),
    ...others.map((name) =>
      forbiddenField(`${at}.${name}`, 'may not specify more than 1 handler type'),
    ),
  ];
}

function actionErrors(name: string, action: JsonObject, at: string): readonly FieldError[] {
  switch (name) {
    case 'exec':
      return listField(action, 'command').length === 0 ? [requiredField(`${at}.command`)] : [];
    case 'httpGet':
      return httpErrors(action, at);
    case 'tcpSocket':
    case 'grpc':
      return portErrors(action.port, `${at}.port`);
    default:
      return [];
  }
}

const headerName = /^[-A-Za-z0-9]+$/;

function httpErrors(action: JsonObject, at: string): readonly FieldError[] {
  const scheme = stringField(action, 'scheme') ?? '';
  const detail =
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
  return [
    ...(stringField(action, 'path') ? [] : [requiredField(`${at}.path`)]),
    ...portErrors(action.port, `${at}.port`),
    ...(schemes.includes(scheme) ? [] : [unsupportedValue(`${at}.scheme`, scheme, schemes)]),
    ...listField(action, 'httpHeaders')
      .filter(isJsonObject)
      .map((header) => stringField(header, 'name') ?? '')
      .filter((header) => !headerName.test(header))
      .map((header) => invalidField(`${at}.httpHeaders`, header, detail)),
  ];
}

/** Validates a port number or name. */
export function portErrors(port: Json | undefined, at: string): readonly FieldError[] {
  const messages = typeof port === 'string' ? portName(port) : portNumber(Number(port ?? 0));
  return messages.map((message) => invalidField(at, port ?? 0, message));
}
