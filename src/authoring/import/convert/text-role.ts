import type { TextRole } from './instance-text.ts';

/** Fields whose value never depends on the instance: kinds, images, and names that are local to a Pod or an object. */
const localFields: ReadonlySet<string> = new Set([
  'image',
  'kind',
  'apiVersion',
  'apiGroup',
  'apiGroups',
  'resources',
  'verbs',
  'targetPort',
  'portName',
  'containerName',
  'sectionName',
  'topologyKey',
  'schedulerName',
  'imagePullPolicy',
]);

/** Lists whose items have names of their own. */
const namedLists: ReadonlySet<string> = new Set([
  'containers',
  'initContainers',
  'ephemeralContainers',
  'ports',
  'env',
  'volumes',
  'volumeMounts',
  'volumeDevices',
  'listeners',
  'resourceClaims',
]);

/** Maps whose keys are free, so that they can be computed. */
const freeMaps: ReadonlySet<string> = new Set([
  'labels',
  'annotations',
  'matchLabels',
  'selector',
  'data',
  'stringData',
  'binaryData',
]);

/** Fields that name objects, beside those that end with `Name`. */
const referenceFields: ReadonlySet<string> = new Set([
  'name',
  'serviceAccount',
  'namespace',
  'resourceNames',
  'service',
  'secret',
  'configMap',
]);

/** May the keys of the map at this path be computed? */
export function hasFreeKeys(path: readonly string[]): boolean {
  return freeMaps.has(path.at(-1) ?? '');
}

/** What a text at this path is; items of lists are `[]`. Undefined: it stays as it is. Pure. */
export function roleAt(path: readonly string[]): TextRole | undefined {
  const [list = '', field = ''] = path.slice(-2);
  const isItem = field === '[]';
  const name = isItem ? list : field;
  if (path.length === 2 && path[0] === 'metadata' && field === 'name') return 'name';
  // A label or a key of data can have any name.
  if (freeMaps.has(list) && !isItem)
    return list === 'labels' || list === 'matchLabels' || list === 'selector' ? 'label' : 'text';
  if (path.at(-3) === 'matchExpressions') return field === 'key' ? 'text' : 'label';
  if (isItem && list === 'values' && path.includes('matchExpressions')) return 'label';
  if (localFields.has(name) || isLocalName(path)) return undefined;
  if (/[a-z]ClassName$/.test(name)) return 'class';
  return referenceFields.has(name) || /[a-z]Name$/.test(name) ? 'reference' : 'text';
}

/** The name of a container, a port, a volume or a claim template, where it is defined and where it is used. */
function isLocalName(path: readonly string[]): boolean {
  const [list = '', item = '', field = ''] = path.slice(-3);
  if (item === '[]' && field === 'name' && namedLists.has(list)) return true;
  // `httpGet.port: web`, `service.port.name: web`.
  if (field === 'port' || (item === 'port' && field === 'name')) return true;
  // The name of a mount of the Pods.
  if (path.at(-2) === 'metadata' && field === 'name' && path.includes('volumeClaimTemplates'))
    return true;
  return item === 'containerResource' && field === 'container';
}

/** Fields whose text may be anything. */
const freeTexts: ReadonlySet<string> = new Set([
  'command',
  'args',
  'data',
  'stringData',
  'binaryData',
  'host',
  'hosts',
  'value',
]);

/** May a text at this path be the name of an object, and nothing else? Items of lists are `[]`. Pure. */
export function isReference(path: readonly string[]): boolean {
  return roleAt(path) !== undefined && !path.some((step) => freeTexts.has(step));
}
