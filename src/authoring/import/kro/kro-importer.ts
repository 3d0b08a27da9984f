import { bundledSchemas, createSchemaCompiler, schemaOfCustomResource } from '#compile';
import { type CelParser, createCelParser } from '#sandbox';
import { pluralOf } from '#simulation';
import type { Gvk } from '#util/gvk.ts';
import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import { unknownType } from '../cel/value-type.ts';
import { ImportReport } from '../import-report.ts';
import type { ImportedDefinition, Importer, SourceDocument } from '../importer.ts';
import { definitionName, userMetadata } from '../names.ts';
import { convertPrinterColumns } from '../printer-columns.ts';
import { convertChild } from './convert-child.ts';
import { convertRead } from './convert-read.ts';
import { convertStatus } from './convert-status.ts';
import { type GraphResource, readResources } from './graph.ts';
import { findUses } from './resource-uses.ts';
import type { GraphContext } from './scope.ts';
import { convertSimpleSchema } from './simple-schema.ts';

/** Converts kro's ResourceGraphDefinitions. */
export function createKroImporter(): Importer {
  const parse = createCelParser();
  return {
    tool: 'kro',
    kinds: ['ResourceGraphDefinition'],
    convert: (documents) =>
      documents.filter(isGraph).map((document) => {
        const report = new ImportReport(document.source);
        return { document, report, imported: convertGraph(document, report, parse) };
      }),
  };
}

function isGraph({ value: { apiVersion, kind } }: SourceDocument): boolean {
  return /^kro\.run\//.test(String(apiVersion)) && kind === 'ResourceGraphDefinition';
}

function convertGraph(
  { value }: SourceDocument,
  report: ImportReport,
  parse: CelParser,
): ImportedDefinition | undefined {
  const spec = isJsonObject(value.spec) ? value.spec : {};
  const schema = isJsonObject(spec.schema) ? spec.schema : undefined;
  if (schema === undefined || typeof schema.kind !== 'string') {
    report.leftOut(
      { name: 'schema', pointer: '/spec/schema' },
      'There is no "schema" with a "kind"',
    );
    return undefined;
  }
  // A resource that cannot be converted takes with it what uses it: the graph is converted again without it.
  let leftOut: ReadonlySet<string> = new Set();
  for (;;) {
    const attempt = report.fork();
    const result = convertOnce({ value, spec, schema, parse, leftOut, report: attempt });
    if (result.leftOut.size > leftOut.size) {
      leftOut = result.leftOut;
      continue;
    }
    report.addAll(attempt);
    return result.imported;
  }
}

interface Attempt {
  readonly value: JsonObject;
  readonly spec: JsonObject;
  readonly schema: JsonObject;
  readonly parse: CelParser;
  readonly leftOut: ReadonlySet<string>;
  readonly report: ImportReport;
}

interface AttemptResult {
  readonly imported: ImportedDefinition;
  readonly leftOut: ReadonlySet<string>;
}

function convertOnce({ value, spec, schema, parse, leftOut, report }: Attempt): AttemptResult {
  reportUnknownFields(spec, schema, report);
  const kind: Gvk = {
    group: typeof schema.group === 'string' ? schema.group : 'kro.run',
    version: typeof schema.apiVersion === 'string' ? schema.apiVersion : 'v1alpha1',
    kind: String(schema.kind),
  };
  report.converted({ name: 'schema', pointer: '/spec/schema', isKey: true });
  const specSchema = convertSimpleSchema({ spec: schema.spec, types: schema.types }, report);
  const resources = readResources(spec.resources, { report, parse });
  const context = graphContext({ kind, specSchema, schema, resources, parse, leftOut, report });
  const uses = findUses(resources, parse);
  const entries = resources.map((each) => ({
    id: each.id,
    role: each.role,
    part: each.role === 'child' ? convertChild(each, uses, context) : convertRead(each, context),
  }));
  const partsOf = (role: GraphResource['role']) =>
    entries.flatMap((entry) => (entry.role === role ? (entry.part ?? []) : []));
  const { status, schema: statusSchema, conditions } = convertStatus(schema.status, context);
  const [reads, children] = [partsOf('read'), partsOf('child')];
  const name = definitionName(value, report);
  const definition = {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'OperatorDefinition',
    metadata: { name, ...userMetadata(value) },
    spec: {
      crd: crdOf(kind, schema, { specSchema, statusSchema, report }),
      ...(reads.length > 0 && { reads }),
      ...(children.length > 0 && { children }),
      ...(Object.keys(status).length > 0 && { status }),
      ...(conditions.length > 0 && { conditions }),
    },
  } as unknown as JsonObject;
  const lost = entries.flatMap(({ id, part }) => (part === undefined ? [id] : []));
  return { imported: { name, kind, definition }, leftOut: new Set([...leftOut, ...lost]) };
}

function graphContext(parts: {
  readonly kind: Gvk;
  readonly specSchema: JsonObject;
  readonly schema: JsonObject;
  readonly resources: readonly GraphResource[];
  readonly parse: CelParser;
  readonly leftOut: ReadonlySet<string>;
  readonly report: ImportReport;
}): GraphContext {
  const { kind, specSchema, schema, resources, parse, leftOut, report } = parts;
  const schemas = bundledSchemas();
  const compiler = createSchemaCompiler();
  const openApi = { type: 'object', properties: { spec: specSchema } };
  return {
    report,
    parse,
    leftOut,
    instanceType: schemaOfCustomResource(openApi, kind),
    isNamespaced: schema.scope !== 'Cluster',
    resources: new Map(resources.map((each) => [each.id, each])),
    isNamespacedKind: (gvk) => schemas.isNamespaced(gvk),
    typeOf(gvk) {
      const found = schemas.schemaFor(gvk);
      return found === undefined ? unknownType : compiler.compile(found);
    },
  };
}

interface CrdParts {
  readonly specSchema: JsonObject;
  readonly statusSchema: JsonObject;
  readonly report: ImportReport;
}

function crdOf(
  { group, version, kind }: Gvk,
  schema: JsonObject,
  { specSchema, statusSchema, report }: CrdParts,
): JsonObject {
  const { shortNames, categories, metadata, scope, additionalPrinterColumns } = schema;
  const columns = convertPrinterColumns(additionalPrinterColumns, report, {
    name: 'schema.additionalPrinterColumns',
    pointer: '/spec/schema/additionalPrinterColumns',
  });
  const names = {
    kind,
    plural: pluralOf(kind.toLowerCase()),
    ...(shortNames !== undefined && { shortNames }),
    ...(categories !== undefined && { categories }),
  };
  const openAPIV3Schema = {
    type: 'object',
    required: ['spec'],
    properties: { spec: specSchema, status: statusSchema },
  };
  return {
    ...(metadata !== undefined && { metadata }),
    group,
    names,
    scope: scope === 'Cluster' ? 'Cluster' : 'Namespaced',
    versions: [
      {
        name: version,
        schema: { openAPIV3Schema },
        ...(columns.length > 0 && { additionalPrinterColumns: columns }),
      },
    ],
  };
}

const schemaFields: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'group',
  'scope',
  'spec',
  'types',
  'status',
  'additionalPrinterColumns',
  'shortNames',
  'categories',
  'metadata',
]);

function reportUnknownFields(spec: JsonObject, schema: JsonObject, report: ImportReport): void {
  const unknown = [
    ...Object.keys(spec).flatMap((name) =>
      name === 'schema' || name === 'resources'
        ? []
        : [{ name, pointer: pointerTo('/spec', name) }],
    ),
    ...Object.keys(schema).flatMap((name) =>
      schemaFields.has(name)
        ? []
        : [{ name: `schema.${name}`, pointer: pointerTo('/spec/schema', name) }],
    ),
  ];
  for (const place of unknown)
    report.leftOut({ ...place, isKey: true }, `The field "${place.name}" is not known`);
}
