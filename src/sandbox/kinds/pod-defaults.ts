import type { JsonObject } from '#util/json.ts';
import {
  isJsonList,
  listField,
  type MutableJsonObject,
  mapObjects,
  objectField,
  stringField,
  withFields,
} from '../json-fields.ts';

/** The spec of a pod with the server's defaults. A subset: the fields that most specs use. */
export function withPodSpecDefaults(spec: JsonObject): JsonObject {
  const account = spec.serviceAccountName ?? spec.serviceAccount;
  return withDefaults(
    withFields(spec, {
      ...(account === undefined ? {} : { serviceAccountName: account, serviceAccount: account }),
      ...containersIn(spec, 'containers'),
      ...containersIn(spec, 'initContainers'),
      ...volumesIn(spec),
    }),
    {
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      terminationGracePeriodSeconds: 30,
      schedulerName: 'default-scheduler',
      securityContext: {},
    },
  );
}

/** A pod template with the defaults for its spec. */
export function withTemplateDefaults(template: JsonObject | undefined): JsonObject {
  const spec = objectField(template ?? {}, 'spec') ?? {};
  return withFields(template ?? {}, { spec: withPodSpecDefaults(spec) });
}

/** Sets fields that are absent. */
export function withDefaults(object: JsonObject, defaults: JsonObject): JsonObject {
  const missing: MutableJsonObject = {};
  let isComplete = true;
  for (const [name, value = null] of Object.entries(defaults)) {
    if (object[name] !== undefined && object[name] !== null) continue;
    missing[name] = value;
    isComplete = false;
  }
  return isComplete ? object : { ...object, ...missing };
}

function containersIn(spec: JsonObject, field: string): JsonObject {
  const containers = spec[field];
  if (!isJsonList(containers)) return {};
  return { [field]: mapObjects(containers, withContainerDefaults) };
}

function withContainerDefaults(container: JsonObject): JsonObject {
  const image = stringField(container, 'image') ?? '';
  const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((name) => {
    const probe = objectField(container, name);
    return probe === undefined ? [] : [[name, withProbeDefaults(probe)] as const];
  });
  const env = listField(container, 'env');
  const lifecycle = objectField(container, 'lifecycle');
  return withDefaults(
    withFields(container, {
      ...Object.fromEntries(probes),
      ...(lifecycle === undefined ? {} : { lifecycle: withHooks(lifecycle) }),
      ...(env.length === 0 ? {} : { env: mapObjects(env, withEnvDefaults) }),
    }),
    {
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: hasMovingTag(image) ? 'Always' : 'IfNotPresent',
    },
  );
}

const host = '(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)';
const part = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const imageName = new RegExp(
  `^(?:${host}(?:\\.${host})*(?::\\d+)?/)?${part}(?:/${part})*(?::\\w[\\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*:[0-9a-fA-F]{32,})?$`,
);
const longestImage = 255 - 'docker.io/library/'.length;

/** Without a tag an image is `latest`, which changes over time. A malformed name has no tag. */
function hasMovingTag(image: string): boolean {
  if (image.length > longestImage || !imageName.test(image)) return false;
  const name = image.slice(image.lastIndexOf('/') + 1);
  return !image.includes('@') && (!name.includes(':') || name.endsWith(':latest'));
}

function withHooks(lifecycle: JsonObject): JsonObject {
  const hooks = ['postStart', 'preStop'].flatMap((name) => {
    const hook = objectField(lifecycle, name);
    return hook === undefined ? [] : [[name, withRequestDefaults(hook)] as const];
  });
  return withFields(lifecycle, Object.fromEntries(hooks));
}

function withRequestDefaults(action: JsonObject): JsonObject {
  const http = objectField(action, 'httpGet');
  if (http === undefined) return action;
  return withFields(action, { httpGet: withDefaults(http, { path: '/', scheme: 'HTTP' }) });
}

function withProbeDefaults(probe: JsonObject): JsonObject {
  return withDefaults(withRequestDefaults(probe), {
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
}

function withEnvDefaults(variable: JsonObject): JsonObject {
  const source = objectField(variable, 'valueFrom');
  if (source === undefined) return variable;
  return withFields(variable, { valueFrom: withFieldDefaults(source) });
}

/** Defaults of a reference to a field of the pod. */
function withFieldDefaults(source: JsonObject): JsonObject {
  const resource = objectField(source, 'resourceFieldRef');
  if (resource !== undefined)
    return withFields(source, { resourceFieldRef: withDefaults(resource, { divisor: '0' }) });
  const field = objectField(source, 'fieldRef');
  if (field === undefined) return source;
  return withFields(source, { fieldRef: withDefaults(field, { apiVersion: 'v1' }) });
}

function volumesIn(spec: JsonObject): JsonObject {
  const volumes = listField(spec, 'volumes');
  return volumes.length === 0 ? {} : { volumes: mapObjects(volumes, withVolumeDefaults) };
}

function withVolumeDefaults(volume: JsonObject): JsonObject {
  const sources = Object.keys(volume).filter((name) => name !== 'name');
  if (sources.length === 0) return { ...volume, emptyDir: {} };
  const template = objectField(objectField(volume, 'ephemeral') ?? {}, 'volumeClaimTemplate');
  if (template !== undefined) {
    const spec = withDefaults(objectField(template, 'spec') ?? {}, { volumeMode: 'Filesystem' });
    const volumeClaimTemplate = withFields(template, { spec });
    const ephemeral = withFields(objectField(volume, 'ephemeral') ?? {}, { volumeClaimTemplate });
    return withFields(volume, { ephemeral });
  }
  for (const name of ['configMap', 'secret', 'projected', 'downwardAPI']) {
    const source = objectField(volume, name);
    if (source !== undefined)
      return withFields(volume, { [name]: withDefaults(withParts(source), { defaultMode: 420 }) });
  }
  return withHostPathType(volume);
}

/** A directory of the node without a type has an empty one. */
export function withHostPathType(volume: JsonObject): JsonObject {
  const hostPath = objectField(volume, 'hostPath');
  if (hostPath === undefined) return volume;
  return withFields(volume, { hostPath: withDefaults(hostPath, { type: '' }) });
}

/** Defaults of a projected volume; each source has its own. */
function withParts(source: JsonObject): JsonObject {
  const { items, sources } = source;
  if (isJsonList(items)) return withFields(source, { items: mapObjects(items, withFieldDefaults) });
  if (!isJsonList(sources)) return source;
  return withFields(source, { sources: mapObjects(sources, withProjectionDefaults) });
}

function withProjectionDefaults(projection: JsonObject): JsonObject {
  const token = objectField(projection, 'serviceAccountToken');
  const fields = objectField(projection, 'downwardAPI');
  return withFields(projection, {
    ...(token === undefined
      ? {}
      : { serviceAccountToken: withDefaults(token, { expirationSeconds: 3600 }) }),
    ...(fields === undefined ? {} : { downwardAPI: withParts(fields) }),
  });
}
