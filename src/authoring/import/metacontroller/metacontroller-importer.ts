import { type Gvk, gvkKey, gvkOf } from '#util/gvk.ts';
import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { cleanObject } from '../convert/clean-object.ts';
import { ImportReport } from '../import-report.ts';
import type {
  Conversion,
  ImportedDefinition,
  Importer,
  ImportOptions,
  SourceDocument,
} from '../importer.ts';
import { definitionName, userMetadata } from '../names.ts';
import { decorations } from './decorations.ts';
import {
  type ChildRule,
  convertRecorded,
  convertStatus,
  idsOfChildren,
  skeletonOf,
  updateFields,
} from './definition-parts.ts';
import { answersFor, type HookAnswer, readAnswers } from './hook-answers.ts';
import { hookParts, reportHookSources } from './hook-sources.ts';
import { type ParentKind, parentKind } from './parent-kind.ts';
import { recordedChildren } from './recorded-children.ts';
import { relatedReads } from './related-reads.ts';
import { kindOf } from './resource-kinds.ts';

const controllerKinds = ['CompositeController', 'DecoratorController'];

/** Converts Metacontroller's controllers, with the answers of their hooks where they were recorded. */
export function createMetacontrollerImporter(): Importer {
  return {
    tool: 'Metacontroller',
    kinds: controllerKinds,
    convert: (documents, options) =>
      documents
        .filter(
          ({ value: { apiVersion, kind } }) =>
            controllerKinds.includes(String(kind)) && /^metacontroller\./.test(String(apiVersion)),
        )
        .flatMap((document) => convertController(document, documents, options)),
  };
}

/** A CompositeController is one definition, a DecoratorController one for each kind that it decorates. */
function convertController(
  document: SourceDocument,
  documents: readonly SourceDocument[],
  options: ImportOptions,
): readonly Conversion[] {
  const spec = isJsonObject(document.value.spec) ? document.value.spec : {};
  const isDecorator = document.value.kind === 'DecoratorController';
  const rules = isDecorator ? listOf(spec.resources) : [spec.parentResource ?? {}];
  return rules.filter(isJsonObject).map((rule, index) => {
    const report = new ImportReport(document.source);
    const pointer = isDecorator ? pointerTo('/spec/resources', index) : '/spec/parentResource';
    const place = { name: isDecorator ? `resources[${index}]` : 'parentResource', pointer };
    const context = {
      document,
      documents,
      spec,
      report,
      options,
      suffix: rules.length > 1 ? `-${String(rule.resource)}` : '',
    };
    const parent = parentKind(rule, place, { documents, report, isDecorator });
    const sources = hookParts(spec.hooks, documents);
    const answers = parent === undefined ? [] : answersOf(parent, context);
    const parts = [
      ...(parent?.crd === undefined ? [] : [parent.crd]),
      ...sources,
      ...answers.flatMap((answer) => answer.documents),
    ];
    const imported = parent && convertRule(parent, answers, context);
    return { document, parts, report, imported };
  });
}

interface ControllerContext {
  readonly document: SourceDocument;
  readonly documents: readonly SourceDocument[];
  readonly spec: JsonObject;
  readonly report: ImportReport;
  readonly options: ImportOptions;
  /** For the name of one of several definitions. */
  readonly suffix: string;
}

/** The recorded answers about parents of a kind. */
function answersOf(
  { gvk }: ParentKind,
  { documents, options }: ControllerContext,
): readonly HookAnswer[] {
  const isParent = ({ apiVersion, kind }: JsonObject) =>
    gvkKey(gvkOf(String(apiVersion), String(kind))) === gvkKey(gvk);
  const sample = documents.map(({ value }) => value).find(isParent);
  return answersFor(readAnswers(options.answers), isParent, sample);
}

function convertRule(
  parent: ParentKind,
  answers: readonly HookAnswer[],
  context: ControllerContext,
): ImportedDefinition {
  const { document, documents, spec, report, suffix } = context;
  const synced = answers.filter(({ response }) => response.relatedResources === undefined);
  const rules = childRules(context, answers);
  const recorded = recordedChildren(synced);
  const ids = idsOfChildren(recorded);
  const todos = new Map<string, string>();
  const children = recorded.map((each) => {
    const id = ids.get(each) ?? '';
    if (each.unexplained.length > 0)
      todos.set(id, `${each.unexplained.join(', ')}: only known for some answers`);
    return convertRecorded(each, id, { rules, isNamespaced: parent.isNamespaced, report });
  });
  const status = convertStatus(synced, ids, report);
  const missing = rules.filter(
    ({ gvk }) =>
      !recorded.some(({ object }) => gvkKey(gvkOf(object.apiVersion, object.kind)) === gvkKey(gvk)),
  );
  for (const { place, isRolling } of rules.filter((rule) => !missing.includes(rule)))
    report.converted(place, isRolling ? [rollingNote] : []);
  for (const rule of missing) {
    const skeleton = skeletonOf(rule, parent, new Set(children.map(({ id }) => String(id))));
    todos.set(String(skeleton.id), 'write the template; the hook has it');
    report.leftOut(
      rule.place,
      synced.length === 0
        ? 'The template is in the hook'
        : `No recorded answer has a ${rule.gvk.kind}`,
      'Write the template, or record an answer with "--sync-response"',
    );
    children.push(skeleton);
  }
  const name = `${definitionName(document.value, report)}${suffix}`;
  const related = relatedReads(answers, { documents, report, isNamespaced: parent.isNamespaced });
  const { reads } = related;
  const decorated = decorations(synced, report);
  for (const [field, { unexplained }] of [
    ['reads', related],
    ['patches', decorated],
  ] as const)
    if (unexplained.length > 0)
      todos.set(field, `${unexplained.join(', ')}: only known for some answers`);
  reportHookSources(spec.hooks, {
    documents,
    report,
    isRecorded: synced.length > 0,
    hasReads: reads.length > 0,
  });
  const { resyncPeriodSeconds } = spec;
  const definition = {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'OperatorDefinition',
    metadata: { name, ...userMetadata(document.value) },
    spec: {
      ...parent.fields(status),
      ...(resyncPeriodSeconds !== undefined && {
        schedule: { every: `${String(resyncPeriodSeconds)}s` },
      }),
      ...(reads.length > 0 && { reads }),
      ...(children.length > 0 && { children }),
      ...(Object.keys(status).length > 0 && { status }),
      ...decorated.fields,
    },
  } as unknown as JsonObject;
  reportSettings(spec, report);
  return {
    name,
    kind: parent.gvk,
    definition,
    todos,
    recorded: synced.map((answer) => ({
      parent: sampleFrom(answer.parent, parent.gvk),
      objects: answer.children.map(({ object }) => object),
    })),
  };
}

const rollingNote = 'elements of a "forEach" are updated one by one, other children at once';

function sampleFrom(parent: KubeObject, { kind }: Gvk): KubeObject {
  return { ...cleanObject(parent), kind };
}

/** `childResources` or `attachments`. */
function childRules(
  { spec, documents, report }: ControllerContext,
  answers: readonly HookAnswer[],
): readonly ChildRule[] {
  const field = spec.childResources === undefined ? 'attachments' : 'childResources';
  const objects = answers.flatMap(({ children }) =>
    children.map(({ object }) => object as unknown as JsonObject),
  );
  return listOf(spec[field]).flatMap((rule, index): readonly ChildRule[] => {
    if (!isJsonObject(rule)) return [];
    const strategy = isJsonObject(rule.updateStrategy)
      ? String(rule.updateStrategy.method ?? 'OnDelete')
      : 'OnDelete';
    const place = {
      name: `${field}.${String(rule.resource)}`,
      pointer: pointerTo(`/spec/${field}`, index),
    };
    const gvk = kindOf(String(rule.apiVersion), String(rule.resource), documents, objects);
    const fields = updateFields(rule.updateStrategy);
    if (gvk === undefined || fields === undefined) {
      report.leftOut(
        place,
        gvk === undefined
          ? `The kind of "${String(rule.resource)}" is not known`
          : `The method "${strategy}" is not known`,
        gvk === undefined ? 'Add its CustomResourceDefinition to the files' : undefined,
      );
      return gvk === undefined ? [] : [{ gvk, place, fields: {}, isRolling: false }];
    }
    const isRolling = strategy.startsWith('Rolling');
    return [{ gvk, place, fields, isRolling }];
  });
}

const settings: ReadonlySet<string> = new Set([
  ...['parentResource', 'childResources', 'resources', 'attachments', 'hooks'],
  ...['generateSelector', 'resyncPeriodSeconds'],
]);

function reportSettings(spec: JsonObject, report: ImportReport): void {
  const place = (field: string) => ({ name: field, pointer: `/spec/${field}`, isKey: true });
  if (spec.generateSelector !== undefined) report.converted(place('generateSelector'));
  if (spec.resyncPeriodSeconds !== undefined) report.converted(place('resyncPeriodSeconds'));
  for (const field of Object.keys(spec).filter((each) => !settings.has(each)))
    report.leftOut(place(field), `The field "${field}" is not known`);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
