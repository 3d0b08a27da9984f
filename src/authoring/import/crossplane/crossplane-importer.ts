import { bundledSchemas, createSchemaCompiler, schemaOfCustomResource } from '#compile';
import { type CelParser, createCelParser } from '#sandbox';
import { gvkOf } from '#util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { atom, NoEquivalentError } from '../cel/cel-context.ts';
import { convertCel } from '../cel/convert-cel.ts';
import { unknownType } from '../cel/value-type.ts';
import { childId } from '../convert/child-id.ts';
import { ImportReport } from '../import-report.ts';
import type { Conversion, ImportedDefinition, Importer, SourceDocument } from '../importer.ts';
import { definitionName, userMetadata } from '../names.ts';
import { childPermission, globNotes } from '../permission.ts';
import { expressionText } from '../template-text.ts';
import {
  type Composite,
  compositeName,
  convertComposite,
  readComposite,
  sampleOf,
} from './composite.ts';
import { type ComposedTemplate, type CompositionParts, readComposition } from './composition.ts';
import { ConnectionSecret } from './connection-secret.ts';
import { Environment } from './environment.ts';
import { applyPatch, leaveOutPatch, type PatchContext, type PatchTargets } from './patches.ts';
import { convertReadiness } from './readiness.ts';
import { childTemplateOf, type Tree, templateOf, treeOf, withTreeAt } from './template-tree.ts';
import { textValue } from './value.ts';

/** Converts Crossplane's CompositeResourceDefinitions with their Compositions. */
export function createCrossplaneImporter(): Importer {
  const parse = createCelParser();
  return {
    tool: 'Crossplane',
    kinds: ['CompositeResourceDefinition with its Composition'],
    convert(documents) {
      const ofKind = (wanted: string) =>
        documents.filter(
          ({ value: { apiVersion, kind } }) =>
            kind === wanted && /^apiextensions\.crossplane\.io\//.test(String(apiVersion)),
        );
      const compositions = ofKind('Composition');
      const configs = ofKind('EnvironmentConfig');
      const definitions = ofKind('CompositeResourceDefinition');
      const converted = definitions.map((document) =>
        convertDefinition(document, { compositions, configs, parse }),
      );
      const used = new Set(converted.flatMap(({ parts = [] }) => parts));
      return [
        ...converted,
        ...compositions.filter((each) => !used.has(each)).map(withoutDefinition),
      ];
    },
  };
}

function withoutDefinition(document: SourceDocument): Conversion {
  const report = new ImportReport(document.source);
  report.leftOut(
    { name: 'compositeTypeRef', pointer: '/spec/compositeTypeRef' },
    'The files have no CompositeResourceDefinition of this kind',
    'Add the output of "kubectl get xrd NAME -o yaml"',
  );
  return { document, report };
}

interface Sources {
  readonly compositions: readonly SourceDocument[];
  readonly configs: readonly SourceDocument[];
  readonly parse: CelParser;
}

function convertDefinition(document: SourceDocument, sources: Sources): Conversion {
  const report = new ImportReport(document.source);
  const composite = readComposite(document.value);
  if (composite === undefined) {
    const reason = 'The definition has no "group", "names" or "versions"';
    report.leftOut({ name: 'spec', pointer: '/spec' }, reason);
    return { document, report };
  }
  const spec = document.value.spec as JsonObject;
  const own = sources.compositions.filter(({ value }) => isOf(value, spec, composite));
  const chosen = chosenOf(own, spec);
  if (chosen === undefined) {
    report.leftOut(
      { name: 'spec', pointer: '/spec' },
      'The files have no Composition of this kind',
      'Add the output of "kubectl get composition NAME -o yaml"',
    );
    return { document, report };
  }
  for (const each of own.filter((other) => other !== chosen))
    report
      .in(each.source)
      .leftOut(
        { name: 'metadata.name', pointer: '/metadata/name' },
        'A kind has one definition, and this Composition is another one',
        'Import it alone under another kind, or add its resources with "when"',
      );
  const imported = convertComposition(
    { document, composition: chosen, composite, report },
    sources,
  );
  const parts = imported.given === undefined ? own : [...own, ...sources.configs];
  return { document, parts, report, imported };
}

function isOf({ spec }: JsonObject, { names }: JsonObject, { kind }: Composite): boolean {
  const reference = isJsonObject(spec) ? spec.compositeTypeRef : undefined;
  if (!isJsonObject(reference) || !isJsonObject(names)) return false;
  const { group } = gvkOf(String(reference.apiVersion), '');
  return group === kind.group && reference.kind === names.kind;
}

function chosenOf(
  compositions: readonly SourceDocument[],
  { enforcedCompositionRef, defaultCompositionRef }: JsonObject,
): SourceDocument | undefined {
  const names = [enforcedCompositionRef, defaultCompositionRef].flatMap((reference) =>
    isJsonObject(reference) ? [reference.name] : [],
  );
  const named = compositions.find(
    ({ value: { metadata } }) => isJsonObject(metadata) && names.includes(metadata.name),
  );
  return named ?? compositions[0];
}

interface Input {
  readonly document: SourceDocument;
  readonly composition: SourceDocument;
  readonly composite: Composite;
  /** Of the CompositeResourceDefinition. */
  readonly report: ImportReport;
}

function convertComposition(
  { document, composition, composite, report: definitionReport }: Input,
  { configs, parse }: Sources,
): ImportedDefinition {
  const report = definitionReport.in(composition.source);
  const parts = readComposition(composition.value, report);
  const [config] = configs;
  const environment = new Environment(
    String(config?.value.apiVersion ?? 'apiextensions.crossplane.io/v1beta1'),
  );
  if (parts.environment !== undefined) environment.configure(parts.environment, composite, report);
  const targets = { child: treeOf({}), status: undefined, composite: undefined };
  const shared: PatchContext = {
    composite,
    environment,
    report,
    targets,
    child: undefined,
    composed: undefined,
    childType: unknownType,
  };
  for (const patch of parts.environmentPatches) applyPatch(patch, shared);
  const { connectionSecretKeys } = document.value.spec as JsonObject;
  const connection = new ConnectionSecret(composite, connectionSecretKeys, report);
  const ids = idsOf(parts.templates);
  const children = parts.templates.flatMap((template) => {
    const id = ids.get(template.name) ?? '';
    const converted = convertTemplate(template, { id, parts, ids, shared, parse });
    if (converted === undefined) return [];
    connection.add({ id, template, tree: converted.tree });
    return [converted.child];
  });
  const secret = connection.child;
  const reads = [...environment.reads, ...connection.reads];
  const vars = {
    ...nameVariable(composite, [children, targets, secret, reads]),
    ...environment.vars,
  };
  const name = definitionName(composition.value, report);
  const crd = convertComposite(document.value, composite, definitionReport);
  const definition = {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'OperatorDefinition',
    metadata: { name, ...userMetadata(composition.value) },
    spec: {
      crd,
      ...(Object.keys(vars).length > 0 && { vars }),
      ...(reads.length > 0 && { reads }),
      children: [...children, ...(secret === undefined ? [] : [secret])],
      ...reporting(targets),
    },
  } as unknown as JsonObject;
  const isRead = environment.reads.length > 0;
  return {
    name,
    kind: composite.kind,
    definition,
    sampleOf: (each) => sampleOf(each, document.value, composite),
    ...(isRead && { given: configs.map(({ value }) => value as unknown as KubeObject) }),
  };
}

function reporting({ status, composite }: PatchTargets): JsonObject {
  return {
    ...(status !== undefined && { status: templateOf(status) }),
    ...(composite !== undefined && {
      patches: [{ id: 'composite', patch: templateOf(composite) }],
    }),
  };
}

/** The name of the composite resource, where something uses it. */
function nameVariable({ isClaim }: Composite, uses: readonly unknown[]): JsonObject {
  const isUsed = isClaim && JSON.stringify(uses).includes('vars.compositeName');
  return isUsed ? { compositeName: '${ metadata.namespace }-${ metadata.name }' } : {};
}

function idsOf(templates: readonly ComposedTemplate[]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  for (const { name } of templates)
    ids.set(name, childId(name, new Set([...ids.values(), 'connection'])));
  return ids;
}

interface TemplateContext {
  readonly id: string;
  readonly parts: CompositionParts;
  readonly ids: ReadonlyMap<string, string>;
  readonly shared: PatchContext;
  readonly parse: CelParser;
}

/** Undefined: it cannot be a child; the reason is in the report. */
function convertTemplate(
  template: ComposedTemplate,
  { id, parts, ids, shared, parse }: TemplateContext,
): { readonly child: JsonObject; readonly tree: Tree } | undefined {
  const { name, label, pointer, base } = template;
  const { composite, report, targets } = shared;
  const gvk = gvkOf(String(base.apiVersion), String(base.kind));
  if (typeof base.kind !== 'string' || typeof base.apiVersion !== 'string') {
    report.leftOut({ name: label, pointer }, 'The base has no "apiVersion" and "kind"');
    for (const each of template.patches) leaveOutPatch(each, `resource "${name}"`, report);
    return undefined;
  }
  const composed = `${base.kind} "${name}"`;
  const when = conditionOf(template, { composite, report, parse });
  if (when === null) {
    for (const each of template.patches) leaveOutPatch(each, composed, report);
    return undefined;
  }
  const notes = new Set<string>();
  targets.child = named(base, name, composite, notes);
  const schema = bundledSchemas().schemaFor(gvk);
  const childType = schema === undefined ? unknownType : createSchemaCompiler().compile(schema);
  const context = { ...shared, child: `children.${id}`, composed, childType };
  const isFrom = (type: Json | undefined) => /^To|^CombineTo/.test(String(type ?? ''));
  // Crossplane first copies from what exists, then to what it wants.
  for (const each of template.patches.filter(({ patch }) => isFrom(patch.type)))
    applyPatch(each, context);
  for (const each of template.patches.filter(({ patch }) => !isFrom(patch.type)))
    applyPatch(each, context);
  const tree = targets.child;
  const isBuiltin = bundledSchemas().isNamespaced(gvk) !== undefined;
  if (isBuiltin && template.readinessChecks.length === 0 && !parts.isAutoReady)
    notes.add(`ready by the rules of ${gvk.kind}: Crossplane waits for a condition "Ready"`);
  const after = afterOf(name, parts, ids);
  const ready = convertReadiness(template, isBuiltin, report);
  const converted = childTemplateOf(tree) as JsonObject;
  const permission = childPermission(gvk, converted.metadata as JsonObject, {
    isNamespaced: composite.isNamespaced,
    // Managed resources of claims are cluster-scoped.
    isUnknownCluster: composite.isClaim,
  });
  for (const note of globNotes(permission)) notes.add(note);
  report.converted({ name: label, pointer }, notes);
  const child = {
    id,
    ...(when !== undefined && { when }),
    ...(after.length > 0 && { after }),
    ...(ready !== undefined && { ready }),
    ...(permission !== undefined && { crossNamespace: permission }),
    template: converted,
  };
  return { child, tree };
}

/** The base with a name that is the same each time. */
function named(base: JsonObject, name: string, composite: Composite, notes: Set<string>): Tree {
  const metadata = isJsonObject(base.metadata) ? base.metadata : {};
  const { name: own, generateName: _, ...others } = metadata;
  const { apiVersion, kind, metadata: __, ...rest } = base;
  const composed = compositeName(composite);
  const suffix = name.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-');
  if (own === undefined)
    notes.add(`named "<resource>-${suffix}": Crossplane adds a random or hashed suffix`);
  const tree = treeOf({ apiVersion, kind, metadata: { name: own ?? '', ...others }, ...rest });
  if (own !== undefined) return tree;
  const value = textValue([composed, `-${suffix}`], [composed]);
  return withTreeAt(tree, ['metadata', 'name'], () => ({
    kind: 'value',
    value,
    otherwise: undefined,
  }));
}

/** Children that a sequence puts before this one. */
function afterOf(
  name: string,
  { sequences }: CompositionParts,
  ids: ReadonlyMap<string, string>,
): readonly string[] {
  const before = sequences.flatMap((names) => {
    const at = names.indexOf(name);
    return at > 0 ? [names[at - 1] ?? ''] : [];
  });
  return [...new Set(before.flatMap((each) => ids.get(each) ?? []))];
}

interface ConditionContext {
  readonly composite: Composite;
  readonly report: ImportReport;
  readonly parse: CelParser;
}

/** `when` of a child. Null: it has no equivalent. */
function conditionOf(
  { conditions, label, pointer }: ComposedTemplate,
  { composite, report, parse }: ConditionContext,
): string | undefined | null {
  if (conditions.length === 0) return undefined;
  const type = schemaOfCustomResource(composite.schema, composite.kind);
  const variables = new Map([['composite', atom('', type, 'always')]]);
  const texts: string[] = [];
  for (const condition of conditions) {
    const place = { name: `${label}.condition`, pointer };
    const parsed = parse(condition.replaceAll('observed.composite.resource', 'composite'));
    try {
      if (!('node' in parsed)) throw new NoEquivalentError('The condition is not valid CEL', 0);
      texts.push(convertCel(parsed.node, { variables, notes: new Set() }).text);
      report.converted(place);
    } catch (error) {
      if (!(error instanceof NoEquivalentError)) throw error;
      report.leftOut(place, error.message, error.hint);
      return null;
    }
  }
  const [only = ''] = texts;
  return expressionText(texts.length === 1 ? only : texts.map((each) => `(${each})`).join(' and '));
}
