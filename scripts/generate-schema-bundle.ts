import type { PlaneClient } from '../test/support/control-plane/index.ts';

/** What the keywords of a schema are to the bundle; every other one (descriptions most of all) is dropped. */
const keptKeywords: ReadonlySet<string> = new Set([
  '$ref',
  'allOf',
  'oneOf',
  'type',
  'format',
  'enum',
  'default',
  'nullable',
  'required',
  'properties',
  'additionalProperties',
  'items',
  'x-kubernetes-group-version-kind',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
  'x-kubernetes-patch-merge-key',
  'x-kubernetes-patch-strategy',
  'x-kubernetes-preserve-unknown-fields',
]);

type Schema = Readonly<Record<string, unknown>>;
type Components = Readonly<Record<string, Schema>>;

interface BundledKind {
  readonly plural: string;
  readonly namespaced: boolean;
  /** Name of its component. */
  readonly root: string;
}

export interface BundleOptions {
  readonly client: PlaneClient;
  /** The command that makes the bundle, for its header. */
  readonly command: string;
}

/** Texts of files. They depend on the server's version alone, so the same server gives the same texts. */
export interface BundleTexts {
  /** The schemas of all kinds that a bare API server serves, without descriptions; one component a line. */
  readonly schemas: string;
  /** What the server says of these components and their fields; one component a line. */
  readonly descriptions: string;
}

export async function schemaBundle({ client, command }: BundleOptions): Promise<BundleTexts> {
  const version = await get<{ readonly gitVersion: string }>(client, '/version');
  const index = await get<OpenApiIndex>(client, '/openapi/v3');
  const kinds: Record<string, BundledKind> = {};
  const components: Record<string, Schema> = {};
  const whole: Record<string, Schema> = {};
  for (const group of Object.keys(index.paths)) {
    if (!/^(api|apis\/[^/]+)\/v[^/]+$/.test(group)) continue;
    const document = await get<OpenApiDocument>(client, `/openapi/v3/${group}`);
    const found = await kindsOfGroup({ client, group, document });
    Object.assign(kinds, found);
    for (const { root } of Object.values(found))
      collect(root, document.components.schemas, components);
    for (const [name, schema] of Object.entries(document.components.schemas))
      if (components[name] !== undefined) whole[name] = schema;
  }
  const provenance = { server: version.gitVersion, command };
  return {
    schemas: bundleText({ provenance, kinds, components }),
    descriptions: descriptionsText(provenance, whole),
  };
}

interface GroupOptions {
  readonly client: PlaneClient;
  /** `api/v1`, `apis/apps/v1`. */
  readonly group: string;
  readonly document: OpenApiDocument;
}

/** The kinds of a group version that have a resource of their own, by `apps/v1/Deployment`. */
async function kindsOfGroup(options: GroupOptions): Promise<Record<string, BundledKind>> {
  const { client, group, document } = options;
  const list = await get<ResourceList>(client, `/${group}`);
  const kinds: Record<string, BundledKind> = {};
  for (const { name, kind, namespaced } of list.resources) {
    if (name.includes('/')) continue;
    const root = rootOf(document.components.schemas, `${list.groupVersion}/${kind}`);
    kinds[`${list.groupVersion}/${kind}`] = { plural: name, namespaced, root };
  }
  return kinds;
}

function rootOf(components: Components, key: string): string {
  const roots = Object.entries(components).filter(([, schema]) => gvkKeys(schema).includes(key));
  const [only, ...others] = roots;
  if (only === undefined || others.length > 0) {
    throw new Error(`Expected one component for "${key}", found ${roots.length}`);
  }
  return only[0];
}

function gvkKeys(schema: Schema): readonly string[] {
  const gvks = (schema['x-kubernetes-group-version-kind'] ?? []) as readonly GroupVersionKind[];
  return gvks.map(({ group, version, kind }) =>
    group === '' ? `${version}/${kind}` : `${group}/${version}/${kind}`,
  );
}

/** Adds a component and all that it refers to. Groups repeat the types they share: they must agree. */
function collect(name: string, source: Components, into: Record<string, Schema>): void {
  const schema = source[name];
  if (schema === undefined) throw new Error(`Expected the component "${name}" in its document`);
  const slim = slimSchema(schema);
  const known = into[name];
  if (known !== undefined) {
    if (JSON.stringify(known) === JSON.stringify(slim)) return;
    throw new Error(`Expected one shape of "${name}" in all groups, found two`);
  }
  into[name] = slim;
  for (const reference of references(slim)) collect(reference, source, into);
}

/** Drops what does not matter for checking and comparing values, and sorts the keywords. */
function slimSchema(schema: Schema): Schema {
  const kept = Object.keys(schema).filter((keyword) => keptKeywords.has(keyword));
  return Object.fromEntries(
    kept.sort().map((keyword) => [keyword, slimValue(keyword, schema[keyword])]),
  );
}

function slimValue(keyword: string, value: unknown): unknown {
  switch (keyword) {
    case 'properties':
      return slimProperties(value as Components);
    case 'allOf':
    case 'oneOf':
      return (value as readonly Schema[]).map(slimSchema);
    case 'items':
      return slimSchema(value as Schema);
    case 'additionalProperties':
      return typeof value === 'object' ? slimSchema(value as Schema) : value;
    default:
      return value;
  }
}

function slimProperties(properties: Components): Components {
  const names = Object.keys(properties).sort();
  return Object.fromEntries(names.map((name) => [name, slimSchema(properties[name] ?? {})]));
}

function references(schema: Schema): readonly string[] {
  const matches = JSON.stringify(schema).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g);
  return [...matches].map(([, name = '']) => name);
}

interface Bundle {
  readonly provenance: Readonly<Record<string, string>>;
  readonly kinds: Readonly<Record<string, BundledKind>>;
  readonly components: Components;
}

function bundleText({ provenance, kinds, components }: Bundle): string {
  return [
    `{"provenance":${JSON.stringify(provenance)},`,
    `"kinds":{\n${entryLines(kinds)}\n},`,
    `"components":{\n${entryLines(components)}\n}}`,
    '',
  ].join('\n');
}

function descriptionsText(
  provenance: Readonly<Record<string, string>>,
  components: Components,
): string {
  const described = Object.entries(components).map(([name, schema]) => [
    name,
    textsOf(name, schema),
  ]);
  return [
    `{"provenance":${JSON.stringify(provenance)},`,
    `"components":{\n${entryLines(Object.fromEntries(described))}\n}}`,
    '',
  ].join('\n');
}

/** The server describes components and their fields, nothing deeper. */
function textsOf(name: string, schema: Schema): Schema {
  const { description, properties = {} } = schema;
  const fields = Object.entries(properties as Components)
    .filter(([, field]) => field.description !== undefined)
    .map(([field, { description: text }]): [string, unknown] => [field, text])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const found = fields.length + (description === undefined ? 0 : 1);
  if (found !== countOfDescriptions(schema))
    throw new Error(`Expected descriptions of "${name}" and its fields alone`);
  return {
    ...(description === undefined ? {} : { description }),
    ...(fields.length === 0 ? {} : { properties: Object.fromEntries(fields) }),
  };
}

function countOfDescriptions(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (count, [name, inner]) =>
      count +
      (name === 'description' && typeof inner === 'string' ? 1 : countOfDescriptions(inner)),
    0,
  );
}

function entryLines(record: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(record).sort();
  return names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(record[name])}`).join(',\n');
}

function get<T>(client: PlaneClient, path: string): Promise<T> {
  return client.must<T>({ method: 'GET', path });
}

interface OpenApiIndex {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
}

interface OpenApiDocument {
  readonly components: { readonly schemas: Components };
}

interface ResourceList {
  readonly groupVersion: string;
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}
