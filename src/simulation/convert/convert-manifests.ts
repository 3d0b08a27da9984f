import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { childId } from './child-id.ts';
import { cleanObject } from './clean-object.ts';
import { type Parameter, schemaOf, targetOf, valueAt, withValueAt } from './parameter.ts';
import { isStored } from './server-fields.ts';
import { repeatedLabels, withLabels } from './shared-labels.ts';

export interface ConversionOptions {
  /** Name of the definition. */
  readonly name: string;
  readonly kind: string;
  readonly plural: string;
  readonly group: string;
  readonly objects: readonly KubeObject[];
  /** Kinds that are cluster-scoped. Their children need `crossNamespace`. */
  readonly isNamespaced: (object: KubeObject) => boolean;
  readonly parameters: readonly Parameter[];
}

export interface Conversion {
  readonly definition: JsonObject;
  /** A resource that renders the objects as they were. */
  readonly sample: KubeObject;
  /** The objects without what servers and tools add: what the sample must render. */
  readonly objects: readonly KubeObject[];
  /** What the user should know or do, for people. */
  readonly notes: readonly string[];
}

/**
 * Converts manifests to a definition: the name that they have in common becomes the name of the resource, parameters become fields of its
 * `spec`, and maps of labels that occur several times become a variable. Everything else stays literal. Pure.
 */
export function convertManifests(options: ConversionOptions): Conversion {
  const { name, kind, plural, group, parameters } = options;
  const { objects, notes, isOne } = withoutNamespaces(options.objects.map(cleanObject));
  const common = commonName(objects.map(({ metadata }) => metadata.name));
  const instance = common ?? name;
  const names = namesOf(objects, instance);
  const parameterized = objects.map((object) =>
    asTemplate(object, {
      names,
      isOne,
      parameters: parameters.filter((each) => targetOf(each, [object])),
    }),
  );
  const labels = repeatedLabels(parameterized);
  const ids = idsOf(objects, instance);
  const children = parameterized.map((template, index) => {
    const source = objects[index] as KubeObject;
    const needsPermission =
      !options.isNamespaced(source) || source.metadata.namespace !== undefined;
    return {
      id: ids[index] ?? '',
      ...(needsPermission && { crossNamespace: true }),
      template: labels === undefined ? template : withLabels(template, labels),
    };
  });
  const spec = specSchema(parameters, objects);
  const definition = {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'OperatorDefinition',
    metadata: { name },
    spec: {
      crd: {
        group,
        names: { kind, plural },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1alpha1',
            schema: {
              openAPIV3Schema: { type: 'object', properties: { spec, status: { type: 'object' } } },
            },
          },
        ],
      },
      ...(labels !== undefined && { vars: { labels } }),
      children,
    },
  } as unknown as JsonObject;
  const sample = {
    apiVersion: `${group}/v1alpha1`,
    kind,
    metadata: { name: instance },
    spec: {},
  } as KubeObject;
  return {
    definition,
    sample,
    objects,
    notes: [
      ...notes,
      ...(common === undefined ? [literalNames] : []),
      ...options.objects.filter((object) => hasNodePort(object) && isStored(object)).map(portNote),
    ],
  };
}

const literalNames =
  'The names of the objects have no common beginning, so they stay literal: only one resource can exist. Put "${ metadata.name }" into them';

function hasNodePort(object: KubeObject): boolean {
  const { spec } = object as { readonly spec?: { readonly ports?: unknown } };
  const ports = Array.isArray(spec?.ports) ? spec.ports : [];
  return object.kind === 'Service' && ports.some((port) => isJsonObject(port) && port.nodePort);
}

function portNote({ metadata: { name } }: KubeObject): string {
  return `The "nodePort" of Service "${name}" is left out, so that the server assigns it. Add it to the template if clients use the number`;
}

/** The namespace of the sample. */
const sampleNamespace = 'default';

/** Objects of one namespace have that of their resource, also where they name each other with it. */
function withoutNamespaces(objects: readonly KubeObject[]): {
  readonly objects: readonly KubeObject[];
  readonly notes: readonly string[];
  /** They have one namespace. */
  readonly isOne: boolean;
} {
  const namespaces = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []));
  if (namespaces.size > 1) {
    const list = [...namespaces].join(', ');
    const note = `The objects are in several namespaces (${list}): they stay literal, with "crossNamespace"`;
    return { objects, notes: [note], isOne: false };
  }
  const names = new Set<unknown>(objects.map(({ metadata }) => metadata.name));
  const moved = objects.map((object) => {
    const { namespace: _, ...metadata } = object.metadata;
    return referringTo(names, namespaces, { ...object, metadata }) as KubeObject;
  });
  return { objects: moved, notes: [], isOne: true };
}

/** A subject such as `{ kind: ServiceAccount, name: web, namespace: prod }` gets the namespace of the sample. */
function referringTo(
  names: ReadonlySet<unknown>,
  namespaces: ReadonlySet<string>,
  value: unknown,
): unknown {
  if (Array.isArray(value)) return value.map((item) => referringTo(names, namespaces, item));
  if (!isJsonObject(value)) return value;
  const { name, namespace } = value;
  const isHere = namespaces.size === 0 || namespaces.has(String(namespace));
  return Object.fromEntries(
    Object.entries(value).map(([field, each]) =>
      field === 'namespace' && typeof namespace === 'string' && isHere && names.has(name)
        ? [field, sampleNamespace]
        : [field, referringTo(names, namespaces, each)],
    ),
  );
}

/** The longest name, up to a `-`, with which all names begin. Undefined: there is none. */
function commonName(names: readonly string[]): string | undefined {
  const [first = ''] = names;
  const parts = first.split('-');
  for (let count = parts.length; count > 0; count--) {
    const prefix = parts.slice(0, count).join('-');
    if (names.every((name) => name === prefix || name.startsWith(`${prefix}-`))) return prefix;
  }
  return undefined;
}

/** By name of an object: its expression. */
function namesOf(objects: readonly KubeObject[], instance: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { metadata } of objects) {
    const { name } = metadata;
    if (name === instance) names.set(name, '${ metadata.name }');
    else if (name.startsWith(`${instance}-`))
      names.set(name, `\${ metadata.name }${name.slice(instance.length)}`);
  }
  names.set(instance, '${ metadata.name }');
  return names;
}

interface TemplateOptions {
  readonly names: ReadonlyMap<string, string>;
  /** The objects have the namespace of the resource. */
  readonly isOne: boolean;
  readonly parameters: readonly Parameter[];
}

function asTemplate(object: KubeObject, { names, isOne, parameters }: TemplateOptions): JsonObject {
  const template = asValue(object, { names, isOne }, []) as JsonObject;
  return parameters.reduce<JsonObject>((each, { path, field }) => {
    return withValueAt(each, path, `\${ ${field.join('.')} }`) as JsonObject;
  }, template);
}

/** Fields whose value is never the name of an object of the set. */
const plainFields: ReadonlySet<string> = new Set([
  'image',
  'command',
  'args',
  'kind',
  'apiVersion',
  'data',
  'stringData',
  'binaryData',
  'host',
  'hosts',
  'value',
]);
/** Lists whose items have names of their own. */
const namedLists: ReadonlySet<string> = new Set([
  'containers',
  'initContainers',
  'ports',
  'env',
  'volumes',
  'volumeMounts',
]);

function asValue(
  value: unknown,
  options: Pick<TemplateOptions, 'names' | 'isOne'>,
  path: readonly string[],
): unknown {
  const { names, isOne } = options;
  if (typeof value === 'string') {
    const expression = isReference(path) ? names.get(value) : undefined;
    return expression ?? literal(value);
  }
  if (Array.isArray(value)) return value.map((item) => asValue(item, options, [...path, '[]']));
  if (!isJsonObject(value)) return value;
  const isOfObject = isOne && value.namespace === sampleNamespace && names.has(String(value.name));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      isOfObject && name === 'namespace'
        ? '${ metadata.namespace }'
        : asValue(each, options, [...path, name]),
    ]),
  );
}

/** May a text at this path be the name of an object of the set? Items of lists are `[]`. */
export function isReference(path: readonly string[]): boolean {
  if (path.some((step) => plainFields.has(step))) return false;
  const [list, item, field] = path.slice(-3);
  return !(item === '[]' && field === 'name' && namedLists.has(list ?? ''));
}

/** A text that contains marks of expressions is kept as it is. */
function literal(text: string): unknown {
  return /\$\{|\{\{/.test(text) ? { $literal: text } : text;
}

/** `deployment`, or with the rest of the name where a kind occurs several times: `dbDeployment`. */
export function idsOf(objects: readonly KubeObject[], instance: string): readonly string[] {
  const taken = new Set<string>();
  return objects.map(({ kind, metadata: { name } }) => {
    const single = objects.filter((each) => each.kind === kind).length === 1;
    const rest = name.startsWith(`${instance}-`) ? name.slice(instance.length + 1) : name;
    const words = single || rest === instance ? [kind] : [...rest.split(/[^A-Za-z0-9]+/), kind];
    const id = childId(words.join('-'), taken);
    taken.add(id);
    return id;
  });
}

/** The schema of `spec`: parameters with their literal as default, below objects that default to empty. */
function specSchema(parameters: readonly Parameter[], objects: readonly KubeObject[]): JsonObject {
  const spec: SchemaNode = { properties: new Map() };
  for (const parameter of parameters) {
    const value = valueAt(targetOf(parameter, objects), parameter.path);
    insert(spec, parameter.field.slice(1), schemaOf(value));
  }
  return printed(spec);
}

interface SchemaNode {
  readonly properties: Map<string, SchemaNode | JsonObject>;
}

function insert(
  node: SchemaNode,
  [first = '', ...rest]: readonly string[],
  schema: JsonObject,
): void {
  if (rest.length === 0) {
    if (!node.properties.has(first)) node.properties.set(first, schema);
    return;
  }
  const found = node.properties.get(first);
  const below: SchemaNode = isNode(found) ? found : { properties: new Map() };
  node.properties.set(first, below);
  insert(below, rest, schema);
}

function isNode(value: SchemaNode | JsonObject | undefined): value is SchemaNode {
  return value?.properties instanceof Map;
}

function printed({ properties }: SchemaNode): JsonObject {
  const entries = [...properties].map(([name, each]) => [
    name,
    isNode(each) ? printed(each) : each,
  ]);
  const fields = entries.length > 0 && { properties: Object.fromEntries(entries) };
  return { type: 'object', default: {}, ...fields } as JsonObject;
}
