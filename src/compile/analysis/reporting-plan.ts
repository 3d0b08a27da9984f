import type { SourceMap } from '../../definition/index.ts';
import { isJsonObject } from '../../util/json.ts';
import type { DefinitionParts } from '../definition-parts.ts';
import type { FieldPath, OperatorPlan } from '../operator-plan.ts';
import type { PatchParts } from '../reporting-parts.ts';
import type { PatchPlan, ReportingPlan } from '../reporting-plan.ts';
import type { CompiledTemplate, SlotReference, TemplateNode } from '../template/template.ts';
import type { SecretFlow } from './secret-flow.ts';
import type { UsesFinder } from './uses.ts';

export interface ReportingPlanOptions {
  readonly parts: DefinitionParts;
  readonly uses: UsesFinder;
  readonly secrets: SecretFlow;
  readonly scope: OperatorPlan['scope'];
  readonly source: SourceMap;
  readonly startPhase: ReportingPlan['startPhase'];
}

/** What a pass needs to know of the report; undefined: there is nothing but the status. */
export function createReportingPlan({
  parts,
  uses,
  secrets,
  scope,
  source,
  startPhase,
}: ReportingPlanOptions): ReportingPlan | undefined {
  if (parts.reporting === undefined) return undefined;
  const { conditions, events, patches, requeueAfter } = parts.reporting;

  function patchPlan({ definition, pointer, type, ...templates }: PatchParts): PatchPlan {
    const { id, target, create, crossNamespace } = definition;
    const { patch } = templates;
    return {
      id,
      ...(target === undefined ? {} : { gvk: target.gvk }),
      hasNamespace: target?.namespace !== undefined,
      create,
      isShared: target !== undefined && !isNamedAfterResource(templates),
      crossNamespace,
      secrecy: secrets.patch(id),
      type,
      paths: Object.freeze(pathsSetBy(patch.root).map((path) => Object.freeze(path))),
      line: source.valueAt(pointer).line,
    };
  }

  /** Is the target another one for each resource, as far as its name and namespace tell? */
  function isNamedAfterResource({ name, namespace }: Pick<PatchParts, 'name' | 'namespace'>) {
    const reads = (template: CompiledTemplate | undefined, field: string) =>
      uses
        .of(template)
        .references.some(
          ({ reference: { root, path } }) =>
            root === 'resource' && path[0] === 'metadata' && path[1] === field,
        );
    const inEither = (field: string) => reads(name, field) || reads(namespace, field);
    const isWithin =
      scope === 'Cluster' || namespace === undefined || reads(namespace, 'namespace');
    return inEither('uid') || (isWithin && inEither('name'));
  }

  return Object.freeze({
    conditionTypes: Object.freeze(conditions.map(({ definition }) => definition.type)),
    hasEvents: events.length > 0,
    hasRequeueAfter: requeueAfter !== undefined,
    patches: Object.freeze(patches.map((each) => Object.freeze(patchPlan(each)))),
    startPhase,
  });
}

/**
 * Status fields that conditions and patches compare with those of before: a write of ours to one of them changes what they say. The
 * others of the report see the new status already, and an Event is told of a change, not of a state.
 */
export function previousStatusPaths({ reporting }: DefinitionParts, uses: UsesFinder) {
  if (reporting === undefined) return [];
  const { conditions, patches } = reporting;
  const { references } = uses.of(
    ...conditions.flatMap(({ status, reason, message }) => [status, reason, message]),
    ...patches.flatMap(({ when, name, namespace, patch }) => [when, name, namespace, patch]),
  );
  return references.flatMap(statusPathOf);
}

/** Down to scalars, lists and what is computed as a whole. */
function pathsSetBy(node: TemplateNode): readonly FieldPath[] {
  const fields = fieldsOf(node);
  if (fields === undefined) return [[]];
  return fields.flatMap(([name, field]) => pathsSetBy(field).map((path) => [name, ...path]));
}

/** Undefined: it is no map, or one with computed keys. */
function fieldsOf(node: TemplateNode): readonly (readonly [string, TemplateNode])[] | undefined {
  if (node.kind === 'constant' && isJsonObject(node.value)) {
    const fields = Object.entries(node.value);
    return fields.map(([name, value]) => [name, { kind: 'constant', value }]);
  }
  if (node.kind !== 'map') return undefined;
  const named = node.entries.flatMap(({ key, node: field }) =>
    typeof key === 'string' ? [[key, field] as const] : [],
  );
  return named.length === node.entries.length ? named : undefined;
}

function statusPathOf({ reference: { root, path } }: SlotReference): readonly FieldPath[] {
  if (root !== 'previous') return [];
  if (path.length === 0) return [['status']];
  return path[0] === 'status' ? [path] : [];
}
