import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { isJsonList, listField, objectField, stringField } from '../json-fields.ts';

/** A pod's spec with what the server fills in. A subset: what specs of the usual sort need. */
export function withPodSpecDefaults(spec: JsonObject): JsonObject {
  const account = spec.serviceAccountName ?? spec.serviceAccount;
  return withDefaults(
    {
      ...spec,
      ...(account === undefined ? {} : { serviceAccountName: account, serviceAccount: account }),
      ...containersIn(spec, 'containers'),
      ...containersIn(spec, 'initContainers'),
      ...volumesIn(spec),
    },
    {
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      terminationGracePeriodSeconds: 30,
      schedulerName: 'default-scheduler',
      securityContext: {},
    },
  );
}

/** A pod template with its spec completed. */
export function withTemplateDefaults(template: JsonObject | undefined): JsonObject {
  const spec = objectField(template ?? {}, 'spec') ?? {};
  return { ...template, spec: withPodSpecDefaults(spec) };
}

/** Fills in fields that are not there. */
export function withDefaults(object: JsonObject, defaults: JsonObject): JsonObject {
  const missing = Object.entries(defaults).filter(([name]) => object[name] === undefined);
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

function containersIn(spec: JsonObject, field: string): JsonObject {
  const containers = spec[field];
  if (!isJsonList(containers)) return {};
  return { [field]: containers.map(mapObject(withContainerDefaults)) };
}

function mapObject(change: (object: JsonObject) => JsonObject) {
  return (value: Json): Json => (isJsonObject(value) ? change(value) : value);
}

function withContainerDefaults(container: JsonObject): JsonObject {
  const image = stringField(container, 'image') ?? '';
  const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((name) => {
    const probe = objectField(container, name);
    return probe === undefined ? [] : [[name, withProbeDefaults(probe)] as const];
  });
  const env = listField(container, 'env');
  return withDefaults(
    {
      ...container,
      ...Object.fromEntries(probes),
      ...(env.length === 0 ? {} : { env: env.map(mapObject(withEnvDefaults)) }),
    },
    {
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: hasMovingTag(image) ? 'Always' : 'IfNotPresent',
    },
  );
}

/** No tag means `latest`, and `latest` is not always the same. */
function hasMovingTag(image: string): boolean {
  const name = image.slice(image.lastIndexOf('/') + 1);
  return !image.includes('@') && (!name.includes(':') || name.endsWith(':latest'));
}

function withProbeDefaults(probe: JsonObject): JsonObject {
  const http = objectField(probe, 'httpGet');
  return withDefaults(
    http === undefined
      ? probe
      : { ...probe, httpGet: withDefaults(http, { path: '/', scheme: 'HTTP' }) },
    { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
  );
}

function withEnvDefaults(variable: JsonObject): JsonObject {
  const source = objectField(variable, 'valueFrom');
  const fieldRef = source && objectField(source, 'fieldRef');
  if (fieldRef === undefined) return variable;
  const completed = { ...source, fieldRef: withDefaults(fieldRef, { apiVersion: 'v1' }) };
  return { ...variable, valueFrom: completed };
}

function volumesIn(spec: JsonObject): JsonObject {
  const volumes = listField(spec, 'volumes');
  return volumes.length === 0 ? {} : { volumes: volumes.map(mapObject(withVolumeDefaults)) };
}

function withVolumeDefaults(volume: JsonObject): JsonObject {
  for (const name of ['configMap', 'secret', 'projected', 'downwardAPI']) {
    const source = objectField(volume, name);
    if (source !== undefined)
      return { ...volume, [name]: withDefaults(source, { defaultMode: 420 }) };
  }
  const hostPath = objectField(volume, 'hostPath');
  if (hostPath === undefined) return volume;
  return { ...volume, hostPath: withDefaults(hostPath, { type: '' }) };
}
