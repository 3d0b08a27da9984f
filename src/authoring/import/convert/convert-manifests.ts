import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { TemplateWriter } from './as-template.ts';
import { childId } from './child-id.ts';
import { cleanObject } from './clean-object.ts';
import { hasExactIntegers, withExactIntegers } from './exact-integers.ts';
import { findInstance } from './instance-name.ts';
import { findNamespaces } from './instance-namespace.ts';
import type { ConversionNote } from './notes.ts';
import { assignedNotes, textNotes } from './notes.ts';
import { type Parameter, schemaOf, targetOf, valueAt, withValueAt } from './parameter.ts';
import { repeatedLabels, withLabels } from './shared-labels.ts';
import { isUniqueField } from './unique-values.ts';

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
  /** The namespace in which the sample renders the objects as they were. Undefined: any. */
  readonly namespace: string | undefined;
  /** The objects without what servers and tools add: what the sample must render. Those in `namespace` have none. */
  readonly objects: readonly KubeObject[];
  /** The manifests of `objects`, as they were given, in the same order. */
  readonly sources: readonly KubeObject[];
  /** Objects that must exist before: namespaces that no resource creates. */
  readonly prerequisites: readonly KubeObject[];
  /** What the user should know or do. */
  readonly notes: readonly ConversionNote[];
}

/**
 * Converts manifests to a definition: the name of the instance, which their names and labels have in common, becomes the name of the
 * resource, parameters become fields of its `spec`, and maps of labels that occur several times become a variable. Everything else stays
 * literal. Pure.
 */
export function convertManifests(options: ConversionOptions): Conversion {
  const { name, kind, plural, group, parameters } = options;
  const namespaces = findNamespaces(options.objects);
  const named = options.objects.filter((object) => !isNamespace(object));
  const instance = findInstance(named.length > 0 ? named : options.objects);
  const isLeftOut = (object: KubeObject) =>
    isNamespace(object) &&
    (instance === undefined ||
      !object.metadata.name.includes(instance.name) ||
      object.metadata.name === namespaces.own);
  const sources = options.objects.filter((object) => !isLeftOut(object));
  const objects = sources.map((object) =>
    withoutNamespace(withParameters(cleanObject(object), object, parameters), namespaces.own),
  );
  const writer = new TemplateWriter({ instance, objects, namespace: namespaces.own });
  const templates = objects.map((object) =>
    parametersOf(object, parameters).reduce(
      (each, { path, field }) => withValueAt(each, path, `\${ ${field.join('.')} }`) as JsonObject,
      writer.write(object),
    ),
  );
  const labels = repeatedLabels(templates);
  const ids = idsOf(objects, instance?.name ?? name);
  const children = templates.map((template, index) => {
    const object = objects[index] as KubeObject;
    return {
      id: ids[index] ?? '',
      ...permissionOf(object, template, options.isNamespaced(object)),
      ...orderOf(object, objects, ids),
      template: labels === undefined ? template : withLabels(template, labels),
    };
  });
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
              openAPIV3Schema: {
                type: 'object',
                required: ['spec'],
                properties: { spec: specSchema(parameters, objects), status: { type: 'object' } },
              },
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
    metadata: { name: instance?.name ?? name },
    spec: sampleParameters(parameters, objects),
  } as KubeObject;
  const leftOut = options.objects.filter(isLeftOut);
  const sourceOf = (object: KubeObject) => sources[objects.indexOf(object)] as KubeObject;
  return {
    definition: withExactIntegers(definition),
    sample,
    objects,
    sources,
    namespace: namespaces.own,
    prerequisites: leftOut.map(cleanObject),
    notes: [
      ...(namespaces.others.length > 0 ? [severalNamespaces(namespaces)] : []),
      ...leftOut.map((object) => namespaceNote(object, namespaces.own)),
      ...(instance === undefined ? [{ message: literalNames }] : []),
      ...globNotes(children),
      ...assignedNotes(sources, parameters),
      ...textNotes(writer, instance?.name ?? name, sourceOf),
    ],
  };
}

const literalNames =
  'The names of the objects have no common beginning, so they stay literal: only one resource can exist. Put "${ metadata.name }" into them';

function isNamespace({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === 'v1' && kind === 'Namespace';
}

function severalNamespaces({ own, others }: ReturnType<typeof findNamespaces>): ConversionNote {
  const list = [...(own === undefined ? [] : [own]), ...others].join(', ');
  const rest =
    own === undefined
      ? 'they stay, with "crossNamespace"'
      : `"${own}" becomes that of the resource, the others stay, with "crossNamespace"`;
  return { message: `The objects are in several namespaces (${list}): ${rest}` };
}

function namespaceNote(object: KubeObject, own: string | undefined): ConversionNote {
  const { name } = object.metadata;
  const reason =
    name === own
      ? 'a resource has its objects in its own namespace'
      : 'it is the same for all resources, and would be deleted with one of them';
  return {
    message: `Namespace "${name}" is left out: ${reason}`,
    ...(name !== own && { hint: 'Create it before the first resource' }),
    at: { object, pointer: '/metadata/name' },
  };
}

/** A value that a parameter names stays, also where the server could assign it. */
function withParameters(
  object: KubeObject,
  source: KubeObject,
  parameters: readonly Parameter[],
): KubeObject {
  return parametersOf(source, parameters).reduce(
    (each, { path }) => withValueAt(each, path, valueAt(source, path)) as KubeObject,
    object,
  );
}

function parametersOf(object: KubeObject, parameters: readonly Parameter[]): readonly Parameter[] {
  return parameters.filter((each) => targetOf(each, [object]) !== undefined);
}

function withoutNamespace(object: KubeObject, own: string | undefined): KubeObject {
  const { namespace, ...metadata } = object.metadata;
  return namespace === own ? ({ ...object, metadata } as KubeObject) : object;
}

/** For an object elsewhere than in the namespace of the resource. A computed namespace needs a glob. */
function permissionOf(object: KubeObject, template: JsonObject, isNamespaced: boolean) {
  if (isNamespaced && object.metadata.namespace === undefined) return {};
  if (!isNamespaced && !isNamespace(object)) return { crossNamespace: true };
  const { name, namespace = name } = template.metadata as unknown as KubeObject['metadata'];
  if (!namespace.includes('${')) return { crossNamespace: true };
  return { crossNamespace: { namespaces: [namespace.replaceAll(/\$\{[^}]*\}/g, '*')] } };
}

/** A computed namespace is a choice of the users who create resources. */
function globNotes(
  children: readonly {
    readonly crossNamespace?: boolean | { readonly namespaces: readonly string[] };
  }[],
): readonly ConversionNote[] {
  const globs = children.flatMap(({ crossNamespace }) =>
    typeof crossNamespace === 'object' ? crossNamespace.namespaces : [],
  );
  return [...new Set(globs)].map((glob) => ({
    message: `Users who create resources choose a namespace "${glob}" with the name of the resource`,
    hint: 'Restrict it in "crossNamespace" if not all of these namespaces may be used',
  }));
}

/** What is in a namespace of the set is created after it. */
function orderOf(object: KubeObject, objects: readonly KubeObject[], ids: readonly string[]) {
  const { namespace } = object.metadata;
  const index = objects.findIndex((each) => isNamespace(each) && each.metadata.name === namespace);
  return index < 0 ? {} : { after: [ids[index]] };
}

/** Values that are in the sample, not defaults. */
function sampleParameters(
  parameters: readonly Parameter[],
  objects: readonly KubeObject[],
): JsonObject {
  return parameters.reduce<JsonObject>((spec, parameter) => {
    const value = valueAt(targetOf(parameter, objects), parameter.path);
    return isOfSample(parameter, value) ? withField(spec, parameter.field.slice(1), value) : spec;
  }, {});
}

/** Is it a value that only one resource should have, or one that a definition cannot hold as a literal? */
function isOfSample(parameter: Parameter, value: unknown): boolean {
  return isUnique(parameter) || hasExactIntegers(value);
}

function withField(
  owner: JsonObject,
  [first = '', ...rest]: readonly string[],
  value: unknown,
): JsonObject {
  const inner = owner[first];
  const below = typeof inner === 'object' && inner !== null ? (inner as JsonObject) : {};
  return {
    ...owner,
    [first]: rest.length === 0 ? value : withField(below, rest, value),
  } as JsonObject;
}

function isUnique({ kind, path }: Parameter): boolean {
  return isUniqueField(
    kind,
    path.map((step) => (typeof step === 'string' ? step : '[]')),
  );
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
    const { default: byDefault, ...type } = schemaOf(value);
    const schema = isOfSample(parameter, value) ? type : { ...type, default: byDefault };
    insert(spec, parameter.field.slice(1), schema as JsonObject);
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
