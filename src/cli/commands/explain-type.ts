import { existsSync } from 'node:fs';
import { checkDefinitions } from '#check';
import {
  bundledSchemas,
  documentNode,
  type JsonSchema,
  type SchemaLibrary,
  schemaNode,
} from '#compile';
import {
  definitionSchema,
  operatorFuzzSchema,
  operatorTestSchema,
  type ServedKind,
} from '#definition';
import { type HttpKind, httpKinds } from '#http-objects/kinds/index.ts';
import { type ApiClient, KubeError } from '#kube';
import { KindSchemas } from '#lsp';
import { builtinNames, type ResourceNames } from '#sandbox';
import { didYouMean } from '#util/did-you-mean.ts';
import { apiVersionOf, type Gvk } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { CliError, exitCode } from '../exit-code.ts';
import { loadManifests } from '../load-manifests.ts';
import type { Output } from '../output.ts';
import { cliFlow, type SessionContext, withCluster } from './cluster-session.ts';
import { Kinds, type NamedKind } from './kinds.ts';
import { type SchemaField, type SchemaView, viewSchema } from './schema-fields.ts';

export interface ExplainTypeOptions {
  /** `deployments.spec.replicas`. */
  readonly what: string;
  readonly isRecursive: boolean;
  /** Files and folders with definitions. @default `operators`, if there is such a folder */
  readonly definitions?: readonly string[];
}

/** A type, and the schema of a field of it. */
interface Explained {
  readonly gvk: Gvk;
  readonly kind: SchemaView;
}

const definitionsFolder = 'operators';

/** Types whose documents are files, not objects of a server: their schema is richer than that of a CRD. */
const fileTypes: readonly (readonly [kind: string, schema: JsonSchema])[] = [
  ['OperatorDefinition', definitionSchema],
  ['OperatorTest', operatorTestSchema],
  ['OperatorFuzz', operatorFuzzSchema],
];

/**
 * `homeostat explain TYPE.FIELD`: prints the type, description and fields of a field, as `kubectl explain` without a cluster. With
 * `--kubeconfig` it asks a cluster.
 * @throws CliError for a type or a field that does not exist
 */
export async function explainType(
  options: ExplainTypeOptions,
  context: SessionContext,
): Promise<number> {
  const [type = '', ...steps] = options.what.split('.');
  const file = fileTypes.find(([kind]) => [kind, `${kind}s`].some((name) => isSame(name, type)));
  if (file !== undefined) {
    const [kind, schema] = file;
    const gvk = { group: 'homeostat.dev', version: 'v1alpha1', kind };
    print({ gvk, kind: viewSchema(documentNode(schema)) }, steps, options, context.output);
  } else if (context.flags.kubeconfig === undefined) await explainOffline(options, context);
  else
    await withCluster(context, async ({ cluster, kinds, signal }) =>
      explainServed({ ...options, api: cluster.api, kinds, signal }, context.output),
    );
  return exitCode.ok;
}

function isSame(name: string, word: string): boolean {
  return name.toLowerCase() === word.toLowerCase();
}

/** With the kinds of the bundle and of the definitions. */
async function explainOffline(
  options: ExplainTypeOptions,
  { output }: SessionContext,
): Promise<void> {
  const usual = existsSync(definitionsFolder) ? [definitionsFolder] : [];
  const texts = await loadManifests(options.definitions ?? usual, { mayBeEmpty: true });
  const { accepted } = checkDefinitions(texts, { schemas: bundledSchemas() });
  const served = accepted.map(({ located }) => located.definition.kind);
  const kinds = new Kinds(
    [
      ...builtinNames().map(builtinKind),
      ...httpKinds.map(httpKind),
      ...served.flatMap(customKinds),
    ],
    {
      missing: (name) =>
        `"${name}" is neither a file or folder, nor a kind of Kubernetes or a definition`,
    },
  );
  const { kind, steps } = splitPath(kinds, options.what);
  const node = (await KindSchemas.load()).withServed(served).find(kind.gvk);
  if (node === undefined) throw withoutSchema(kind.gvk);
  print({ gvk: kind.gvk, kind: viewSchema(node) }, steps, options, output);
}

/** A kind of objects behind HTTP. */
function httpKind({ gvk, crdName, shortName }: HttpKind): NamedKind {
  const plural = crdName.slice(0, crdName.indexOf('.'));
  return {
    gvk,
    ...{ plural, singular: gvk.kind.toLowerCase(), shortNames: [shortName], categories: [] },
  };
}

function builtinKind({ group, version, kind, ...names }: ResourceNames): NamedKind {
  return { gvk: { group, version, kind }, ...names };
}

/** Without those of `for`, which others serve. */
function customKinds(served: ServedKind): readonly NamedKind[] {
  if (served.source !== 'crd') return [];
  const { gvk, plural, crd } = served;
  const { names = {} } = (crd.spec ?? {}) as { readonly names?: Partial<NamedKind> };
  const { singular = gvk.kind.toLowerCase(), shortNames = [], categories = [] } = names;
  return [{ gvk, plural, singular, shortNames, categories }];
}

function withoutSchema(gvk: Gvk): CliError {
  return new CliError(`The server publishes no schema of ${gvk.kind} (${apiVersionOf(gvk)})`);
}

interface ServedOptions extends ExplainTypeOptions {
  readonly api: ApiClient;
  readonly kinds: Kinds;
  readonly signal: AbortSignal;
}

async function explainServed(options: ServedOptions, output: Output): Promise<void> {
  const { api, kinds, signal, what } = options;
  const { kind, steps } = splitPath(kinds, what);
  const { gvk } = kind;
  const path = gvk.group === '' ? `api/${gvk.version}` : `apis/${gvk.group}/${gvk.version}`;
  const document = await openApi(api, path, signal);
  const schemas = document && componentsOf(document);
  const root = schemas && Object.values(schemas).find((schema) => isKind(schema, gvk));
  if (schemas === undefined || !isJsonObject(root)) throw withoutSchema(gvk);
  const library: SchemaLibrary = { prefix: '#/components/schemas/', schemas };
  print({ gvk, kind: viewSchema(schemaNode(root, library)) }, steps, options, output);
}

/** `deployments.apps.spec.replicas`: the longest name of a kind that the words begin with, and the fields after it. */
function splitPath<Kind extends NamedKind>(
  kinds: Kinds<Kind>,
  what: string,
): { kind: Kind; steps: readonly string[] } {
  const words = what.split('.');
  const [first = ''] = words;
  const lengths = words.map((_, index) => words.length - index);
  for (const length of lengths) {
    const kind = kinds.find(words.slice(0, length).join('.'));
    if (kind !== undefined) return { kind, steps: words.slice(length) };
  }
  const [kind] = kinds.resolve(first);
  if (kind === undefined) throw new Error('Expected a kind');
  return { kind, steps: words.slice(1) };
}

/** Undefined: the server has no such document. */
async function openApi(
  api: ApiClient,
  path: string,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const request = { method: 'GET', path: `/openapi/v3/${path}`, flow: cliFlow } as const;
  try {
    const { body } = await api.request(request, signal);
    return isJsonObject(body) ? body : undefined;
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return undefined;
    throw error;
  }
}

function componentsOf({ components }: JsonObject): SchemaLibrary['schemas'] | undefined {
  return isJsonObject(components) && isJsonObject(components.schemas)
    ? (components.schemas as SchemaLibrary['schemas'])
    : undefined;
}

function isKind(schema: unknown, { group, version, kind }: Gvk): boolean {
  const kinds = isJsonObject(schema) ? schema['x-kubernetes-group-version-kind'] : undefined;
  return (
    Array.isArray(kinds) &&
    kinds.some(
      (each) =>
        isJsonObject(each) &&
        each.group === group &&
        each.version === version &&
        each.kind === kind,
    )
  );
}

/** @throws CliError if there is no such field */
function print(
  { gvk, kind }: Explained,
  steps: readonly string[],
  { isRecursive }: Pick<ExplainTypeOptions, 'isRecursive'>,
  output: Output,
): void {
  const { view, field } = fieldAt(kind, gvk.kind, steps);
  const lines = [
    ...(gvk.group === '' ? [] : [`GROUP:      ${gvk.group}`]),
    `KIND:       ${gvk.kind}`,
    `VERSION:    ${gvk.version}`,
    ...(field === undefined ? [] : ['', `FIELD: ${titleOf(field, view)}`]),
    ...(view.enum.length === 0
      ? []
      : ['ENUM:', ...view.enum.map((each) => `    ${valueText(each)}`)]),
    ...(hasDefault(view) ? [`DEFAULT:    ${valueText(view.default)}`] : []),
    '',
    'DESCRIPTION:',
    ...wrapped(view.description === '' ? '<no description>' : view.description, 4),
    ...(view.fields.length === 0 ? [] : ['', 'FIELDS:', ...fieldLines(view, isRecursive)]),
  ];
  for (const line of lines) output.print(line);
}

/** @throws CliError if there is no such field */
function fieldAt(
  kind: SchemaView,
  name: string,
  steps: readonly string[],
): { readonly view: SchemaView; readonly field: SchemaField | undefined } {
  let view = kind;
  let field: SchemaField | undefined;
  for (const [index, step] of steps.entries()) {
    const found = view.fields.find((each) => each.name === step);
    if (found === undefined) {
      const path = [name, ...steps.slice(0, index)].join('.');
      const names = view.fields.map((each) => each.name);
      const hint = didYouMean(step, names) ?? `It has ${listOf(names)}`;
      throw new CliError(`${path} has no field "${step}"`, { hint });
    }
    field = found;
    view = found.view();
  }
  return { view, field };
}

function listOf(names: readonly string[]): string {
  if (names.length === 0) return 'no fields';
  const more = names.length > 10 ? `, and ${names.length - 10} more` : '';
  return `${names.slice(0, 10).join(', ')}${more}`;
}

function titleOf({ name, isRequired }: SchemaField, { typeName }: SchemaView): string {
  return `${name} <${typeName}>${isRequired ? ' -required-' : ''}`;
}

function fieldLines({ fields }: SchemaView, isRecursive: boolean): readonly string[] {
  if (isRecursive) return recursiveLines(fields, '  ', []);
  return fields.flatMap((field) => {
    const view = field.view();
    const { description } = view;
    return [
      `  ${titleOf(field, view)}`,
      ...valueLines(view),
      ...wrapped(description === '' ? '<no description>' : description, 4),
      '',
    ];
  });
}

/** Only names. A type that contains itself (`JSONSchemaProps`) ends there. */
function recursiveLines(
  fields: readonly SchemaField[],
  indent: string,
  above: readonly string[],
): readonly string[] {
  return fields.flatMap((field) => {
    const view = field.view();
    const { typeName } = view;
    const base = typeName.replace(/^(?:\[\]|map\[string\])+/, '');
    const isNamed = base !== 'Object';
    const line = `${indent}${titleOf(field, view)}`;
    if (isNamed && above.includes(base)) return [line];
    return [
      line,
      ...recursiveLines(view.fields, `${indent}  `, isNamed ? [...above, base] : above),
    ];
  });
}

function valueLines(view: SchemaView): string[] {
  const { enum: values, default: usual } = view;
  const lines = [
    ...(values.length === 0 ? [] : [`enum: ${values.map(valueText).join(', ')}`]),
    ...(hasDefault(view) ? [`default: ${valueText(usual)}`] : []),
  ];
  return lines.flatMap((line) => wrapped(line, 4));
}

/** OpenAPI documents name an empty object as the default of every structure. */
function hasDefault({ default: usual }: SchemaView): boolean {
  return usual !== undefined && JSON.stringify(usual) !== '{}';
}

function valueText(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
}

const width = 80;

/** Paragraphs stay; lines are broken at spaces. */
function wrapped(text: string, indent: number): string[] {
  const prefix = ' '.repeat(indent);
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = [];
    let line = '';
    for (const word of paragraph.split(/\s+/).filter((each) => each !== '')) {
      if (line !== '' && indent + line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else line = line === '' ? word : `${line} ${word}`;
    }
    return [...lines, line].map((each) => `${prefix}${each}`.trimEnd());
  });
}
