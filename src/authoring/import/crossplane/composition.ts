import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import type { ImportReport } from '../import-report.ts';
import { effectOfPatch } from './patch-ends.ts';

/** A patch with its place. */
export interface PatchSource {
  readonly name: string;
  readonly pointer: string;
  readonly patch: JsonObject;
}

/** A composed resource, with the patches of all its patch sets. */
export interface ComposedTemplate {
  readonly name: string;
  readonly label: string;
  readonly pointer: string;
  readonly base: JsonObject;
  readonly patches: readonly PatchSource[];
  readonly readinessChecks: readonly JsonObject[];
  readonly connectionDetails: readonly JsonObject[];
  /** CEL: the resource is composed while they are true. */
  readonly conditions: readonly string[];
}

/** What a Composition says, whatever its mode. */
export interface CompositionParts {
  readonly templates: readonly ComposedTemplate[];
  /** Settings of the environment, with their place. */
  readonly environment: { readonly settings: JsonObject; readonly pointer: string } | undefined;
  /** Patches between the composite resource and the environment. */
  readonly environmentPatches: readonly PatchSource[];
  /** Names of resources that must be ready before others. */
  readonly sequences: readonly (readonly string[])[];
  readonly isAutoReady: boolean;
}

interface Draft {
  readonly templates: Map<string, ComposedTemplate>;
  readonly environmentPatches: PatchSource[];
  readonly sequences: (readonly string[])[];
  environment: CompositionParts['environment'];
  isAutoReady: boolean;
}

const compositionFields: ReadonlySet<string> = new Set([
  ...['compositeTypeRef', 'mode', 'resources', 'patchSets', 'environment', 'pipeline'],
]);

/** Reads the resources or the pipeline of a Composition. */
export function readComposition({ spec }: JsonObject, report: ImportReport): CompositionParts {
  const fields = isJsonObject(spec) ? spec : {};
  const draft: Draft = {
    templates: new Map(),
    environmentPatches: [],
    sequences: [],
    environment: undefined,
    isAutoReady: false,
  };
  report.converted({ name: 'compositeTypeRef', pointer: '/spec/compositeTypeRef', isKey: true });
  for (const field of Object.keys(fields).filter((each) => !compositionFields.has(each))) {
    const place = { name: field, pointer: `/spec/${field}`, isKey: true };
    if (/^(?:writeConnection|publishConnection)/.test(field))
      report.converted(place, ['connection details are in a Secret beside the resource']);
    else report.leftOut(place, `The field "${field}" is not known`);
  }
  if (isJsonObject(fields.environment)) {
    const settings = fields.environment;
    draft.environment = { settings, pointer: '/spec/environment' };
    draft.environmentPatches.push(
      ...patchesOf(settings.patches, 'environment.patches', '/spec/environment/patches'),
    );
  }
  addTemplates(fields, '/spec', { draft, report });
  listOf(fields.pipeline).forEach((step, index) => {
    if (isJsonObject(step)) addStep(step, pointerTo('/spec/pipeline', index), { draft, report });
  });
  return { ...draft, templates: [...draft.templates.values()] };
}

interface StepContext {
  readonly draft: Draft;
  readonly report: ImportReport;
}

function addStep(step: JsonObject, pointer: string, context: StepContext): void {
  const { draft, report } = context;
  const input = isJsonObject(step.input) ? step.input : {};
  const reference = isJsonObject(step.functionRef) ? String(step.functionRef.name) : '';
  const place = { name: `pipeline.${String(step.step)}`, pointer };
  const api = String(input.apiVersion ?? '').split('/')[0];
  const at = pointerTo(pointer, 'input');
  if (api === 'pt.fn.crossplane.io' || api === 'conditional-pt.fn.crossplane.io') {
    report.converted(place);
    addInput(input, at, context);
  } else if (/auto-ready$/.test(reference)) {
    draft.isAutoReady = true;
    report.converted(place);
  } else if (api === 'environmentconfigs.fn.crossplane.io' && isJsonObject(input.spec)) {
    draft.environment = { settings: input.spec, pointer: pointerTo(at, 'spec') };
    report.converted(place);
  } else if (api === 'sequencer.fn.crossplane.io') {
    const rules = listOf(input.rules).filter(isJsonObject);
    draft.sequences.push(...rules.map(({ sequence }) => listOf(sequence).map(String)));
    report.converted(place, ['a resource that waits is not created; one that exists is kept']);
  } else {
    const source = isJsonObject(input.inline) ? 'input/inline' : 'input';
    const where = step.input === undefined ? pointer : `${pointer}/${source}`;
    report.leftOut(
      { ...place, pointer: where },
      `The function "${reference}" has no equivalent`,
      hints.find(([pattern]) => pattern.test(reference))?.[1],
    );
  }
}

const hints: readonly (readonly [RegExp, string])[] = [
  [/go-templat|kcl|cue|pythonic|python|starlark/, 'Write the objects of its program as "children"'],
  [/extra-resources|required-resources/, 'Write its resources as "reads"'],
  [/status/, 'Write its conditions as "conditions"'],
  [/tag|label/, 'Write the labels into the templates'],
];

/** The input of function-patch-and-transform. */
function addInput(input: JsonObject, pointer: string, context: StepContext): void {
  const { draft, report } = context;
  const { environment, condition, writeConnectionSecretToRef } = input;
  if (isJsonObject(environment))
    draft.environmentPatches.push(
      ...patchesOf(environment.patches, 'environment.patches', `${pointer}/environment/patches`),
    );
  if (writeConnectionSecretToRef !== undefined)
    report.converted(
      { name: 'writeConnectionSecretToRef', pointer: `${pointer}/writeConnectionSecretToRef` },
      ['connection details are in a Secret beside the resource'],
    );
  addTemplates(input, pointer, context, typeof condition === 'string' ? [condition] : []);
}

function addTemplates(
  input: JsonObject,
  pointer: string,
  { draft, report }: StepContext,
  conditions: readonly string[] = [],
): void {
  const sets = listOf(input.patchSets).flatMap((set, index) => {
    if (!isJsonObject(set)) return [];
    const at = `${pointerTo(`${pointer}/patchSets`, index)}/patches`;
    const name = String(set.name);
    return [[name, patchesOf(set.patches, `patchSets.${name}.patches`, at)] as const];
  });
  const patchSets = new Map(sets);
  reportUnusedSets(input, pointer, report);
  listOf(input.resources).forEach((value, index) => {
    if (!isJsonObject(value)) return;
    const at = pointerTo(`${pointer}/resources`, index);
    const base = isJsonObject(value.base) ? value.base : undefined;
    const name = String(value.name ?? base?.kind ?? index);
    const label = `resources.${name}`;
    const before = draft.templates.get(name);
    const own = patchesOf(value.patches, `${label}.patches`, `${at}/patches`);
    if (base === undefined && before === undefined) {
      report.leftOut({ name: label, pointer: at }, 'The resource has no base here');
      for (const each of own) {
        const place = { name: each.name, pointer: each.pointer };
        const effect = effectOfPatch(each.patch, `resource "${name}"`);
        report.leftOut({ ...place, effect }, 'Its resource is left out');
      }
      return;
    }
    const patches = own.flatMap((each) => inlined(each, patchSets, report));
    const isNew = base !== undefined;
    draft.templates.set(name, {
      name,
      label,
      pointer: isNew ? at : (before?.pointer ?? at),
      base: base ?? before?.base ?? {},
      patches: [...(isNew ? [] : (before?.patches ?? [])), ...patches],
      readinessChecks: listOf(value.readinessChecks).filter(isJsonObject),
      connectionDetails: listOf(value.connectionDetails).filter(isJsonObject),
      conditions: [
        ...conditions,
        ...(typeof value.condition === 'string' ? [value.condition] : []),
      ],
    });
  });
}

/** A patch set that no resource names changes nothing. */
function reportUnusedSets(input: JsonObject, pointer: string, report: ImportReport): void {
  const used = new Set(
    listOf(input.resources).flatMap((resource) =>
      (isJsonObject(resource) ? listOf(resource.patches) : []).flatMap((patch) =>
        isJsonObject(patch) && patch.type === 'PatchSet' ? [String(patch.patchSetName)] : [],
      ),
    ),
  );
  listOf(input.patchSets).forEach((set, index) => {
    const name = isJsonObject(set) ? String(set.name) : String(index);
    const place = { name: `patchSets.${name}`, pointer: pointerTo(`${pointer}/patchSets`, index) };
    if (!used.has(name)) report.converted(place, ['not used by any resource']);
  });
}

/** The patches of a patch set in place of their reference. */
function inlined(
  source: PatchSource,
  sets: ReadonlyMap<string, readonly PatchSource[]>,
  report: ImportReport,
): readonly PatchSource[] {
  const { patch, name, pointer } = source;
  if (patch.type !== 'PatchSet') return [source];
  const set = sets.get(String(patch.patchSetName));
  const effect = effectOfPatch(patch, undefined);
  if (set === undefined)
    report.leftOut(
      { name, pointer, effect },
      `There is no patch set "${String(patch.patchSetName)}"`,
    );
  else report.converted({ name, pointer, effect });
  return set ?? [];
}

function patchesOf(list: Json | undefined, name: string, pointer: string): readonly PatchSource[] {
  return listOf(list).flatMap((patch, index) =>
    isJsonObject(patch)
      ? [{ name: `${name}[${index}]`, pointer: pointerTo(pointer, index), patch }]
      : [],
  );
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
